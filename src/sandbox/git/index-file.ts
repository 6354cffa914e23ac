/**
 * Decodes git's index as far as to say which content it holds, and where what it knows of files stands.
 *
 * It trusts nothing of the file. INVARIANT: what is not understood holds nothing, so that whoever asks goes on as if
 * git did not know the file: an index that is split or shares entries, another version, a file in conflict.
 */
import { createHash } from "node:crypto";
import { MIB } from "../../base/bytes.ts";
import type { RepositoryFiles } from "./repository-files.ts";

/** Bytes of an index that is looked through: of a million files. */
export const INDEX_BYTES_MAX = 128 * MIB;

const SHA1_BYTES = 20;
const HEADER_BYTES = 12;
/** Of an entry before its object's id: times, device, inode, mode, owner, group and size. */
const STATUS_BYTES = 40;
const MODE_AT = 24;
const FLAGS_BYTES = 2;
const EXTENDED_FLAG = 0x4000;
/** Two bits: 0 unless the file is in conflict. */
const STAGE_FLAGS = 0x3000;
const EXTENDED_FLAGS_BYTES = 2;
/** Of a version 4 entry, the bits of a number that one byte holds; the highest says that more follow. */
const NUMBER_BITS = 7;
const NUMBER_BYTES_MAX = 5;
/** Kinds of what is staged, by the highest bits of its mode. */
const REGULAR = 0o10;

/** Whether the index of the repository holds exactly `content` under `path`, which is relative to its root. */
export function indexHolds(files: RepositoryFiles, path: string, content: Uint8Array): boolean {
  const index = files.piece(".git/index", 0, INDEX_BYTES_MAX + 1);
  if (index === undefined || index.length > INDEX_BYTES_MAX) return false;
  return ["sha1", "sha256"].some((hash) => {
    const id = createHash(hash).update(`blob ${content.byteLength}\0`).update(content).digest();
    return stagedId(index, path, id.length)?.equals(id) === true;
  });
}

/** The id of the object that is staged under `path` as a regular file. @param idBytes of every id */
export function stagedId(index: Buffer, path: string, idBytes: number): Buffer | undefined {
  const wanted = Buffer.from(path);
  let found: Buffer | undefined;
  const entries = indexEntries(index, idBytes);
  for (;;) {
    const { done, value } = entries.next();
    if (done === true) return value ? found : undefined;
    if (value.isPlain && value.name.equals(wanted)) found = value.id;
  }
}

/** The entries of an index one by one, and then whether all of it was understood. @param idBytes of every id */
export function* indexEntries(index: Buffer, idBytes: number): Generator<IndexEntry, boolean> {
  if (index.length < HEADER_BYTES || index.toString("latin1", 0, 4) !== "DIRC") return false;
  const version = index.readUInt32BE(4);
  if (version < 2 || version > 4) return false;
  let name: Buffer = Buffer.alloc(0);
  let at = HEADER_BYTES;
  for (let left = index.readUInt32BE(8); left > 0; left -= 1) {
    const entry = entryAt(index, at, { version, idBytes, before: name });
    if (entry === undefined) return false;
    yield entry;
    ({ name, end: at } = entry);
  }
  return isWhole(index, at, idBytes);
}

/** What the index has of one file. */
export interface IndexEntry {
  /** Where it begins, with the ten numbers that git knows of the file. */
  readonly start: number;
  readonly name: Buffer;
  readonly id: Buffer;
  /** A regular file that is not in conflict. */
  readonly isPlain: boolean;
  readonly end: number;
}

/** How entries are written, and the name of the one before, from which version 4 begins. */
interface Form {
  readonly version: number;
  readonly idBytes: number;
  readonly before: Buffer;
}

function entryAt(index: Buffer, start: number, { version, idBytes, before }: Form): IndexEntry | undefined {
  const idAt = start + STATUS_BYTES;
  const flagsAt = idAt + idBytes;
  if (flagsAt + FLAGS_BYTES > index.length) return undefined;
  const flags = index.readUInt16BE(flagsAt);
  const nameAt = flagsAt + FLAGS_BYTES + ((flags & EXTENDED_FLAG) === 0 ? 0 : EXTENDED_FLAGS_BYTES);
  const prefix = version === 4 ? prefixAt(index, nameAt, before) : { text: Buffer.alloc(0), end: nameAt };
  if (prefix === undefined) return undefined;
  const nameEnd = index.indexOf(0, prefix.end);
  if (nameEnd < 0) return undefined;
  const name = Buffer.concat([prefix.text, index.subarray(prefix.end, nameEnd)]);
  const isPlain = (flags & STAGE_FLAGS) === 0 && index.readUInt32BE(start + MODE_AT) >> 12 === REGULAR;
  // entries of older versions are filled up to a multiple of eight with one to eight null bytes
  const end = version === 4 ? nameEnd + 1 : start + (Math.floor((nameEnd - start) / 8) + 1) * 8;
  return { start, name, id: index.subarray(idAt, flagsAt), isPlain, end };
}

/** As much of the name before as the number at `start` leaves of it. */
function prefixAt(index: Buffer, start: number, before: Buffer): { text: Buffer; end: number } | undefined {
  let removed = 0;
  for (let at = start; at < Math.min(index.length, start + NUMBER_BYTES_MAX); at += 1) {
    const byte = index[at] ?? 0;
    removed = removed * 2 ** NUMBER_BITS + (byte & 0x7f);
    if ((byte & 0x80) === 0)
      return removed > before.length ? undefined : { text: before.subarray(0, before.length - removed), end: at + 1 };
    removed += 1;
  }
  return undefined;
}

/**
 * Whether nothing follows the entries that would change what they say (a shared index, or entries of directories), and
 * the sum of all of it is right; git may leave the sum out, as zeros.
 */
function isWhole(index: Buffer, start: number, sumBytes: number): boolean {
  const sum = index.subarray(index.length - sumBytes);
  const content = index.subarray(0, index.length - sumBytes);
  const isSum = createHash(sumBytes === SHA1_BYTES ? "sha1" : "sha256")
    .update(content)
    .digest()
    .equals(sum);
  if (!isSum && sum.some((byte) => byte !== 0)) return false;
  let at = start;
  while (at + 8 <= index.length - sumBytes) {
    const name = index.toString("latin1", at, at + 4);
    if (name === "link" || name === "sdir") return false;
    at += 8 + index.readUInt32BE(at + 4);
  }
  return at === index.length - sumBytes;
}
