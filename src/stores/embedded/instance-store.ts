/**
 * Kernel instances as locked files `instances/<id>.lock`.
 *
 * The lock file appears under its name only once it is locked, so that a file that can be locked belongs to a dead
 * instance; a missing file does too. INVARIANT: ids are random and never used twice.
 */
import { constants } from "node:fs";
import { type FileHandle, mkdir, open, readdir, rename, unlink } from "node:fs/promises";
import { join } from "node:path";
import { KernelError } from "../../base/errors.ts";
import { newId, type RandomBytes } from "../../base/ids.ts";
import { INSTANCE_SWEEP_MAX } from "../../base/limits.ts";
import type { Instance, InstanceStore } from "../../ledger/instance-store.ts";
import { tryLock } from "./file-lock.ts";
import { checkStateDirectory, errorCode, prepareStateDirectory } from "./state-directory.ts";

const ID_PATTERN = /^ins_[A-Za-z0-9_-]{22}$/;
const SUFFIX = ".lock";
const OWNER_ONLY_DIRECTORY = 0o700;
const OWNER_ONLY_FILE = 0o600;

/** The instances of a state directory. */
export async function openInstanceStore(stateDirectory: string, random: RandomBytes): Promise<InstanceStore> {
  await prepareStateDirectory(stateDirectory);
  const directory = join(stateDirectory, "instances");
  await mkdir(directory, { recursive: true, mode: OWNER_ONLY_DIRECTORY });
  await checkStateDirectory(directory);
  return {
    claim: async () => {
      await sweep(directory);
      return claim(directory, newId("ins", random));
    },
    isAlive: (id) => isAlive(directory, id),
  };
}

async function claim(directory: string, id: string): Promise<Instance> {
  const path = join(directory, id + SUFFIX);
  const unnamed = `${path}.new`;
  const file = await open(unnamed, constants.O_CREAT | constants.O_EXCL | constants.O_RDWR, OWNER_ONLY_FILE);
  if (!tryLock(file.fd, "exclusive"))
    throw new KernelError("STORE_UNAVAILABLE", "the lock file of a new instance is locked by somebody else");
  await rename(unnamed, path);
  return { id, release: () => release(file, path) };
}

async function release(file: FileHandle, path: string): Promise<void> {
  await removed(path);
  await file.close();
}

async function isAlive(directory: string, id: string): Promise<boolean> {
  if (!ID_PATTERN.test(id)) throw new KernelError("STORE_CORRUPT", "an instance has an id that no kernel gives");
  return (await inspect(join(directory, id + SUFFIX))) === "locked";
}

/** Whether the file is there and whether somebody holds its lock. */
async function inspect(path: string): Promise<"missing" | "free" | "locked"> {
  let file: FileHandle;
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return "missing";
    throw new KernelError(
      "STORE_UNAVAILABLE",
      "the lock file of an instance cannot be opened; check the permissions of the state directory",
      error,
    );
  }
  try {
    return tryLock(file.fd, "shared") ? "free" : "locked";
  } finally {
    await file.close();
  }
}

/** Removes lock files that dead instances left; a missing file says the same as a free one. */
async function sweep(directory: string): Promise<void> {
  const names = (await readdir(directory)).filter((name) => name.endsWith(SUFFIX)).slice(0, INSTANCE_SWEEP_MAX);
  for (const name of names) {
    const path = join(directory, name);
    if ((await inspect(path)) === "free") await removed(path);
  }
}

async function removed(path: string): Promise<void> {
  await unlink(path).catch((error: unknown) => {
    if (errorCode(error) !== "ENOENT") throw new KernelError("STORE_UNAVAILABLE", "the lock file of an instance cannot be removed", error);
  });
}
