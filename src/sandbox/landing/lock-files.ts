/**
 * Holds the lock files that other programs look for while a landing changes what they lock, such as git's.
 *
 * INVARIANT: a lock that somebody else holds is left, and only locks with this landing's mark are removed.
 */
import { closeSync, constants, readFileSync, writeSync } from "node:fs";
import { errno, openBeneath, removeName } from "../native/syscalls.ts";
import { MachineRefusal } from "./machine/failures.ts";
import { OPEN_DIRECTORY } from "./moves.ts";
import { nameOf, parentOf, pathIn } from "./standing.ts";

const NEW_LOCK = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
const RIGHTS = 0o644;

/**
 * Takes the lock files `paths` below the open directory `root`.
 * @returns whether all were free; else none is taken
 * @throws the machine's own error where it has no room for one; then none is taken, either
 */
export function takeLocks(root: number, paths: readonly string[], mark: string): boolean {
  const taken: string[] = [];
  let isWhole = false;
  try {
    isWhole = paths.every((path) => isTaken(root, path, mark) && taken.push(path) > 0);
  } finally {
    if (!isWhole) releaseLocks(root, taken, mark);
  }
  return isWhole;
}

function isTaken(root: number, path: string, mark: string): boolean {
  return inParent(root, path, (parent) => {
    const lock = openBeneath(parent, nameOf(path), NEW_LOCK, "plain", RIGHTS);
    if (lock === -errno.EEXIST) return false;
    if (lock < 0) throw new MachineRefusal("a lock file could not be made", lock);
    let isMarked = false;
    try {
      isMarked = writeSync(lock, mark) === Buffer.byteLength(mark);
    } finally {
      closeSync(lock);
      // one that nobody could tell from another's would stay for ever
      if (!isMarked) removeName(parent, nameOf(path), "file");
    }
    return isMarked;
  });
}

/** Removes those of the lock files that bear the mark. */
export function releaseLocks(root: number, paths: readonly string[], mark: string): void {
  for (const path of paths)
    inParent(root, path, (parent) => {
      if (markOf(pathIn(parent, nameOf(path))) !== mark) return false;
      return removeName(parent, nameOf(path), "file") >= 0;
    });
}

function inParent(root: number, path: string, work: (parent: number) => boolean): boolean {
  const parent = openBeneath(root, parentOf(path) || ".", OPEN_DIRECTORY, "plain");
  if (parent < 0) return false;
  try {
    return work(parent);
  } finally {
    closeSync(parent);
  }
}

function markOf(path: string): string | undefined {
  try {
    return readFileSync(path, {
      encoding: "utf8",
      flag: constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
    });
  } catch (error) {
    if (error instanceof Error && "code" in error) return undefined; // nobody's, or gone
    throw error;
  }
}
