/**
 * Brings to disk what a landing moves: what waits before the first move, and the changed directories after the last.
 *
 * So nothing that was acknowledged is lost with the machine's power, and no file comes back empty or old. A few files
 * are brought there one by one; for many, one sync of the whole file system is quicker, although it takes along what
 * others wrote.
 */
import { closeSync, constants } from "node:fs";
import { syncDirectory } from "../../files/places/directory-sync.ts";
import { syncFile, syncFileSystem } from "../../native/sync-calls.ts";
import { openBeneath } from "../../native/syscalls.ts";
import { MachineRefusal } from "./failures.ts";

/** Files or directories that are brought to disk one by one. */
const SYNCED_SINGLY_MAX = 32;

const READ = constants.O_RDONLY | constants.O_NOFOLLOW;

/** Something that lies below an open directory. */
export interface Below {
  readonly directory: number;
  readonly path: string;
}

/**
 * Brings files and directories to disk, with their bytes. No links: they are there with their directories.
 * @param place an open directory of their file system
 * @throws the machine's own error
 */
export async function syncContents(place: number, files: readonly Below[]): Promise<void> {
  if (files.length === 0) return;
  const opened = files.length > SYNCED_SINGLY_MAX ? undefined : openAll(files);
  if (opened === undefined) return await syncAll(place);
  try {
    await settled(opened.map((one) => syncFile(one)));
  } finally {
    for (const descriptor of opened) closeSync(descriptor);
  }
}

/**
 * Brings the names in directories of the workspace `root` to disk; those that have gone are not.
 * @param side an open directory of the same file system, which `root` may be no more than a name of
 * @throws the machine's own error
 */
export async function syncNames(
  { root, side }: Readonly<Record<"root" | "side", number>>,
  directories: ReadonlySet<string>,
): Promise<void> {
  if (directories.size > SYNCED_SINGLY_MAX) return await syncAll(side);
  const opened = [...directories]
    .map((path) => openBeneath(root, path || ".", READ | constants.O_DIRECTORY, "plain"))
    .filter((descriptor) => descriptor >= 0);
  try {
    await settled(opened.map((one) => syncDirectory(one)));
  } finally {
    for (const descriptor of opened) closeSync(descriptor);
  }
}

/** Resolves or throws when all have ended: until then somebody uses their descriptors. */
export async function settled(works: readonly Promise<unknown>[]): Promise<void> {
  const ended = await Promise.allSettled(works);
  const failed = ended.find((one) => one.status === "rejected");
  if (failed !== undefined) throw failed.reason;
}

async function syncAll(place: number): Promise<void> {
  const synced = await syncFileSystem(place);
  if (synced < 0) throw new MachineRefusal("a file system could not be brought to disk", synced);
}

/** Descriptors of all; `undefined` where one may not be opened: a command may close its files to their owner. */
function openAll(files: readonly Below[]): readonly number[] | undefined {
  const opened: number[] = [];
  for (const { directory, path } of files) {
    const descriptor = openBeneath(directory, path, READ, "plain");
    if (descriptor >= 0) opened.push(descriptor);
    else {
      for (const one of opened) closeSync(one);
      return undefined;
    }
  }
  return opened;
}
