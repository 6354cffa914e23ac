/**
 * Gives each command a copy-on-write view of its workspace.
 *
 * A command writes into its view. When it has ended, what it changed lands, as far as the call may change it.
 *
 * INVARIANT: a command of one view never sees what another one writes, and the workspace is never written by a command
 * itself.
 */
import { chmodSync, closeSync, constants, openSync, statfsSync, statSync } from "node:fs";
import { join } from "node:path";
import { MIB } from "../../base/bytes.ts";
import { assert } from "../../base/errors.ts";
import { inSlices } from "../../base/long-steps.ts";
import { ToolFailure } from "../../model/outcome/failure.ts";
import type { ExecEnforcement } from "../../model/work/exec.ts";
import { copiedChanges } from "../copies/copied-changes.ts";
import { COPY_FILLED } from "../copies/copy-limits.ts";
import { type Copied, copyWorkspace } from "../copies/copy-workspace.ts";
import type { Identity } from "../identity/identity.ts";
import { type Change, changesIn } from "../landing/changes.ts";
import { nextTick, timeOf } from "../landing/file-clock.ts";
import { type LandingTerms, landView, NOTHING } from "../landing/land-view.ts";
import type { Landed } from "../landing/landing.ts";
import { neverBegan, nothingLanded, requireReserve, requireRoom } from "../landing/machine/failures.ts";
import type { LandingPlace } from "../landing/plan.ts";
import { mergedIn } from "../layers/overlay.ts";
import type { ViewDirectories, ViewDirectory } from "../layers/view-directories.ts";
import { O_PATH } from "../native/syscalls.ts";
import type { SandboxMount } from "../plan/plan.ts";
import type { ScopeJudge } from "../plan/workspace-mounts.ts";
import { type GrowthWatch, watchGrowth } from "./growth.ts";
import { openMirror, type RunMirror } from "./run-mirror.ts";
import type { ViewKind } from "./view-kinds.ts";

/**
 * Files and directories of a workspace beyond which commands make no new ones. It is far from what is too large to be
 * looked at: people and file tools make files, too, and other kernels count what they land by themselves.
 */
export const ENTRIES_LANDED_MAX = 900_000;
/** Bytes of a path that the machine takes. */
const PATH_BYTES_MAX = 4096;
/** Bytes that are left for what a kernel puts behind a path of the workspace. */
const PATH_BYTES_LEFT = 320;

const OPEN = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** Counts what landings have made, and how much workspaces grew by them, all of a kernel's together. */
export interface LandedCount {
  made: number;
  bytes: number;
}

/** Where a view is made, and of what. */
export interface ViewPlace {
  readonly directories: ViewDirectories;
  readonly identity: Identity;
  /** The workspace on the machine, a real path. */
  readonly root: string;
  readonly kind: ViewKind;
  /** What the views of this kernel land. */
  readonly counted: LandedCount;
}

/** What a run is, as far as it matters to what is passed on to it. */
interface MirroredRun {
  readonly judge: ScopeJudge;
  readonly landing?: { readonly isWhole?: true };
  readonly selection?: object;
}

/** The view of one run. */
export class View {
  readonly #kind: ViewKind;
  readonly #directory: ViewDirectory;
  readonly #counted: LandedCount;
  readonly #root: number;
  readonly #rootPath: string;
  #sinceNs: bigint | undefined;
  #known: LandingPlace["known"] = () => undefined;
  #room = 0;
  #roomBytes = Number.POSITIVE_INFINITY;
  #isKept = false;
  #copied: Copied | undefined;
  readonly #outgrown = new AbortController();
  #bytesMax: number | undefined;
  #watch: GrowthWatch | undefined;
  #mirror: RunMirror | undefined;
  /** The identity that sees it. */
  readonly identity: Identity;

  /**
   * @throws ToolFailure SANDBOX_UNAVAILABLE when there is no place for it, DISK_FULL when there is no room
   */
  constructor({ directories, identity, root, counted, kind }: ViewPlace) {
    this.#kind = kind;
    this.#counted = counted;
    const { views } = identity;
    assert(views, "a run that nothing contains has no view");
    this.#directory = made(() => directories.make(views.owner));
    const directory = `${views.path}/${this.#directory.name}`;
    const layers = kind === "overlay" ? { layers: { directory, workspace: identity.source } } : {};
    this.identity = { ...identity, source: mergedIn(directory), ...layers };
    this.#rootPath = root;
    this.#root = openSync(root, O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  }

  /** How it is made; of a copy, whether it shares its blocks with the workspace. */
  get way(): NonNullable<ExecEnforcement["view"]> {
    if (this.#kind === "overlay") return "overlay";
    return this.#copied?.isShared === true ? "reflink" : "copy";
  }

  /**
   * Notes the time from which on changes of the workspace are somebody else's. To be called right before the run
   * begins, or before it is copied.
   * @param known the directories of the workspace, as they are looked at from now on
   * @param entries files and directories that it holds
   */
  async begin(known: LandingPlace["known"], entries: number): Promise<void> {
    this.#room = ENTRIES_LANDED_MAX - entries + this.#counted.made;
    const isSame = statSync(this.#rootPath).dev === statSync(this.#directory.path).dev;
    this.#sinceNs = isSame ? made(() => timeOf(this.#directory.path)) : await nextTick();
    this.#known = known;
    if (this.#kind === "overlay") await this.#startWatch();
  }

  /**
   * Copies the workspace, where no overlay shows it.
   * @param hidden what is left out
   * @returns where the copy lies, and what of it nobody may see besides
   * @throws ToolFailure SANDBOX_UNAVAILABLE when it is too large, or cannot be copied, DISK_FULL when there is no room
   */
  async copy(
    hidden: ReadonlySet<string>,
    signal: AbortSignal,
  ): Promise<{ readonly path: string; readonly closed: ReadonlySet<string> }> {
    const path = mergedIn(this.#directory.path);
    const into = openSync(path, OPEN);
    try {
      const steps = copyWorkspace({ root: this.#root, into, hidden });
      this.#copied = (await inSlices("copying the workspace", steps, signal)).result;
    } finally {
      closeSync(into);
    }
    this.#boundByCopy(this.#copied);
    made(() => timeOf(this.#directory.path)); // what the command changes has a later time
    await this.#startWatch();
    return { path, closed: this.#copied.closed };
  }

  /** Leaves the workspace so large that the next command's copy of it can be made, too. */
  #boundByCopy({ taken, isShared }: Copied): void {
    const { entriesMax, bytesMax } = COPY_FILLED;
    this.#room = Math.min(this.#room, entriesMax - taken.entries + this.#counted.made);
    if (!isShared) this.#roomBytes = bytesMax - taken.bytes + this.#counted.bytes;
  }

  /**
   * Bounds what the run writes, from its beginning on: `signal` ends it when it is more than `bytesMax`, or more than
   * the disk has for it.
   */
  watch(bytesMax: number | undefined): GrowthWatch & { readonly signal: AbortSignal } {
    this.#bytesMax = bytesMax;
    return { signal: this.#outgrown.signal, end: async () => this.#watch?.end() };
  }

  /**
   * Passes on to the command what Handrail's own calls change in the workspace while it runs, where the view is an
   * overlay.
   * @param mounts what the command sees of the workspace
   * @returns called when the overlay stands, before the command begins, with the number of a process that sees it
   */
  passesOn(
    { judge, landing, selection }: MirroredRun,
    mounts: readonly SandboxMount[],
  ): ((processId: number) => void) | undefined {
    const { layers, runAs: user } = this.identity;
    // what lands as a whole is to be what the command alone made of it, and a selection is no view of the workspace
    if (layers === undefined || landing?.isWhole === true || selection !== undefined) return undefined;
    return (processId) => {
      const place = { directory: this.#directory.path, rootPath: this.#rootPath, root: this.#root, user };
      const merged = `/proc/${processId}/root${mergedIn(layers.directory)}`;
      this.#mirror = openMirror(merged, place, { judge, mounts });
    };
  }

  async #startWatch(): Promise<void> {
    const path = this.#kind === "overlay" ? join(this.#directory.path, "upper") : mergedIn(this.#directory.path);
    this.#watch = await watchGrowth(path, { bytesMax: this.#bytesMax, onOutgrown: () => this.#outgrown.abort() });
  }

  /**
   * Lands what the run has changed. Nothing of it may be left that writes.
   * @param signal takes all of it back
   * @throws ToolFailure OUTPUT_LIMIT when that is too much, DISK_FULL when there was no room for it, OUTCOME_UNKNOWN
   * when it could not be taken back
   */
  async land(rules: LandingTerms, signal: AbortSignal): Promise<Landed> {
    if (this.#sinceNs === undefined) return NOTHING;
    const path = join(this.#directory.path, "upper");
    const upper = ended(() => {
      chmodSync(path, 0o700); // the command may have closed the workspace, as it sees it, to its owner
      return openSync(path, OPEN);
    });
    try {
      const changes = await this.#listed(upper);
      if (changes.length === 0) return NOTHING;
      ended(() => requireWhole(path, changes));
      const view = {
        directory: this.#directory.path,
        rootPath: this.#rootPath,
        root: this.#root,
        upper,
        sinceNs: this.#sinceNs,
        known: this.#known,
        admit: (made: number, bytes: number) => this.#admit(made, bytes),
        keep: () => {
          this.#isKept = true;
        },
      };
      return await landView({ view, changes }, rules, signal);
    } finally {
      closeSync(upper);
    }
  }

  async #listed(upper: number): Promise<readonly Change[]> {
    try {
      const marked = await this.#mirror?.close();
      const { result: listed } = await inSlices("listing what a command changed", this.#changes(upper));
      return marked ? (await inSlices("comparing what was passed on", marked(listed))).result : listed;
    } catch (error) {
      throw nothingLanded(error); // what a copy held that is new is moved for it
    }
  }

  *#changes(upper: number): Generator<void, readonly Change[]> {
    const pathBytesMax = PATH_BYTES_MAX - PATH_BYTES_LEFT - Buffer.byteLength(this.#rootPath);
    const place = { upper: `/proc/self/fd/${upper}`, pathBytesMax };
    if (this.#copied === undefined) return yield* changesIn(place);
    const merged = openSync(mergedIn(this.#directory.path), O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW);
    try {
      const { manifest } = this.#copied;
      const sinceNs = this.#sinceNs ?? 0n;
      const unlike = tellsOfAllWrites(this.#directory.path) ? undefined : { root: this.#root, sinceNs };
      return yield* copiedChanges({ merged: `/proc/self/fd/${merged}`, manifest, unlike }, place);
    } finally {
      closeSync(merged);
    }
  }

  /** Leaves room in the workspace for the looks of later commands, also where others land at the same time. */
  #admit(made: number, bytes: number): void {
    if (made > 0 || bytes > 0) {
      // what was written into a view on the same disk is taken already
      const isSame = statSync(this.#rootPath).dev === statSync(this.#directory.path).dev;
      requireReserve(`/proc/self/fd/${this.#root}`, isSame ? { bytes: 0 } : { bytes, names: made });
    }
    const isCopy = this.#copied !== undefined;
    if (made > 0 && this.#counted.made + made > this.#room)
      throw full(`${isCopy ? COPY_FILLED.entriesMax : ENTRIES_LANDED_MAX} files`);
    if (bytes > 0 && this.#counted.bytes + bytes > this.#roomBytes) throw full(`${COPY_FILLED.bytesMax / MIB} MiB`);
    this.#counted.made += made;
    this.#counted.bytes += bytes;
  }

  /** Removes it, in the background. */
  dispose(): void {
    void this.#watch?.end().catch(() => undefined); // of a run that did not come to be; nobody waits for it
    this.#mirror?.dispose();
    closeSync(this.#root);
    if (!this.#isKept) this.#directory.dispose();
  }
}

/** ext4, XFS and btrfs. */
const NOTING_EACH_WRITE: readonly number[] = [0xef53, 0x58465342, 0x9123683e];
const MILLISECOND_NS = 1_000_000n;

/**
 * Whether the file system of a view notes each write in the file's times, also through a mapping of its memory, and
 * counts finely; others may not.
 */
function tellsOfAllWrites(directory: string): boolean {
  const { ctimeNs } = statSync(join(directory, "upper"), { bigint: true });
  return NOTING_EACH_WRITE.includes(statfsSync(directory).type) && ctimeNs % MILLISECOND_NS !== 0n;
}

/** What a view needs before its command begins; the machine may have no room for it. */
function made<Made>(make: () => Made): Made {
  try {
    return make();
  } catch (error) {
    throw neverBegan(error);
  }
}

/** The same once the command has ended. */
function ended<Done>(work: () => Done): Done {
  try {
    return work();
  } catch (error) {
    throw nothingLanded(error);
  }
}

/**
 * On a disk that is full, what a command has written may be a part of what it wanted to write. Where it has written
 * nothing, what it has removed may land.
 */
function requireWhole(directory: string, changes: readonly Change[]): void {
  if (changes.some(({ kind }) => kind === "file")) requireRoom(directory);
}

function full(what: string): ToolFailure {
  return new ToolFailure(
    "OUTPUT_LIMIT",
    `the workspace would hold more than ${what}; nothing of what the command changed was kept`,
    "let it write less, or below /tmp, which is the command's own",
  );
}
