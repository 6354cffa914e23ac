/**
 * Verifies a ledger's write-ahead log by its sums (SQLite's file format, sections 4.1 and 4.2).
 *
 * SQLite looks at them only when it recovers the log after a kill. Until then entries are found by a shared index,
 * while all from the first damaged frame on would be lost. The shared index itself is not opened: closing it gives up
 * the locks of the process.
 *
 * INVARIANT: a log that goes on has at least as many sound transactions as it had; one that was begun anew has other
 * salts. Frames that end no transaction may be overwritten.
 */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { MIB } from "../../../base/bytes.ts";
import { storeCorrupt } from "../../../base/errors.ts";

const HEADER_BYTES = 32;
const SUMMED_BYTES = 24;
const FRAME_HEADER_BYTES = 24;
/** Of a frame's header, what is summed with its page. */
const FRAME_SUMMED_BYTES = 8;
/** The last bit says in which order the bytes are summed. */
const MAGIC = 0x377f0682;
/** Reads, because another process may write right now, or begin the log anew. */
const READS_MAX = 3;
/** Bytes of a log that a look sums; it is written back long before it has as many. */
const SUMMED_MAX = 8 * MIB;

/** Where a frame says how large the database is with it, if it ends a transaction. */
const COMMITS_AT = 4;

/** What was found of a log: which one it is, and how many frames of it are sound, to the end of a transaction. */
interface Walked {
  readonly salts: bigint;
  readonly frames: number;
  /** It is longer than what is summed. */
  readonly isCut: boolean;
}

/** Looks after one log. */
export class SoundLog {
  readonly #path: string;
  #known: (Walked & { readonly sequence: number }) | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /**
   * Lets a log pass that is empty, or sound as far as it was, and further where something was written since.
   * @param sequence of the last entry that was written before
   * @throws KernelError STORE_CORRUPT
   */
  require(sequence: number): void {
    for (let reads = 0; reads < READS_MAX; reads += 1) {
      const walked = walk(this.#path);
      if (walked === "damaged" || (walked !== "empty" && this.#isShort(walked, sequence))) continue;
      this.#known = walked === "empty" ? undefined : { ...walked, sequence };
      return;
    }
    throw storeCorrupt(`\`${this.#path}\` is not what was written to it`);
  }

  #isShort({ salts, frames, isCut }: Walked, sequence: number): boolean {
    const known = this.#known;
    if (known?.salts !== salts) return false;
    return frames < known.frames || (frames === known.frames && sequence > known.sequence && !isCut);
  }
}

function walk(path: string): Walked | "empty" | "damaged" {
  const file = openSync(path, "r");
  try {
    const log = Buffer.alloc(Math.min(fstatSync(file).size, SUMMED_MAX));
    const length = readSync(file, log, 0, log.length, 0);
    return length === 0 ? "empty" : walked(log.subarray(0, length), log.length === SUMMED_MAX);
  } finally {
    closeSync(file);
  }
}

function walked(log: Buffer, isCut: boolean): Walked | "damaged" {
  if (log.length < HEADER_BYTES || (log.readUInt32BE(0) | 1) !== (MAGIC | 1)) return "damaged";
  const sum = new Sum(log, log.readUInt32BE(0) !== MAGIC);
  sum.add(0, SUMMED_BYTES);
  if (!sum.isAt(SUMMED_BYTES)) return "damaged";
  const salts = log.readBigUInt64BE(16);
  const pageBytes = log.readUInt32BE(8);
  let committed = 0;
  let frames = 0;
  for (let at = HEADER_BYTES; at + FRAME_HEADER_BYTES + pageBytes <= log.length; at += FRAME_HEADER_BYTES + pageBytes) {
    if (log.readBigUInt64BE(at + 8) !== salts) break; // of the log before
    sum.add(at, FRAME_SUMMED_BYTES);
    sum.add(at + FRAME_HEADER_BYTES, pageBytes);
    if (!sum.isAt(at + 16)) break; // damage, or what a killed process had not written to its end
    frames += 1;
    if (log.readUInt32BE(at + COMMITS_AT) !== 0) committed = frames;
  }
  return { salts, frames: committed, isCut };
}

/** The running sum of a log: two words that depend on everything before. */
class Sum {
  readonly #log: Buffer;
  readonly #isBigEndian: boolean;
  #first = 0;
  #second = 0;

  constructor(log: Buffer, isBigEndian: boolean) {
    this.#log = log;
    this.#isBigEndian = isBigEndian;
  }

  add(from: number, bytes: number): void {
    for (let at = from; at < from + bytes; at += 8) {
      this.#first = (this.#first + this.#word(at) + this.#second) >>> 0;
      this.#second = (this.#second + this.#word(at + 4) + this.#first) >>> 0;
    }
  }

  /** Whether it is what stands there. */
  isAt(at: number): boolean {
    return this.#first === this.#log.readUInt32BE(at) && this.#second === this.#log.readUInt32BE(at + 4);
  }

  #word(at: number): number {
    return this.#isBigEndian ? this.#log.readUInt32BE(at) : this.#log.readUInt32LE(at);
  }
}
