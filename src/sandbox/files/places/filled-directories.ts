/**
 * Makes the directories that a command fills in a selection of its own.
 *
 * They have to be there so that they can be mounted. What the command left empty goes again: each `node_modules` costs
 * every later command of the workspace mounts, and machines take so many only.
 *
 * INVARIANT: no link is followed. A directory that is to be new holds nothing, because whatever somebody else left in
 * it would decide what runs. Only a directory that was made here goes, while it is the same one and empty, and no
 * other call fills it.
 */
import { closeSync, constants, fchownSync, fstatSync, readdirSync } from "node:fs";
import { FailureWithoutEffect } from "../../../model/outcome/failure.ts";
import type { FilledDirectory } from "../../../model/work/exec.ts";
import { errno, errorName, makeDirectory, openBeneath, removeName } from "../../native/syscalls.ts";
import { failureOf, translated } from "./failures.ts";
import { handleOf, type WorkspaceRoots } from "./roots.ts";

const DIRECTORY_FLAGS = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** A directory as the machine tells it from all others, and how many calls of this process fill it. */
interface Filling {
  readonly identity: string;
  calls: number;
  /** Whether a call of this process made it. */
  isMade: boolean;
}

/** What calls of this process fill at the moment: an empty directory that one of them made may be another's, too. */
const filling = new Map<string, Filling>();

/** Directories that a call fills. */
export interface FilledDirectories {
  /** Those that were missing, outermost first, relative to the root of the workspace. */
  readonly made: readonly string[];
  /** To be called when this call no longer fills them: those that were made and are empty are removed. */
  readonly release: () => void;
}

/**
 * Makes those of `directories` that are missing, with the directories above them.
 * @throws ToolFailure when one cannot be made, or has to be new and holds something; then nothing that was made is left
 */
export function makeFilledDirectories(
  roots: WorkspaceRoots,
  directories: readonly FilledDirectory[],
  newFiles: Pick<Making, "noteMade">,
): FilledDirectories {
  const root = handleOf(roots, "service").descriptor;
  const held: Held[] = [];
  const release = () => {
    for (const one of held.splice(0).reverse()) letGo(root, one);
  };
  try {
    for (const { path, isNew } of directories) {
      const found = openMade(root, path, { held, noteMade: newFiles.noteMade });
      try {
        if (isNew === true && readdirSync(`/proc/self/fd/${found}`).length > 0) throw isUsed(path);
      } finally {
        closeSync(found);
      }
    }
  } catch (error) {
    release();
    throw error;
  }
  return { made: held.flatMap(({ path, isNew }) => (isNew ? [path] : [])), release };
}

/** A directory that a call fills, or that lies above one. */
interface Held {
  readonly path: string;
  readonly filled: Filling;
  /** Whether this call made it. */
  readonly isNew: boolean;
}

interface Making {
  readonly held: Held[];
  /** Notes a directory that was made, so that a killed kernel's are found again. */
  readonly noteMade: (directory: number) => void;
}

/** Opens `path` below `root`, one name after the other; the caller closes it. */
function openMade(root: number, path: string, making: Making): number {
  const names = path.split("/");
  let current = openBeneath(root, ".", DIRECTORY_FLAGS, "plain");
  for (const [index, name] of names.entries()) {
    if (current < 0) break;
    current = openOrMake(current, name, { ...making, path: names.slice(0, index + 1).join("/") });
  }
  if (current < 0) throw failureOf(errorName(current), path);
  return current;
}

/**
 * Opens `name` in `parent`, which it closes; makes it where it is missing, for the owner of the directory that it lies
 * in.
 */
function openOrMake(
  parent: number,
  name: string,
  { held, noteMade, path }: Making & { readonly path: string },
): number {
  try {
    const found = openBeneath(parent, name, DIRECTORY_FLAGS, "plain");
    const made = found === -errno.ENOENT ? makeDirectory(parent, name) : -errno.EEXIST;
    if (made < 0 && made !== -errno.EEXIST) return made;
    const opened = found === -errno.ENOENT ? openBeneath(parent, name, DIRECTORY_FLAGS, "plain") : found;
    if (opened < 0) return opened;
    try {
      held.push(hold(path, identityOf(opened), made >= 0));
      if (made >= 0) {
        giveToOwnerOf(parent, opened, path);
        noteMade(opened);
      }
    } catch (error) {
      closeSync(opened);
      throw error;
    }
    return opened;
  } finally {
    closeSync(parent);
  }
}

function hold(path: string, identity: string, isNew: boolean): Held {
  const filled = filling.get(identity) ?? { identity, calls: 0, isMade: false };
  filled.calls += 1;
  filled.isMade ||= isNew;
  filling.set(identity, filled);
  return { path, filled, isNew };
}

/** The last call that fills a directory removes it where one of them made it. */
function letGo(root: number, { path, filled }: Held): void {
  filled.calls -= 1;
  if (filled.calls > 0) return;
  filling.delete(filled.identity);
  if (!filled.isMade) return;
  const slash = path.lastIndexOf("/");
  const parent = openBeneath(root, slash === -1 ? "." : path.slice(0, slash), DIRECTORY_FLAGS, "plain");
  if (parent < 0) return; // moved away or replaced by somebody else, with what lay in it
  try {
    removeSameIfEmpty(parent, path.slice(slash + 1), filled.identity);
  } finally {
    closeSync(parent);
  }
}

/**
 * Removes the directory `name` of `parent` where it is the one with that identity, and empty.
 * @param identity its device and inode, as `<device>:<inode>`
 * @returns whether it went
 */
export function removeSameIfEmpty(parent: number, name: string, identity: string): boolean {
  const found = openBeneath(parent, name, DIRECTORY_FLAGS, "plain");
  if (found < 0) return false; // gone, or something else has its name
  try {
    return identityOf(found) === identity && removeName(parent, name, "directory") >= 0;
  } finally {
    closeSync(found);
  }
}

function identityOf(directory: number): string {
  const { dev, ino } = fstatSync(directory, { bigint: true });
  return `${dev}:${ino}`;
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
