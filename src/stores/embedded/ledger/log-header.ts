/**
 * Verifies the header of a ledger's write-ahead log (SQLite's file format, section 4.1).
 *
 * SQLite looks at it again only when it recovers the log after a kill. Until then entries are found by a shared index,
 * while all of them would be lost with the header.
 */
import { closeSync, openSync, readSync } from "node:fs";
import { storeCorrupt } from "../../../base/errors.ts";

const HEADER_BYTES = 32;
const SUMMED_BYTES = 24;
/** The last bit says in which order the bytes are summed. */
const MAGIC = 0x377f0682;
/** Reads, because another process may begin the log anew meanwhile. */
const READS_MAX = 3;

/** Lets a log pass that is empty or begins as SQLite wrote it. @throws KernelError STORE_CORRUPT */
export function requireSoundLog(path: string): void {
  for (let reads = 0; reads < READS_MAX; reads += 1) if (isSound(firstBytes(path))) return;
  throw storeCorrupt(`\`${path}\` does not begin as a log does`);
}

function firstBytes(path: string): Buffer {
  const file = openSync(path, "r");
  try {
    const header = Buffer.alloc(HEADER_BYTES);
    return header.subarray(0, readSync(file, header, 0, HEADER_BYTES, 0));
  } finally {
    closeSync(file);
  }
}

function isSound(header: Buffer): boolean {
  if (header.length === 0) return true;
  if (header.length < HEADER_BYTES || (header.readUInt32BE(0) | 1) !== (MAGIC | 1)) return false;
  const isBigEndian = header.readUInt32BE(0) !== MAGIC;
  const word = (at: number) => (isBigEndian ? header.readUInt32BE(at) : header.readUInt32LE(at));
  let [first, second] = [0, 0];
  for (let at = 0; at < SUMMED_BYTES; at += 8) {
    first = (first + word(at) + second) >>> 0;
    second = (second + word(at + 4) + first) >>> 0;
  }
  return first === header.readUInt32BE(SUMMED_BYTES) && second === header.readUInt32BE(SUMMED_BYTES + 4);
}
