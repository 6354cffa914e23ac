/**
 * Groups that kernels which are gone have left: one that was killed, or whose last command was still ending.
 *
 * INVARIANT: a group is removed only when its kernel is provably gone. Its name says which process made it, in which
 * namespace of processes; only those of this very namespace are looked at, because the numbers of others mean nothing
 * here. A number that somebody has keeps its groups, whoever that is now. A namespace's own number is given to another
 * only when it is gone itself, with its kernels. The machine removes no group in which something runs.
 */
import { readdirSync, readlinkSync, rmdirSync } from "node:fs";
import { join } from "node:path";

const NAME = /^(handrail-\d+)-(\d+)-/;

/** The number of the namespace in which this process has its number. */
export function processNamespace(): string {
  return /\d+/.exec(readlinkSync("/proc/self/ns/pid"))?.[0] ?? "0";
}

/** What names of groups begin with that a process makes. */
export function groupPrefix(namespace: string, processId: number): string {
  return `handrail-${namespace}-${processId}`;
}

/**
 * Removes what is left in directories of groups.
 * @returns the names of what was removed
 */
export function sweepLeftGroups(parents: readonly string[], namespace = processNamespace()): readonly string[] {
  const removed = new Set<string>();
  for (const parent of parents) {
    for (const name of entriesOf(parent)) {
      const [, own, id] = NAME.exec(name) ?? [];
      if (own !== `handrail-${namespace}` || !isGone(Number(id))) continue;
      try {
        rmdirSync(join(parent, name));
        removed.add(name);
      } catch {
        // Something of it is still ending, or another kernel was quicker: an empty group bounds nobody.
      }
    }
  }
  return [...removed];
}

function entriesOf(parent: string): readonly string[] {
  try {
    return readdirSync(parent);
  } catch {
    return []; // where nothing can be listed nothing is swept
  }
}

/** Whether nobody has that number. Asked of the machine itself: a list of processes may leave out those of others. */
export function isGone(id: number): boolean {
  try {
    process.kill(id, 0);
    return false;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "ESRCH";
  }
}
