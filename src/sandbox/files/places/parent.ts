/**
 * Opens the parent directory of a write, and makes it when it is missing.
 *
 * It also checks that the directory is still where it was judged.
 *
 * INVARIANT: no symbolic link is followed here. The place given already has all links resolved and was judged.
 */
import { closeSync, constants, fsyncSync, lstatSync } from "node:fs";
import type { WorkspacePath } from "../../../model/place/access.ts";
import { joinsStores } from "../../../model/place/repository-shape.ts";
import { isPathTooLong } from "../../../names/path-size.ts";
import { errno, errorName, makeDirectory, openBeneath, removeName } from "../../native/syscalls.ts";
import { changed, failureOf, notAFile, translated } from "./failures.ts";
import { handleOf, realPathOf, type WorkspaceRoots } from "./roots.ts";

/**
 * Where a write goes: the open parent directory (the caller closes it), the name in it, and the directories made for
 * it.
 */
export interface Destination {
  readonly directory: number;
  readonly name: string;
  readonly place: WorkspacePath;
  /** Paths below the root, in the order they were made. */
  readonly made: readonly string[];
}

/** Opened for reading, because only such a handle can be synchronised to disk. */
const DIRECTORY_FLAGS = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** Opens the parent directory of `place`; missing ones are made, and removed again when that fails half-way. */
export function openDestination(roots: WorkspaceRoots, place: WorkspacePath, path: string): Destination {
  if (place.path === ".") throw notAFile(path, "directory");
  if (isPathTooLong(place.path)) throw failureOf("ENAMETOOLONG", path);
  const parents = place.path.split("/");
  const name = parents.pop() ?? "";
  const root = handleOf(roots, place.root).descriptor;
  const made: string[] = [];
  let existing = parents.length;
  let directory = openDirectory(root, parents.slice(0, existing));
  while (directory === -errno.ENOENT && existing > 0) {
    existing -= 1;
    directory = openDirectory(root, parents.slice(0, existing));
  }
  try {
    for (let depth = existing; directory >= 0 && depth < parents.length; depth += 1) {
      directory = makeInside(directory, parents[depth] ?? "", () => made.push(parents.slice(0, depth + 1).join("/")));
    }
    if (directory < 0) throw directory === -errno.ELOOP ? changed(path) : failureOf(errorName(directory), path);
    return { directory, name, place, made };
  } catch (error) {
    if (directory >= 0) closeSync(directory);
    removeMade(roots, { place, made });
    throw translated(error, path);
  }
}

/** Opens the parent directory of a file that exists; nothing is made. */
export function openExistingDestination(roots: WorkspaceRoots, place: WorkspacePath, path: string): Destination {
  if (place.path === ".") throw notAFile(path, "directory");
  const parents = place.path.split("/");
  const name = parents.pop() ?? "";
  const directory = openDirectory(handleOf(roots, place.root).descriptor, parents);
  if (directory < 0) throw directory === -errno.ELOOP ? changed(path) : failureOf(errorName(directory), path);
  return { directory, name, place, made: [] };
}

function openDirectory(root: number, components: readonly string[]): number {
  return openBeneath(root, components.length === 0 ? "." : components.join("/"), DIRECTORY_FLAGS, "plain");
}

function isThere(directory: number, name: string): boolean {
  return lstatSync(`/proc/self/fd/${directory}/${name}`, { throwIfNoEntry: false }) !== undefined;
}

/** Makes and opens `name` in `directory`, which it closes; another process may have made it first. */
function makeInside(directory: number, name: string, onMade: () => void): number {
  try {
    const result = makeDirectory(directory, name);
    if (result < 0 && result !== -errno.EEXIST) return result;
    if (result >= 0) {
      onMade();
      // It was judged before; of two calls that each make one part, the second to look finds both.
      if (joinsStores(name, (beside) => isThere(directory, beside))) return -errno.EAGAIN;
      fsyncSync(directory);
    }
    return openBeneath(directory, name, DIRECTORY_FLAGS, "plain");
  } finally {
    closeSync(directory);
  }
}

/** Removes the directories that were made for a write which did not happen; one that is in use by now stays. */
export function removeMade(roots: WorkspaceRoots, destination: Pick<Destination, "place" | "made">): void {
  const root = handleOf(roots, destination.place.root).descriptor;
  for (const made of destination.made.toReversed()) {
    const components = made.split("/");
    const name = components.pop() ?? "";
    const parent = openDirectory(root, components);
    if (parent < 0) return;
    removeName(parent, name, "directory");
    closeSync(parent);
  }
}

/**
 * Fails when the parent directory was moved since it was judged: the file would appear in a place that nobody judged.
 */
export function requireInPlace(roots: WorkspaceRoots, destination: Destination, path: string): void {
  const slash = destination.place.path.lastIndexOf("/");
  const root = handleOf(roots, destination.place.root).path;
  const expected = slash === -1 ? root || "/" : `${root}/${destination.place.path.slice(0, slash)}`;
  if (realPathOf(destination.directory) !== expected) throw changed(path);
}
