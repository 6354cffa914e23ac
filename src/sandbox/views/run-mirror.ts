/** Opens the mirror of a run's view, by which the command sees what Handrail's own calls change meanwhile. */
import { closeSync, constants, openSync, statfsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Change } from "../landing/changes.ts";
import { MirrorThread } from "../mirror/mirror-thread.ts";
import { isAsNoted, type Note } from "../mirror/note.ts";
import { enterRunning, type RunningView } from "../mirror/running-views.ts";
import { directoriesAbove, type MirrorPlace } from "../mirror/view-mirror.ts";
import { O_PATH } from "../native/syscalls.ts";
import { INSIDE_WORKSPACE, type SandboxMount } from "../plan/plan.ts";
import type { ScopeJudge } from "../plan/workspace-mounts.ts";

/** What a command sees of its workspace. */
interface SeenByRun {
  readonly judge: ScopeJudge;
  readonly mounts: readonly SandboxMount[];
}

/** The workspace of a run, and where its view lies. */
interface RunPlace extends Pick<MirrorPlace, "root" | "user"> {
  /** A real path. */
  readonly rootPath: string;
  readonly directory: string;
}

/** Marks those changes that are none of the command's. */
type Marking = (changes: readonly Change[]) => Generator<void, readonly Change[]>;

/** The mirror of one run. */
export interface RunMirror {
  /** Nothing is passed on any more. To be called before the changes are listed. */
  readonly close: () => Promise<Marking>;
  readonly dispose: () => void;
}

/**
 * Milliseconds that a call waits for its change to be passed on. A command that holds the place for longer, as one does
 * that moves a large file, does not see changes until it lets go.
 */
const SHOWN_MS_MAX = 5000;

const DIRECTORY = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW;
/** The file system's number of overlays. */
const OVERLAY = 0x794c7630;

/**
 * Opens it, and has it told of changes from now on.
 * @param merged the overlay, as a process of the run sees it before the command begins
 * @throws what the machine says when it is not there; then there is no run
 */
export function openMirror(merged: string, { rootPath, root, directory, user }: RunPlace, seen: SeenByRun): RunMirror {
  const opened: number[] = [];
  const open = (path: string) => opened[opened.push(openSync(path, DIRECTORY)) - 1] ?? -1;
  try {
    const overlay = open(merged);
    // of all that has that path only the overlay of this very view is one
    if (statfsSync(`/proc/self/fd/${overlay}`).type !== OVERLAY) throw new Error("the view is not mounted");
    const path = join(directory, "upper");
    const place = { root: open(`/proc/self/fd/${root}/.`), merged: overlay, upper: open(path), user };
    return new TheMirror(rootPath, place, { upper: open(path), hides: hiding(seen) });
  } catch (error) {
    for (const descriptor of opened) closeSync(descriptor);
    throw error;
  }
}

/** What the kernel's own thread keeps of it. */
interface OwnSide {
  readonly upper: number;
  /** Whether the command does not see what is there, or would be there. */
  readonly hides: (path: string, isDirectory: boolean) => boolean;
}

class TheMirror implements RunMirror, RunningView {
  readonly root: string;
  readonly #own: OwnSide;
  readonly #thread: MirrorThread;
  readonly #leave: () => void;
  #closed: Promise<ReadonlyMap<string, Note>> | undefined;
  #isHeld = false;
  #problem: unknown;

  constructor(root: string, place: MirrorPlace, own: OwnSide) {
    this.root = root;
    this.#own = own;
    this.#thread = new MirrorThread(place);
    this.#leave = enterRunning(this);
  }

  async show(path: string): Promise<void> {
    if (this.#isHeld || this.#closed !== undefined || this.#isHidden(path)) return;
    const shown = this.#thread.show(path).catch((error: unknown) => {
      this.#problem ??= error; // the call that made the change is none of it; the command's end says it
    });
    const inTime = new AbortController();
    const late = pause(SHOWN_MS_MAX, true, { signal: inTime.signal }).catch(() => false);
    this.#isHeld = await Promise.race([shown.then(() => false), late]);
    inTime.abort();
    if (this.#isHeld)
      void shown.then(() => {
        this.#isHeld = false;
      });
  }

  async close(): Promise<Marking> {
    const notes = await this.#end();
    if (this.#problem !== undefined) throw this.#problem;
    const { upper } = this.#own;
    return function* marked(changes) {
      if (notes.size === 0) return changes;
      const marks: Change[] = [];
      for (const change of changes) {
        const note = notes.get(change.path);
        marks.push(note && isAsNoted(upper, change.path, note) ? { ...change, isPassedOn: true } : change);
        yield;
      }
      return marks;
    };
  }

  dispose(): void {
    void this.#end().catch(() => undefined); // of a run that did not come to be, or whose end has failed by it already
    closeSync(this.#own.upper);
  }

  #end(): Promise<ReadonlyMap<string, Note>> {
    this.#leave();
    this.#closed ??= this.#thread.end();
    return this.#closed;
  }

  #isHidden(path: string): boolean {
    const { hides } = this.#own;
    return (
      directoriesAbove(path).some((directory) => hides(directory, true)) || hides(path, false) || hides(path, true)
    );
  }
}

/** Whether the command does not see a path: something hides it, or would if it had been there. */
function hiding({ judge, mounts }: SeenByRun): OwnSide["hides"] {
  const hidden = new Set(
    mounts.flatMap(({ kind, target }) =>
      kind === "hide_directory" || kind === "hide_file" ? [target.slice(INSIDE_WORKSPACE.length + 1)] : [],
    ),
  );
  return (path, isDirectory) => hidden.has(path) || judge.entry(path, isDirectory) === "hidden";
}
