/**
 * Kernel instances as locked files `instances/<id>.lock`.
 *
 * The lock file appears under its name only once it is locked, so that a file that can be locked belongs to a dead
 * instance; a missing file does too. INVARIANT: ids are random and never used twice. INVARIANT: the descriptor that
 * carries the lock is a plain number, which no garbage collector closes, so that only `release` and death free it.
 */
import { closeSync, constants, openSync } from "node:fs";
import { mkdir, readdir, rename, unlink } from "node:fs/promises";
import { join } from "node:path";
import { errorCode, storeCorrupt, storeUnavailable } from "../../../base/errors.ts";
import { newId, type RandomBytes } from "../../../base/ids.ts";
import type { ClaimFile, Instance, InstanceStore } from "../../../ledger/instance-store.ts";
import { tryLock } from "../state/file-lock.ts";
import { identityAt, identityOf } from "../state/opened-files.ts";
import { checkStateDirectory, prepareStateDirectory } from "../state/state-directory.ts";

/** Lock files of dead instances that one start removes. */
const INSTANCE_SWEEP_MAX = 1024;

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
  const descriptor = opened(unnamed, constants.O_CREAT | constants.O_EXCL | constants.O_RDWR);
  if (descriptor === undefined || !tryLock(descriptor, "exclusive")) {
    throw storeUnavailable("the lock file of a new instance is locked by somebody else");
  }
  await rename(unnamed, path);
  return {
    id,
    claim: { path, identity: identityOf(descriptor) },
    release: async () => {
      await removed(path);
      closeSync(descriptor);
    },
  };
}

/**
 * @throws KernelError STORE_UNAVAILABLE when the claim's file is not there any more: then other kernels take over what
 * its instance began
 */
export function requireClaim({ path, identity }: ClaimFile): void {
  if (identityAt(path) === identity) return;
  const what = "the lock file of this kernel was removed from the state directory, so that others take it for dead";
  throw storeUnavailable(`${what}; restart the kernel`);
}

async function isAlive(directory: string, id: string): Promise<boolean> {
  if (!ID_PATTERN.test(id)) throw storeCorrupt("an instance has an id that no kernel gives");
  return inspect(join(directory, id + SUFFIX)) === "locked";
}

/** Whether the file is there and whether somebody holds its lock. */
function inspect(path: string): "missing" | "free" | "locked" {
  const descriptor = opened(path, constants.O_RDONLY);
  if (descriptor === undefined) return "missing";
  try {
    return tryLock(descriptor, "shared") ? "free" : "locked";
  } finally {
    closeSync(descriptor);
  }
}

/** An open descriptor, or `undefined` when there is no such file. */
function opened(path: string, flags: number): number | undefined {
  try {
    return openSync(path, flags | constants.O_NOFOLLOW, OWNER_ONLY_FILE);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw storeUnavailable(
      "the lock file of an instance cannot be opened; check the permissions of the state directory",
      error,
    );
  }
}

/** Removes lock files that dead instances left; a missing file says the same as a free one. */
async function sweep(directory: string): Promise<void> {
  const names = (await readdir(directory)).filter((name) => name.endsWith(SUFFIX)).slice(0, INSTANCE_SWEEP_MAX);
  for (const name of names) {
    const path = join(directory, name);
    if (inspect(path) === "free") await removed(path);
  }
}

async function removed(path: string): Promise<void> {
  await unlink(path).catch((error: unknown) => {
    if (errorCode(error) !== "ENOENT") throw storeUnavailable("the lock file of an instance cannot be removed", error);
  });
}
