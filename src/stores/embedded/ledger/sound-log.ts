/**
 * Verifies a ledger's write-ahead log by its sums (SQLite's file format, sections 4.1 and 4.2).
 *
 * SQLite looks at them only when it recovers the log after a kill. Until then entries are found by a shared index,
 * while all from the first damaged frame on would be lost, or written back as they are. The shared index itself is not
 * opened: closing it gives up the locks of the process. SQLite says how many frames it holds to be committed.
 */
import { closeSync, constants, openSync, readSync } from "node:fs";
import { endianness } from "node:os";
import type { Database } from "better-sqlite3";
import { errorCode, ledgerUnavailable, storeCorrupt } from "../../../base/errors.ts";
import { standsUntil } from "../state/database.ts";

const HEADER_BYTES = 32;
const SUMMED_BYTES = 24;
const FRAME_HEADER_BYTES = 24;
/** Of a frame's header, what is summed with its page. */
const FRAME_SUMMED_BYTES = 8;
/** The last bit says in which order the bytes are summed. */
const MAGIC = 0x377f0682;
const PAGE_BYTES_MIN = 512;
const PAGE_BYTES_MAX = 65_536;
/** Frames that are read at once. */
const FRAMES = 64;
/** Reads, because another process may begin the log anew right now. */
const READS_MAX = 3;

/** Counts the frames that SQLite takes for committed. */
export class LogFrames {
  readonly #count;

  constructor(database: Database) {
    this.#count = database.prepare<[], { readonly log: number }>("PRAGMA wal_checkpoint(NOOP)");
  }

  /** How many there are now. While another process changes the shared index, SQLite does not say. */
  count(): number {
    let frames = -1;
    const isSaid = standsUntil(() => {
      frames = this.#count.get()?.log ?? -1;
      return frames >= 0;
    });
    if (!isSaid) throw ledgerUnavailable("the log of `ledger.db` cannot be looked at; try again");
    return frames;
  }
}

/**
 * Lets a log pass whose committed frames are what was written to it, or the first `framesMax` of them.
 * @param open gives its file
 * @throws KernelError STORE_CORRUPT
 */
export function requireSound(frames: LogFrames, open: () => number | undefined, framesMax = Infinity): void {
  for (let reads = 0; reads < READS_MAX; reads += 1) {
    const needed = Math.min(frames.count(), framesMax);
    const file = needed === 0 ? undefined : open();
    if (needed === 0 || (file !== undefined && isSound(file, needed))) return;
  }
  throw storeCorrupt("`ledger.db-wal` in the state directory is not what was written to it");
}

/** The same of the log that stands beside the database at `path`. */
export function requireSoundAt(database: Database, path: string, framesMax: number): void {
  let file: number | undefined;
  const close = (): void => {
    if (file !== undefined) closeSync(file);
    file = undefined;
  };
  const open = (): number | undefined => {
    close();
    file = openLog(path);
    return file;
  };
  try {
    requireSound(new LogFrames(database), open, framesMax);
  } finally {
    close();
  }
}

/** `undefined` when there is none. */
export function openLog(path: string): number | undefined {
  try {
    return openSync(`${path}-wal`, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** Whether the first `needed` frames are what their sums say. */
function isSound(file: number, needed: number): boolean {
  const header = Buffer.alloc(HEADER_BYTES);
  if (readSync(file, header, 0, HEADER_BYTES, 0) < HEADER_BYTES) return false;
  const magic = header.readUInt32BE(0);
  const pageBytes = header.readUInt32BE(8);
  if ((magic | 1) !== (MAGIC | 1) || pageBytes < PAGE_BYTES_MIN || pageBytes > PAGE_BYTES_MAX || pageBytes % 8 !== 0)
    return false;
  const sum = new Sum(magic === MAGIC ? "LE" : "BE");
  sum.take(header);
  sum.add(0, SUMMED_BYTES);
  if (!sum.isAt(header, SUMMED_BYTES)) return false;
  const salts = header.readBigUInt64BE(16);
  const frameBytes = FRAME_HEADER_BYTES + pageBytes;
  const frames = Buffer.alloc(FRAMES * frameBytes);
  for (let done = 0; done < needed; done += FRAMES) {
    const bytes = Math.min(FRAMES, needed - done) * frameBytes;
    if (readSync(file, frames, 0, bytes, HEADER_BYTES + done * frameBytes) < bytes) return false;
    sum.take(frames);
    for (let at = 0; at < bytes; at += frameBytes) {
      if (frames.readBigUInt64BE(at + 8) !== salts) return false; // of the log before
      sum.add(at, FRAME_SUMMED_BYTES);
      sum.add(at + FRAME_HEADER_BYTES, pageBytes);
      if (!sum.isAt(frames, at + 16)) return false;
    }
  }
  return true;
}

/** The running sum of a log: two words that depend on everything before. */
class Sum {
  readonly #isSwapped: boolean;
  #words = new Int32Array();
  #first = 0;
  #second = 0;

  constructor(order: ReturnType<typeof endianness>) {
    this.#isSwapped = order !== endianness();
  }

  /** From now on, these bytes are added to it. */
  take(bytes: Buffer): void {
    const { buffer } = new Uint8Array(bytes);
    if (this.#isSwapped) Buffer.from(buffer).swap32();
    this.#words = new Int32Array(buffer);
  }

  add(from: number, bytes: number): void {
    const words = this.#words;
    for (let at = from / 4; at < (from + bytes) / 4; at += 2) {
      this.#first = (this.#first + (words[at] ?? 0) + this.#second) | 0;
      this.#second = (this.#second + (words[at + 1] ?? 0) + this.#first) | 0;
    }
  }

  /** Whether it is what stands there. */
  isAt(bytes: Buffer, at: number): boolean {
    return this.#first === bytes.readInt32BE(at) && this.#second === bytes.readInt32BE(at + 4);
  }
}
