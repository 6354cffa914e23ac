/**
 * The new file beside the old one, and the step in which it takes its place.
 *
 * INVARIANTS: the new file has a name that cannot be guessed and was made by this call; it is complete and on disk
 * before it gets the real name; whatever fails before that, it is removed.
 */
import {
  type BigIntStats,
  close,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsync as fsyncWithCallback,
  write as writeWithCallback,
} from "node:fs";
import { promisify } from "node:util";
import { KernelError } from "../../base/errors.ts";
import { type StreamingHash, streamingHash } from "../../base/hash.ts";
import { storeFailure, ToolFailure } from "../../model/outcome/failure.ts";
import { accessListOf, setAccessList } from "../native/layer-calls.ts";
import { errno, errorName, linkThenRemove, openBeneath, removeName, renameBetween } from "../native/syscalls.ts";
import type { NewFiles } from "./new-files.ts";
import { syncDirectory } from "./places/directory-sync.ts";
import { changed, failureOf, quoted, throwIfCancelled } from "./places/failures.ts";
import type { Destination } from "./places/parent.ts";
import { FILE_CHUNK_BYTES, type OpenFile, openForReading, readInSteps } from "./read.ts";

/**
 * Closes the descriptor of a file that may have lost its name: freeing its blocks waits for the file system's journal,
 * beside this thread.
 */
export const freeDescriptor: (descriptor: number) => Promise<void> = promisify(close);

const writeAsync = promisify(writeWithCallback);
const fsyncAsync = promisify(fsyncWithCallback);

/** The file that is to be replaced: an `O_PATH` descriptor and what it was when the call looked at it. */
export interface Original {
  readonly descriptor: number;
  readonly stats: BigIntStats;
}

/** What the file will hold: all of `before`, if given, then `bytes`. */
export interface Content {
  readonly before?: Original;
  readonly bytes: Uint8Array;
}

/** What a path is to hold next. */
export interface NewVersion {
  /** The path as the call names it, for failures. */
  readonly path: string;
  /** The file whose place it takes, if there is one. */
  readonly original: Original | undefined;
  readonly content: Content;
}

/** A complete file beside its destination. */
export interface Beside {
  readonly name: string;
  readonly sizeBytes: number;
  readonly mode: number;
  /** BLAKE3-256 of its bytes, where that is asked for. */
  readonly content?: string;
}

/** A new file is for its owner until it has the mode of the one it replaces. */
const PRIVATE_MODE = 0o600;
/** A file that replaces none: the process's umask, or the directory's default, takes bits away. */
const NEW_FILE_MODE = 0o666;
/** Permissions and the sticky bit. Set-id bits go, as they do when a file is written in place. */
const KEPT_MODE_BITS = 0o1777n;
const MODE = 0o7777;
const GROUP = 0o070n;

/** What hashes what is written. */
interface Hashing {
  readonly hash: StreamingHash | undefined;
}

/**
 * Writes the new version into a new file in `directory`, with the mode, access list and owner of the original, and
 * brings it to disk.
 */
export async function writeBeside(
  directory: number,
  { path, original, content }: NewVersion,
  scope: { readonly newFiles: NewFiles; readonly signal: AbortSignal; readonly keeping?: object | undefined },
): Promise<Beside> {
  const name = nameIn(directory, scope.newFiles);
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const descriptor = openBeneath(directory, name, flags, "plain", original ? PRIVATE_MODE : NEW_FILE_MODE);
  if (descriptor === -errno.ENOENT) throw changed(path); // the directory itself is gone
  if (descriptor < 0) throw failureOf(errorName(descriptor), path);
  let complete = false;
  const hash = scope.keeping && streamingHash();
  try {
    const copied = content.before ? await copyInto({ descriptor, path, hash }, content.before, scope.signal) : 0;
    await writeAll(descriptor, { bytes: content.bytes, position: copied, hash }, scope.signal);
    if (original) keepOwnerAndMode(descriptor, original, path);
    await fsyncAsync(descriptor);
    complete = true;
    const made = { name, sizeBytes: copied + content.bytes.byteLength, mode: fstatSync(descriptor).mode & MODE };
    return hash === undefined ? made : { ...made, content: hash.hex() };
  } finally {
    closeSync(descriptor);
    if (!complete) removeName(directory, name, "file");
  }
}

function nameIn(directory: number, names: NewFiles): string {
  try {
    return names.nameIn(directory);
  } catch (error) {
    throw error instanceof KernelError ? (storeFailure(error) ?? error) : error;
  }
}

async function copyInto(
  { descriptor, path, hash }: OpenFile & Hashing,
  original: Original,
  signal: AbortSignal,
): Promise<number> {
  const source = openForReading(original.descriptor, path);
  try {
    const sizeBytes = Number(original.stats.size);
    for (let offset = 0; offset < sizeBytes; ) {
      const next = { offset, length: Math.min(FILE_CHUNK_BYTES, sizeBytes - offset) };
      const part = await readInSteps({ descriptor: source, path }, next, signal);
      if (part.byteLength === 0) throw changed(path);
      await writeAll(descriptor, { bytes: part, position: offset, hash }, signal);
      offset += part.byteLength;
    }
    return sizeBytes;
  } finally {
    closeSync(source);
  }
}

async function writeAll(
  descriptor: number,
  { bytes, position, hash }: Hashing & { readonly bytes: Uint8Array; readonly position: number },
  signal: AbortSignal,
): Promise<void> {
  hash?.update(bytes);
  for (let done = 0; done < bytes.byteLength; ) {
    throwIfCancelled(signal);
    const length = Math.min(FILE_CHUNK_BYTES, bytes.byteLength - done);
    const { bytesWritten } = await writeAsync(descriptor, bytes, done, length, position + done);
    done += bytesWritten;
  }
}

function keepOwnerAndMode(descriptor: number, original: Original, path: string): void {
  const { uid, gid } = fstatSync(descriptor, { bigint: true });
  if (uid !== original.stats.uid || gid !== original.stats.gid) {
    try {
      fchownSync(descriptor, Number(original.stats.uid), Number(original.stats.gid));
    } catch {
      // Whatever the reason, the new file would belong to somebody else than the old one: it must not take its place.
      throw new ToolFailure(
        "PERMISSION_DENIED",
        `${quoted(path)} belongs to another user, and its owner could not be kept`,
        "ask a person to change the owner of the file",
      );
    }
  }
  const list = accessListOf(original.descriptor);
  const isLost = list !== undefined && !setAccessList(`/proc/self/fd/${descriptor}`, list);
  // without the list the group's rights, which bound all whom it names, would be the group's own
  fchmodSync(descriptor, Number(original.stats.mode & (isLost ? KEPT_MODE_BITS & ~GROUP : KEPT_MODE_BITS)));
}

/** The conditions of the last step. */
export interface Placement {
  /** The path as the call names it, for failures. */
  readonly path: string;
  /** Whether a file of that name is to be replaced; otherwise there must be none. */
  readonly replace: boolean;
  /** Called right before; throws when the step must not happen any more. */
  readonly check: () => void;
  /** Called when the file has its name, before that is on disk. */
  readonly onPlaced?: () => void;
  /** The failure when there is a file although there must be none. */
  readonly taken: () => ToolFailure;
}

/** Gives the complete file its real name, and brings the name to disk. Removes the file when that is not to happen. */
export async function putInPlace(destination: Destination, beside: Beside, placement: Placement): Promise<void> {
  placeNow(destination, beside, placement);
  await syncPlaced(destination, placement.path);
}

/** Gives the complete file its real name at once; the name is on disk after `syncPlaced`. */
export function placeNow(destination: Destination, beside: Beside, placement: Placement): void {
  let placed = false;
  try {
    placement.check();
    rename(destination, beside, placement);
    placed = true;
    placement.onPlaced?.();
  } finally {
    if (!placed) removeName(destination.directory, beside.name, "file");
  }
}

/** Brings the name of a file that was put in its place to disk. */
export async function syncPlaced({ directory }: Destination, path: string): Promise<void> {
  try {
    await syncDirectory(directory);
  } catch {
    // The new content is in place, only its survival of a power failure is uncertain; saying "failed" would be a lie.
    throw new ToolFailure(
      "OUTCOME_UNKNOWN",
      `${quoted(path)} was written, but the disk did not confirm it`,
      "read the file to see what it holds, and have the disk checked",
    );
  }
}

function rename({ directory, name }: Destination, beside: Beside, placement: Placement): void {
  let result = renameBetween(directory, beside.name, directory, name, placement.replace ? "replace" : "keep");
  const unsupported = result === -errno.EINVAL || result === -errno.ENOSYS;
  // Some file systems cannot rename without replacing; a second name, made and then the first removed, does the same.
  if (unsupported && !placement.replace) result = linkThenRemove({ directory, name: beside.name }, { directory, name });
  if (result === -errno.EEXIST) throw placement.taken();
  if (result < 0) throw failureOf(errorName(result), placement.path);
}
