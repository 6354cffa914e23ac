/**
 * Makes the directories that a command fills in a selection of its own.
 *
 * They have to be there so that they can be mounted.
 *
 * INVARIANT: no link is followed. A directory that is to be new holds nothing, because whatever somebody else left in
 * it would decide what runs.
 */
import { closeSync, constants, fchownSync, fstatSync, readdirSync } from "node:fs";
import { FailureWithoutEffect } from "../../../model/outcome/failure.ts";
import type { FilledDirectory } from "../../../model/work/exec.ts";
import { errno, errorName, makeDirectory, openBeneath } from "../../native/syscalls.ts";
import { failureOf, translated } from "./failures.ts";
import { handleOf, type WorkspaceRoots } from "./roots.ts";

const DIRECTORY_FLAGS = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/**
 * Makes those of `directories` that are missing, with the directories above them.
 * @throws ToolFailure when one cannot be made, or has to be new and holds something
 */
export function makeFilledDirectories(roots: WorkspaceRoots, directories: readonly FilledDirectory[]): void {
  for (const { path, isNew } of directories) {
    const found = openMade(handleOf(roots, "service").descriptor, path);
    try {
      if (isNew === true && readdirSync(`/proc/self/fd/${found}`).length > 0) throw isUsed(path);
    } finally {
      closeSync(found);
    }
  }
}

/** Opens `path` below `root`, one name after the other; the caller closes it. */
function openMade(root: number, path: string): number {
  const names = path.split("/");
  let current = openBeneath(root, ".", DIRECTORY_FLAGS, "plain");
  for (const name of names) {
    if (current < 0) break;
    current = openOrMake(current, name, path);
  }
  if (current < 0) throw failureOf(errorName(current), path);
  return current;
}

/**
 * Opens `name` in `parent`, which it closes; makes it where it is missing, for the owner of the directory that it lies
 * in.
 */
function openOrMake(parent: number, name: string, path: string): number {
  try {
    const found = openBeneath(parent, name, DIRECTORY_FLAGS, "plain");
    if (found !== -errno.ENOENT) return found;
    const made = makeDirectory(parent, name);
    if (made < 0 && made !== -errno.EEXIST) return made;
    const opened = openBeneath(parent, name, DIRECTORY_FLAGS, "plain");
    if (opened >= 0 && made >= 0) giveToOwnerOf(parent, opened, path);
    return opened;
  } finally {
    closeSync(parent);
  }
}

/**
 * A kernel that is root works in workspaces of others. Only an empty directory of its own changes hands: another one
 * may stand there by now.
 */
function giveToOwnerOf(parent: number, directory: number, path: string): void {
  if (process.geteuid?.() !== 0) return;
  try {
    const { uid, gid } = fstatSync(parent);
    if (fstatSync(directory).uid === 0 && readdirSync(`/proc/self/fd/${directory}`).length === 0)
      fchownSync(directory, uid, gid);
  } catch (error) {
    closeSync(directory);
    throw translated(error, path);
  }
}

function isUsed(path: string): FailureWithoutEffect {
  return new FailureWithoutEffect(
    "NOT_SUPPORTED",
    `\`${path}\` is there already, and an installation would run what other commands left in it`,
    `remove \`${path}\`, and send the call again`,
  );
}
