/**
 * Copy-on-write views of workspaces: a command writes into one, and what it changed lands when it has ended, as far as the call may change it.
 *
 * INVARIANT: a command of one view never sees what another one writes, and the workspace is never written by a command itself.
 */
import { chmodSync, closeSync, constants, openSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { assert } from "../../base/errors.ts";
import { VIEW_TICK_LOOKS_MAX } from "../../base/limits.ts";
import type { ExecLanded } from "../../model/work/exec.ts";
import type { NewFiles } from "../files/new-files.ts";
import { inSlices } from "../host/in-slices.ts";
import type { Identity } from "../identity/identity.ts";
import { mergedIn } from "../layers/overlay.ts";
import type { ViewDirectories, ViewDirectory } from "../layers/view-directories.ts";
import { O_PATH } from "../native/syscalls.ts";
import type { ScopeJudge } from "../plan/workspace-mounts.ts";
import { changesIn } from "./changes.ts";
import { landChanges } from "./landing.ts";
import type { LandingPlace } from "./landing-plan.ts";

/** Bytes of a path that the machine takes. */
const PATH_BYTES_MAX = 4096;
/** Bytes that are left for what a kernel puts behind a path of the workspace. */
const PATH_BYTES_LEFT = 320;
/** Nanoseconds by which the clocks of two file systems may differ: one tick of the coarser one. */
const TICK_NS = 10_000_000n;

/** The view of one run. */
export class View {
  readonly #directory: ViewDirectory;
  readonly #root: number;
  readonly #rootPath: string;
  #sinceNs: bigint | undefined;
  #known: LandingPlace["known"] = () => undefined;
  /** The identity that sees it. */
  readonly identity: Identity;

  /**
   * @param root the workspace on the machine, a real path
   * @throws ToolFailure SANDBOX_UNAVAILABLE when there is no place for it
   */
  constructor(directories: ViewDirectories, identity: Identity, root: string) {
    const { views } = identity;
    assert(views, "a run that nothing contains has no view");
    this.#directory = directories.make(views.owner);
    const directory = `${views.path}/${this.#directory.name}`;
    this.identity = { ...identity, source: mergedIn(directory), layers: { directory, workspace: identity.source } };
    this.#rootPath = root;
    this.#root = openSync(root, O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  }

  /**
   * Notes the time from which on changes of the workspace are somebody else's. To be called right before the run begins.
   * @param known the directories of the workspace, as they are looked at from now on
   */
  begin(known: LandingPlace["known"]): void {
    this.#sinceNs = timeOf(this.#directory.path, this.#rootPath);
    this.#known = known;
  }

  /** Lands what the run has changed. Nothing of it may be left that writes. @throws ToolFailure OUTPUT_LIMIT when that is too much */
  async land(judge: ScopeJudge, newFiles: NewFiles): Promise<ExecLanded> {
    if (this.#sinceNs === undefined) return { created: 0, changed: 0, removed: 0, notKept: [] };
    const path = join(this.#directory.path, "upper");
    chmodSync(path, 0o700); // the command may have closed the workspace, as it sees it, to its owner
    const upper = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
    try {
      const pathBytesMax = PATH_BYTES_MAX - PATH_BYTES_LEFT - Buffer.byteLength(this.#rootPath);
      const { result: changes } = await inSlices("listing what a command changed", changesIn(`/proc/self/fd/${upper}`, pathBytesMax));
      const place = { root: this.#root, upper, judge, newFiles, sinceNs: this.#sinceNs, known: this.#known };
      const { result } = await inSlices("landing what a command changed", landChanges(place, changes));
      return result;
    } finally {
      closeSync(upper);
    }
  }

  /** Removes it, in the background. */
  dispose(): void {
    closeSync(this.#root);
    this.#directory.dispose();
  }
}

/** Nanoseconds of now as file systems count; on the workspace's own, whatever changed before has an earlier time. */
function timeOf(directory: string, root: string): bigint {
  const stamp = join(directory, "stamp");
  const touched = (): bigint => {
    writeFileSync(stamp, "");
    return statSync(stamp, { bigint: true }).ctimeNs;
  };
  const first = touched();
  let now = touched();
  for (let looks = 0; now === first && looks < VIEW_TICK_LOOKS_MAX; looks += 1) now = touched();
  return statSync(root).dev === statSync(directory).dev ? now : now - TICK_NS;
}
