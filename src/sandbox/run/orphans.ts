/**
 * Reaps the orphaned first process of a run.
 *
 * That process outlives the program that made it by some milliseconds, and the machine then gives it to another process
 * to be collected. That is the first process of the machine, or the nearest one above that asked for orphans. In
 * containers whose first process collects nothing, each run would leave a line in the table of processes for ever.
 *
 * INVARIANT: only a process is collected that this module was told of and that is a child of this one. Node collects
 * its own children by their numbers, and would miss one that somebody else took.
 */
import { fromLibrary } from "../native/c-library.ts";
import { processState, SANDBOX_END_MS } from "./process-tree.ts";

const PR_SET_CHILD_SUBREAPER = 36;
const WNOHANG = 1;
/** Milliseconds to the first look; each further one waits twice as long. */
const FIRST_LOOK_MS = 4;

interface Calls {
  readonly prctl: (option: number, value: number, third: number, fourth: number, fifth: number) => number;
  readonly waitpid: (id: number, status: null, options: number) => number;
}
const calls = fromLibrary(
  (libc): Calls => ({
    prctl: libc.func(
      "int prctl(int option, unsigned long value, unsigned long third, unsigned long fourth, unsigned long fifth)",
    ),
    waitpid: libc.func("int waitpid(int id, void *status, int options)"),
  }),
);

/**
 * From now on orphans of this process' children become its own. For a process that is Handrail's alone: others may not
 * expect them.
 */
export function adoptOrphans(): void {
  // where the machine cannot do it, its first process gets them as before
  calls().prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

/** Collects the process that began then, as soon as it has ended, if it is this one's to collect. */
export function collect(id: number, beginning: string): void {
  const late = performance.now() + SANDBOX_END_MS;
  const look = (waitMs: number): void => {
    const found = processState(id);
    if (found?.parentId !== process.pid || found.beginning !== beginning) return;
    const isThere = calls().waitpid(id, null, WNOHANG) === 0;
    if (isThere && performance.now() < late) setTimeout(look, waitMs, waitMs * 2).unref();
  };
  look(FIRST_LOOK_MS);
}
