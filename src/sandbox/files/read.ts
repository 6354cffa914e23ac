/**
 * Reads a regular file or a part of it.
 *
 * A small one is read at once, a large one in steps that a cancellation can end.
 *
 * INVARIANT: only a descriptor that is known to name a regular file is opened for reading, so that nothing blocks and
 * no FIFO or device notices.
 */
import { closeSync, read as readWithCallback } from "node:fs";
import { promisify } from "node:util";
import { KIB, MIB } from "../../base/bytes.ts";
import { ToolFailure } from "../../model/outcome/failure.ts";
import type { FileContent, FileStream, ReadOptions } from "../../model/place/files.ts";
import { closeDescriptor, errorName, openAgain, readAt } from "../native/syscalls.ts";
import { failureOf, notAFile, openingFailure, quoted, throwIfCancelled, translated } from "./places/failures.ts";
import { type FileScope, findExisting, findUnlinked, kindOf } from "./places/open.ts";

/** Bytes that one file read takes without leaving the thread: below it the hand-over costs more than the read. */
export const SMALL_READ_BYTES_MAX = 256 * KIB;
/** Bytes of a read that is lent to its reader, in memory that the next such read uses again. */
const LENT_BYTES_MAX = 64 * KIB;
/** Bytes of one step of a large read or write, between two looks at the cancellation signal. */
export const FILE_CHUNK_BYTES = MIB;

const readAsync = promisify(readWithCallback);

/** A descriptor of a regular file, with the path that a failure names. */
export interface OpenFile {
  readonly descriptor: number;
  readonly path: string;
}

/** What reading needs of the call. */
export interface ReadScope extends FileScope {
  readonly signal: AbortSignal;
}

/** A range of a file, in bytes. */
export interface Extent {
  readonly offset: number;
  readonly length: number;
}

/** Reads what `options` ask for of the file that `path` names. A small result is there at once. */
export function readContained(
  scope: ReadScope,
  path: string,
  options: ReadOptions,
): FileContent | Promise<FileContent> {
  throwIfCancelled(scope.signal);
  let opened: Opened | undefined;
  try {
    opened = openFound(findUnlinked(scope, path) ?? findFile(scope, path), path);
    const { sizeBytes } = opened;
    const extent = extentOf(path, sizeBytes, options);
    const file = { descriptor: opened.descriptor, path };
    if (extent.length <= SMALL_READ_BYTES_MAX)
      return { bytes: readNow(file, extent, options.lent), offset: extent.offset, sizeBytes };
    opened = undefined; // the reading in steps closes it
    return readLarge(file, { ...extent, sizeBytes }, scope.signal);
  } catch (error) {
    throw translated(error, path);
  } finally {
    if (opened) closeDescriptor(opened.descriptor);
  }
}

/** The same piece by piece. */
export function streamContained(scope: ReadScope, path: string, options: ReadOptions): FileStream {
  throwIfCancelled(scope.signal);
  let opened: Opened | undefined;
  try {
    opened = openFound(findUnlinked(scope, path) ?? findFile(scope, path), path);
    const { sizeBytes } = opened;
    const extent = extentOf(path, sizeBytes, options);
    const file = { descriptor: opened.descriptor, path };
    opened = undefined; // from here on the stream closes it
    return { ...extent, sizeBytes, chunks: piecesOf(file, extent, scope.signal) };
  } catch (error) {
    throw translated(error, path);
  } finally {
    if (opened) closeDescriptor(opened.descriptor);
  }
}

function piecesOf(file: OpenFile, { offset, length }: Extent, signal: AbortSignal): AsyncIterable<Uint8Array> {
  let isOpen = true;
  const close = (): void => {
    if (isOpen) closeSync(file.descriptor);
    isOpen = false;
  };
  async function* chunks(): AsyncGenerator<Uint8Array> {
    try {
      for (let done = 0; done < length && isOpen; ) {
        const next = { offset: offset + done, length: Math.min(FILE_CHUNK_BYTES, length - done) };
        const piece = await readInSteps(file, next, signal);
        if (piece.byteLength === 0) return;
        done += piece.byteLength;
        yield piece;
      }
    } catch (error) {
      throw translated(error, file.path);
    } finally {
      close();
    }
  }
  const pieces = chunks();
  const end = async (): Promise<IteratorResult<Uint8Array>> => {
    close();
    return { done: true, value: undefined };
  };
  return { [Symbol.asyncIterator]: () => ({ next: () => pieces.next(), return: end }) };
}

/** A regular file: a descriptor of it, and its size. */
interface Opened {
  readonly descriptor: number;
  readonly sizeBytes: number;
}

/** The regular file at the end of a path with links, judged where it really lies. */
function findFile(scope: FileScope, path: string): Opened {
  const { descriptor, stats } = findExisting(scope, path, ["read"]);
  if (stats.isFile()) return { descriptor, sizeBytes: stats.size };
  closeSync(descriptor);
  throw notAFile(path, kindOf(stats));
}

/** Opens for reading what was found and is known to be a regular file. */
function openFound(found: Opened, path: string): Opened {
  try {
    return { descriptor: openForReading(found.descriptor, path), sizeBytes: found.sizeBytes };
  } finally {
    closeDescriptor(found.descriptor);
  }
}

/** What is read: what is asked for, within bounds, and the margins. */
function extentOf(path: string, sizeBytes: number, options: ReadOptions): Extent {
  const { offset = 0, margin = 0 } = options;
  const length = lengthToRead(path, sizeBytes, options);
  if (margin === 0) return { offset, length };
  const from = Math.max(0, offset - margin);
  return { offset: from, length: Math.max(0, Math.min(sizeBytes, offset + length + margin) - from) };
}

function lengthToRead(path: string, sizeBytes: number, { offset = 0, limit, bytesMax }: ReadOptions): number {
  const rest = Math.max(0, sizeBytes - offset);
  const length = Math.min(rest, limit ?? rest);
  if (length <= bytesMax) return length;
  throw new ToolFailure(
    "FILE_TOO_LARGE",
    `${quoted(path)} has ${sizeBytes} bytes; this would return ${length}, more than the ${bytesMax} that are allowed at once`,
    `read it in parts with \`offset\` and a \`limit\` of at most ${bytesMax} bytes`,
  );
}

/**
 * Opens the regular file that an `O_PATH` descriptor names: the same file, whatever happened to its name. `path` is for
 * the failure.
 */
export function openForReading(descriptor: number, path: string): number {
  const opened = openAgain(descriptor);
  if (opened < 0) throw openingFailure(opened, path);
  return opened;
}

/** Where bytes stand that are only lent. */
let lentOut: Buffer | undefined;

function room(length: number, lent: boolean): Buffer {
  // not from the shared pool: nobody else's bytes stand beside what somebody keeps
  if (!lent || length > LENT_BYTES_MAX) return Buffer.allocUnsafeSlow(length);
  lentOut ??= Buffer.allocUnsafeSlow(LENT_BYTES_MAX);
  return lentOut;
}

function readNow({ descriptor, path }: OpenFile, { offset, length }: Extent, lent = false): Uint8Array {
  const bytes = room(length, lent).subarray(0, length);
  let done = 0;
  while (done < length) {
    const count = readAt(descriptor, done === 0 ? bytes : bytes.subarray(done), offset + done);
    if (count < 0) throw failureOf(errorName(count), path);
    if (count === 0) break; // it became shorter meanwhile
    done += count;
  }
  return done === length ? bytes : bytes.subarray(0, done);
}

async function readLarge(
  file: OpenFile,
  extent: Extent & Pick<FileContent, "sizeBytes">,
  signal: AbortSignal,
): Promise<FileContent> {
  try {
    const { offset, sizeBytes } = extent;
    return { bytes: await readInSteps(file, extent, signal), offset, sizeBytes };
  } catch (error) {
    throw translated(error, file.path);
  } finally {
    closeSync(file.descriptor);
  }
}

/** Reads `extent` in steps; fewer bytes when the file is shorter. */
export async function readInSteps(file: OpenFile, extent: Extent, signal: AbortSignal): Promise<Uint8Array> {
  const { offset, length } = extent;
  if (length <= SMALL_READ_BYTES_MAX) return readNow(file, extent);
  const bytes = Buffer.allocUnsafeSlow(length);
  let done = 0;
  while (done < length) {
    throwIfCancelled(signal);
    const { bytesRead } = await readAsync(
      file.descriptor,
      bytes,
      done,
      Math.min(FILE_CHUNK_BYTES, length - done),
      offset + done,
    );
    if (bytesRead === 0) break;
    done += bytesRead;
  }
  return bytes.subarray(0, done);
}
