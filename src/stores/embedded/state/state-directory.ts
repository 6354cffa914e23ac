/**
 * The state directory: owned by the user that runs the kernel, closed to everybody else.
 *
 * Refuses a directory that anybody else owns or may enter, because whoever can write there can rewrite sessions and
 * evidence, and whoever can read there learns what was asked. Never changes the mode of a directory that holds
 * something.
 */
import { closeSync, constants, fsyncSync, openSync, type Stats } from "node:fs";
import { chmod, lstat, mkdir, open, readdir } from "node:fs/promises";
import { geteuid } from "node:process";
import { errorCode, type KernelError, storeUnavailable } from "../../../base/errors.ts";

const OWNER_ONLY_DIRECTORY = 0o700;
const OWNER_ONLY_FILE = 0o600;
const OTHERS = 0o077;
const WRITABLE_BY_OTHERS = 0o022;

/**
 * Makes the directory if it is missing (its parents too), closes an empty one that is the caller's own, and checks it.
 */
export async function prepareStateDirectory(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true, mode: OWNER_ONLY_DIRECTORY });
  } catch (error) {
    throw storeUnavailable(`the state directory \`${path}\` cannot be made; make it yourself with mode 0700`, error);
  }
  await closeIfEmpty(path);
  await checkStateDirectory(path);
}

/**
 * Somebody made a place for the state, with the mode that new directories have; there is nothing in it yet to hide or
 * lose.
 */
async function closeIfEmpty(path: string): Promise<void> {
  const found = await lstat(path);
  const isOwn = found.isDirectory() && found.uid === geteuid?.();
  if (!isOwn || (found.mode & OTHERS) === 0 || (found.mode & WRITABLE_BY_OTHERS) !== 0) return;
  if ((await readdir(path)).length === 0) await chmod(path, OWNER_ONLY_DIRECTORY);
}

/**
 * Checks that the directory is the caller's own and closed to everybody else.
 * @throws KernelError STORE_UNAVAILABLE saying what to change
 */
export async function checkStateDirectory(path: string): Promise<void> {
  const found = await lstat(path).catch((error: unknown) => {
    throw storeUnavailable(`there is no state directory \`${path}\`; start a kernel with it first`, error);
  });
  requireOwnDirectory(path, found);
}

/**
 * Checks what was found at `path`, as `checkStateDirectory` does.
 * @throws KernelError STORE_UNAVAILABLE saying what to change
 */
export function requireOwnDirectory(path: string, found: Stats): void {
  if (!found.isDirectory()) throw refused(path, "is not a directory; name a directory of your own");
  if (found.uid !== geteuid?.()) throw refused(path, "belongs to another user; run this as its owner");
  if ((found.mode & OTHERS) !== 0) throw refused(path, `is open to other users; run \`chmod 700 ${path}\``);
}

/** Makes an empty file that only the owner can open; an existing one is left alone, and never opened. */
export async function prepareFile(path: string): Promise<void> {
  try {
    // Exclusive: opening and closing an existing database would drop the locks that SQLite holds on it in this process.
    const file = await open(
      path,
      constants.O_CREAT | constants.O_EXCL | constants.O_RDWR | constants.O_NOFOLLOW,
      OWNER_ONLY_FILE,
    );
    await file.close();
  } catch (error) {
    if (errorCode(error) === "EEXIST") return;
    throw storeUnavailable(`a file of the state directory cannot be made (${errorCode(error)})`, error);
  }
}

function refused(path: string, why: string): KernelError {
  return storeUnavailable(`the state directory \`${path}\` ${why}`);
}

/** Makes what was named, renamed or removed in a directory durable. */
export function syncDirectory(path: string): void {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
