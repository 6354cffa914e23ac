/**
 * Directories that a command has closed to their own owner: it may do that with its own, and could so keep what lies in them from being looked at and put
 * aside. They get back what the owner needs, and nobody else gets anything.
 *
 * INVARIANT: no link is followed, so that nothing outside of the workspace changes; only directories of the kernel's own user do. A kernel of root needs none of it.
 */
import { chmodSync, closeSync, constants, fstatSync, openSync } from "node:fs";
import { closeDescriptor, O_PATH, openBeneath } from "./syscalls.ts";

const DIRECTORY = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const PASS = constants.S_IXUSR;
const RIGHTS = constants.S_IRWXU;

/** Opens `directory`, relative to the root, and the way to it. One that is gone, or that belongs to somebody else, stays as it is. */
export function reopenDirectory(root: string, directory: string): void {
  if (process.geteuid?.() === 0) return;
  const base = openSync(root, DIRECTORY);
  try {
    const parts = directory === "." ? [] : directory.split("/");
    for (let depth = 0; depth <= parts.length; depth += 1) {
      const found = openBeneath(base, parts.slice(0, depth).join("/") || ".", DIRECTORY, "plain");
      if (found < 0) return;
      try {
        give(found, depth === parts.length ? RIGHTS : PASS);
      } finally {
        closeDescriptor(found);
      }
    }
  } finally {
    closeSync(base);
  }
}

function give(directory: number, rights: number): void {
  const { mode, uid } = fstatSync(directory);
  if (uid !== process.geteuid?.() || (mode & rights) === rights) return;
  chmodSync(`/proc/self/fd/${directory}`, (mode & 0o7777) | rights);
}
