/**
 * Spools as files `spool/<instance id>` of the state directory: owner-only, appended to, never edited.
 *
 * Refuses a directory that others may enter, and links in place of files. INVARIANT: a file is removed or renamed only
 * together with a sync of its directory, so that what the ledger forgets afterwards cannot come back.
 */
import {
  closeSync,
  constants,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { errorCode, KernelError, ledgerUnavailable, storeCorrupt } from "../../../base/errors.ts";
import { LEDGER_SPOOL_BYTES_MAX } from "../../../base/limits.ts";
import type { SpoolStore, SpoolWriter } from "../../../ledger/spool-store.ts";
import { requireOwnDirectory } from "../state/state-directory.ts";

const OWNER_ONLY_DIRECTORY = 0o700;
const OWNER_ONLY_FILE = 0o600;
/** Ids that may name a file; no dot, so that files set aside are apart. */
const ID_PATTERN = /^ins_[A-Za-z0-9_-]{1,64}$/;
/** Ids that an instance store gives: only their owners can be asked whether they live. */
const CLAIMED_PATTERN = /^ins_[A-Za-z0-9_-]{22}$/;
const ASIDE_SUFFIX = ".damaged";

/** The spools of a state directory. Touches nothing until a spool is made or asked for. */
export function openSpoolStore(stateDirectory: string): SpoolStore {
  const directory = join(stateDirectory, "spool");
  const pathOf = (instanceId: string): string => {
    if (ID_PATTERN.test(instanceId)) return join(directory, instanceId);
    throw storeCorrupt("a spool belongs to an instance whose id no kernel gives");
  };
  return {
    create: (instanceId) => guarded("made", () => create(stateDirectory, directory, pathOf(instanceId))),
    read: (instanceId, from, bytesMax) => guarded("read", () => read(pathOf(instanceId), from, bytesMax)),
    sync: (instanceId) => guarded("synced", () => syncFile(pathOf(instanceId), directory)),
    exists: (instanceId) =>
      guarded("looked for", () => lstatSync(pathOf(instanceId), { throwIfNoEntry: false }) !== undefined),
    list: (limit) => guarded("listed", () => list(directory, limit)),
    remove: (instanceId) => guarded("removed", () => remove(pathOf(instanceId), directory)),
    setAside: (instanceId) => guarded("set aside", () => setAside(pathOf(instanceId), directory)),
  };
}

function create(stateDirectory: string, directory: string, path: string): SpoolWriter {
  requireOwnDirectory(stateDirectory, lstatSync(stateDirectory));
  mkdirSync(directory, { recursive: true, mode: OWNER_ONLY_DIRECTORY });
  requireOwnDirectory(directory, lstatSync(directory));
  const { O_CREAT, O_EXCL, O_APPEND, O_WRONLY, O_NOFOLLOW } = constants;
  const descriptor = openSync(path, O_CREAT | O_EXCL | O_APPEND | O_WRONLY | O_NOFOLLOW, OWNER_ONLY_FILE);
  return new FileSpoolWriter(descriptor, path);
}

class FileSpoolWriter implements SpoolWriter {
  private readonly descriptor: number;
  private readonly path: string;
  private readonly inode: bigint;
  private bytes = 0;
  private rest = false;

  constructor(descriptor: number, path: string) {
    this.descriptor = descriptor;
    this.path = path;
    this.inode = fstatSync(descriptor, { bigint: true }).ino;
  }

  readonly length = (): number => this.bytes;
  readonly sound = (): boolean => !this.rest;

  readonly append = (bytes: Uint8Array): void => {
    if (this.rest)
      throw ledgerUnavailable("the spool of the ledger is not sound; it is cleared when the ledger holds it");
    guarded("written", () => this.requireInPlace());
    try {
      this.appendAll(bytes);
      this.bytes += bytes.byteLength;
    } catch (error) {
      this.takeBack();
      throw unusable("written", error);
    }
  };

  readonly clear = (): void => {
    guarded("cleared", () => ftruncateSync(this.descriptor, 0));
    this.bytes = 0;
    this.rest = false;
  };

  readonly close = (): void => closeSync(this.descriptor);

  /** What nobody finds under its name any more would be no evidence. */
  private requireInPlace(): void {
    const now = lstatSync(this.path, { bigint: true, throwIfNoEntry: false });
    if (now?.ino === this.inode) return;
    throw ledgerUnavailable("the spool of the ledger was removed or replaced; restart the kernel, which makes another");
  }

  private appendAll(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.byteLength; ) {
      const written = writeSync(this.descriptor, bytes, at);
      if (written === 0) throw ledgerUnavailable("the spool of the ledger takes no bytes; make room on its disk");
      at += written;
    }
  }

  /** Part of the bytes may have been written: it must not stand before later frames. */
  private takeBack(): void {
    this.rest = true;
    try {
      ftruncateSync(this.descriptor, this.bytes);
      this.rest = false;
    } catch (error) {
      // `sound` says so from now on, and nothing more is appended until the spool was cleared.
      if (errorCode(error) === "unknown") throw error;
    }
  }
}

function read(path: string, from: number, bytesMax: number): Uint8Array | undefined {
  const descriptor = openedToRead(path);
  if (descriptor === undefined) return undefined;
  try {
    const bytes = Buffer.allocUnsafe(Math.min(bytesMax, LEDGER_SPOOL_BYTES_MAX + 1));
    let at = 0;
    for (let count = 1; count > 0 && at < bytes.byteLength; at += count) {
      count = readSync(descriptor, bytes, at, bytes.byteLength - at, from + at);
    }
    return bytes.subarray(0, at);
  } finally {
    closeSync(descriptor);
  }
}

function openedToRead(path: string): number | undefined {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

function syncFile(path: string, directory: string): void {
  const descriptor = openedToRead(path);
  if (descriptor === undefined) return;
  try {
    fdatasyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  syncDirectory(directory);
}

function syncDirectory(directory: string): void {
  const descriptor = openedToRead(directory);
  if (descriptor === undefined) return;
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function list(directory: string, limit: number): readonly string[] {
  try {
    return readdirSync(directory)
      .filter((name) => CLAIMED_PATTERN.test(name))
      .slice(0, limit);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return [];
    throw error;
  }
}

function remove(path: string, directory: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    // Somebody else removed it, and may not have synced that yet.
    if (errorCode(error) !== "ENOENT") throw error;
  }
  syncDirectory(directory);
}

function setAside(path: string, directory: string): string {
  const aside = `${path}${ASIDE_SUFFIX}`;
  try {
    renameSync(path, aside);
  } catch (error) {
    // Another recoverer was faster.
    if (errorCode(error) !== "ENOENT") throw error;
  }
  syncDirectory(directory);
  return aside.slice(directory.length + 1);
}

function guarded<T>(done: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof KernelError) throw error;
    throw unusable(done, error);
  }
}

function unusable(done: string, error: unknown): KernelError {
  const code = errorCode(error);
  const advice =
    code === "ENOSPC" || code === "EDQUOT"
      ? "make room on its disk"
      : "check the disk and the permissions of the state directory";
  return ledgerUnavailable(`a spool in the state directory cannot be ${done} (${code}); ${advice}`, error);
}
