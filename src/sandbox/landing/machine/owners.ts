/**
 * Tells whose a file has to be that comes to stand somewhere, and gives it to them.
 *
 * A file that takes another's place has its owner and group. What is new in a directory whose group is everything's has
 * that group. INVARIANT: a kernel that cannot give it to them is told so, and puts nothing there.
 */
import { closeSync, constants, fstatSync, lchownSync, lstatSync } from "node:fs";
import { basename, dirname } from "node:path";
import { openBeneath } from "../../native/syscalls.ts";

/** Whose it has to be; the user is whoever makes it when absent. */
export interface DueOwner {
  readonly userId?: number;
  readonly groupId: number;
}

const SET_GROUP = 0o2000;
const OPEN_DIRECTORY = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/**
 * Whose a file or link has to be under `name` of an open directory, or any directory; `undefined` where that is
 * anybody's.
 */
export function dueOwner(directory: number, name: string, kind: "file" | "link" | "directory"): DueOwner | undefined {
  const there = lstatSync(`/proc/self/fd/${directory}/${name}`, { throwIfNoEntry: false });
  if (kind === "directory" && there?.isDirectory() === true) return undefined; // it stays the one that it is
  const isSameKind = kind === "file" ? there?.isFile() === true : kind === "link" && there?.isSymbolicLink() === true;
  if (isSameKind && there !== undefined) return { userId: there.uid, groupId: there.gid };
  const { mode, gid } = fstatSync(directory);
  return (mode & SET_GROUP) === 0 ? undefined : { groupId: gid };
}

/** The same for a path below the open directory `root`. */
export function dueOwnerBeneath(root: number, path: string, kind: "file" | "link" | "directory"): DueOwner | undefined {
  const parent = openBeneath(root, dirname(path), OPEN_DIRECTORY, "plain");
  if (parent < 0) return undefined; // it comes with its directory
  try {
    return dueOwner(parent, basename(path), kind);
  } finally {
    closeSync(parent);
  }
}

/** Gives what lies at `path` to them, no link followed. @returns whether it is theirs */
export function giveToDue(path: string, due: DueOwner | undefined): boolean {
  if (due === undefined) return true;
  const { uid, gid } = lstatSync(path);
  const { userId = uid, groupId } = due;
  if (uid === userId && gid === groupId) return true;
  try {
    lchownSync(path, userId, groupId);
    return true;
  } catch {
    return false; // whatever the reason, it would belong to somebody else
  }
}

/** Whether this process may give what it makes to them. */
export function canGive({ userId, groupId }: DueOwner): boolean {
  const own = process.geteuid?.();
  if (own === 0) return true;
  const groups = [process.getegid?.(), ...(process.getgroups?.() ?? [])];
  return (userId === undefined || userId === own) && groups.includes(groupId);
}

/** Whether its place says whose it is; what root's kernel puts somewhere belongs to whom the view says. */
export function givesByPlace(): boolean {
  return process.geteuid?.() !== 0;
}
