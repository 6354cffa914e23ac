/** Opens the mirror of a run's view, by which the command sees what Handrail's own calls change meanwhile. */
import { closeSync, constants, openSync, statfsSync } from "node:fs";
import { join } from "node:path";
import type { Change } from "../landing/changes.ts";
import { enterRunning } from "../mirror/running-views.ts";
import { type MirrorPlace, ViewMirror } from "../mirror/view-mirror.ts";
import { O_PATH } from "../native/syscalls.ts";
import { INSIDE_WORKSPACE, type SandboxMount } from "../plan/plan.ts";
import type { ScopeJudge } from "../plan/workspace-mounts.ts";

/** What a command sees of its workspace. */
interface SeenByRun {
  readonly judge: ScopeJudge;
  readonly mounts: readonly SandboxMount[];
}

/** The mirror of one run. */
export interface RunMirror {
  /** Marks those changes that are none of the command's. */
  readonly marked: (changes: readonly Change[]) => Generator<void, readonly Change[]>;
  /** Nothing is passed on any more. To be called before the changes are listed. */
  readonly close: () => void;
  readonly dispose: () => void;
}

const DIRECTORY = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW;
/** The file system's number of overlays. */
const OVERLAY = 0x794c7630;

/**
 * Opens it, and has it told of changes from now on.
 * @param merged the overlay, as a process of the run sees it before the command begins
 * @throws what the machine says when it is not there; then there is no run
 */
export function openMirror(
  merged: string,
  { directory, ...place }: Pick<MirrorPlace, "rootPath" | "root" | "user"> & { readonly directory: string },
  seen: SeenByRun,
): RunMirror {
  const opened = openSync(merged, DIRECTORY);
  let upper: number;
  try {
    // of all that has that path only the overlay of this very view is one
    if (statfsSync(`/proc/self/fd/${opened}`).type !== OVERLAY) throw new Error("the view is not mounted");
    upper = openSync(join(directory, "upper"), DIRECTORY);
  } catch (error) {
    closeSync(opened);
    throw error;
  }
  const mirror = new ViewMirror({ ...place, merged: opened, upper, hides: hiding(seen) });
  const leave = enterRunning(mirror);
  const close = () => {
    leave();
    mirror.close();
  };
  return {
    *marked(changes) {
      if (mirror.isEmpty) return changes;
      const marked: Change[] = [];
      for (const change of changes) {
        marked.push(mirror.isPassedOn(change.path) ? { ...change, isPassedOn: true } : change);
        yield;
      }
      return marked;
    },
    close,
    dispose() {
      leave();
      mirror.dispose();
    },
  };
}

/** Whether the command does not see a path: something hides it, or would if it had been there. */
function hiding({ judge, mounts }: SeenByRun): MirrorPlace["hides"] {
  const hidden = new Set(
    mounts.flatMap(({ kind, target }) =>
      kind === "hide_directory" || kind === "hide_file" ? [target.slice(INSIDE_WORKSPACE.length + 1)] : [],
    ),
  );
  return (path, isDirectory) => hidden.has(path) || judge.entry(path, isDirectory) === "hidden";
}
