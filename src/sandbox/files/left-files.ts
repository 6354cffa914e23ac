/**
 * Removes files in the making that nobody finishes any more, and empty directories that nobody fills.
 *
 * INVARIANT: only a regular file or a directory goes whose name says that it was made by a kernel instance of this
 * state directory that is dead; no link is followed, so that nothing is removed but where it was noted, or below the
 * directory that is looked through.
 */
import { closeSync, constants, existsSync, fstatSync, openSync } from "node:fs";
import { opendir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { closeDescriptor, openBeneath, removeName, standingAt } from "../native/syscalls.ts";
import type { NewFilePlace, NewFileStore } from "../ports/new-file-store.ts";
import { removeSameIfEmpty } from "./places/filled-directories.ts";
import { instanceOfName, isTemporaryName } from "./places/temporary.ts";
import { removeTree } from "./remove-tree.ts";

/** Directory entries that are looked at for what killed kernels left in a workspace. */
const LEFT_FILES_ENTRIES_MAX = 5_000_000;

/** Who is dead, and what tells the names of this state directory from all others. */
export interface Leftovers {
  readonly key: Uint8Array;
  readonly isAlive: (instanceId: string) => Promise<boolean>;
}

/** What came of removing what dead instances left. */
export interface Swept {
  readonly removed: number;
  /** Directories that could not be looked at, by their real paths. */
  readonly unseen: readonly string[];
}

/** Removes what the dead instances of `store` left in the directories that they noted. */
export async function sweepLeftFiles(store: NewFileStore, leftovers: Leftovers): Promise<Swept> {
  let removed = 0;
  const unseen: string[] = [];
  for (const instanceId of await store.instances()) {
    if (await leftovers.isAlive(instanceId)) continue;
    // a directory that was made in another one was noted after it, and goes before it
    for (const place of [...(await store.placesOf(instanceId))].reverse()) {
      try {
        if (place.isMade === true) removed += removedIfEmpty(place) ? 1 : 0;
        else removed += await sweepPlace(place, (name) => instanceOfName(name, leftovers.key) === instanceId);
      } catch (error) {
        if (!isGone(error)) unseen.push(place.path);
      }
    }
    await store.forget(instanceId);
  }
  return { removed, unseen };
}

const DIRECTORY = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

async function sweepPlace({ path, dev, ino }: NewFilePlace, isLeft: (name: string) => boolean): Promise<number> {
  const directory = openSync(path, DIRECTORY);
  try {
    const found = fstatSync(directory, { bigint: true });
    if (String(found.dev) !== dev || String(found.ino) !== ino) return 0; // another one has its name now
    let removed = 0;
    for await (const { name } of await opendir(`/proc/self/fd/${directory}`)) {
      if (isLeft(name) && (await isRemoved(directory, name))) removed += 1;
    }
    return removed;
  } finally {
    closeSync(directory);
  }
}

/** Removes a directory that a dead instance made to be filled, where nothing is in it. */
function removedIfEmpty({ path, dev, ino }: NewFilePlace): boolean {
  const parent = openSync(dirname(path), DIRECTORY);
  try {
    return removeSameIfEmpty(parent, basename(path), `${dev}:${ino}`);
  } finally {
    closeSync(parent);
  }
}

/** A directory that holds this is one by which a landing will be taken back, and stays until then. */
export const HELD_DIRECTORY = "held";

/** A file; or a directory in which a landing kept what waited. */
async function isRemoved(directory: number, name: string): Promise<boolean> {
  const found = standingAt(directory, Buffer.from(`${name}\0`));
  if (typeof found === "number") return false;
  if (found.kind === constants.S_IFREG) return removeName(directory, name, "file") >= 0;
  if (found.kind !== constants.S_IFDIR || existsSync(`/proc/self/fd/${directory}/${name}/${HELD_DIRECTORY}`))
    return false;
  await removeTree(`/proc/self/fd/${directory}/${name}`);
  return true;
}

/** The directory went away, or something else has its name: nothing of it can be found there. */
function isGone(error: unknown): boolean {
  return error instanceof Error && "code" in error && ["ENOENT", "ENOTDIR", "ELOOP"].includes(String(error.code));
}

/** Files in the making below a directory, by whose they are; paths from there. */
export interface LeftFiles {
  /** Of dead instances of this state directory. */
  readonly dead: readonly string[];
  /** Of living ones: they are being written. */
  readonly living: readonly string[];
  /**
   * Of kernels with another state directory, or of an earlier version: whether anybody still writes them cannot be
   * told.
   */
  readonly unknown: readonly string[];
  /** Whether there was more than could be looked at. */
  readonly truncated: boolean;
}

/** Directories in which file tools make nothing. */
const NOT_ENTERED: ReadonlySet<string> = new Set([".git", "node_modules"]);

/** Looks for files in the making below the directory `root`, on its own file system; nothing is removed. */
export async function findLeftFiles(root: string, { key, isAlive }: Leftovers): Promise<LeftFiles> {
  const found = { dead: [] as string[], living: [] as string[], unknown: [] as string[], truncated: false };
  const alive = new Map<string, boolean>();
  const kindOf = async (name: string): Promise<"dead" | "living" | "unknown"> => {
    const instanceId = instanceOfName(name, key);
    if (instanceId === undefined) return "unknown";
    const lives = alive.get(instanceId) ?? (await isAlive(instanceId));
    alive.set(instanceId, lives);
    return lives ? "living" : "dead";
  };
  const base = openSync(root, DIRECTORY);
  try {
    let entries = 0;
    const open = ["."];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const directory = openBeneath(base, next, DIRECTORY, "plain");
      if (directory < 0) continue; // gone, closed to whoever looks, or another file system
      try {
        for await (const entry of await opendir(`/proc/self/fd/${directory}`)) {
          entries += 1;
          if (entries > LEFT_FILES_ENTRIES_MAX) return { ...found, truncated: true };
          const path = next === "." ? entry.name : join(next, entry.name);
          const isNew = isTemporaryName(entry.name);
          if (isNew && (entry.isFile() || entry.isDirectory())) found[await kindOf(entry.name)].push(path);
          else if (entry.isDirectory() && !NOT_ENTERED.has(entry.name)) open.push(path);
        }
      } finally {
        closeDescriptor(directory);
      }
    }
    return found;
  } finally {
    closeSync(base);
  }
}

/** Removes what `findLeftFiles` found to be of dead instances below `root`. @returns how many went */
export async function removeLeftFiles(root: string, paths: readonly string[]): Promise<number> {
  const base = openSync(root, DIRECTORY);
  let removed = 0;
  try {
    for (const path of paths) {
      const slash = path.lastIndexOf("/");
      const directory = openBeneath(base, slash === -1 ? "." : path.slice(0, slash), DIRECTORY, "plain");
      if (directory < 0) continue;
      if (await isRemoved(directory, path.slice(slash + 1))) removed += 1;
      closeDescriptor(directory);
    }
  } finally {
    closeSync(base);
  }
  return removed;
}
