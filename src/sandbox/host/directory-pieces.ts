/** Reads a directory in pieces, where it is so large that reading it at once would hold up everything else. */
import { type Dirent, opendirSync, readdirSync, statSync } from "node:fs";

/** Bytes that the machine says of a directory, from which on it is read in pieces: some ten thousand names. */
const LARGE_BYTES = 524_288;
/** Entries that are read from the machine at once, before others may have their turn. */
const PIECE_ENTRIES = 1024;

/** An entry with the bytes of its name. */
export type RawEntry = Dirent<Buffer>;

/** Whether a directory is so large that it should be read in pieces. */
export function isLargeDirectory(path: string): boolean {
  return statSync(path).size >= LARGE_BYTES; // of the directory, also where it is named by a descriptor in `/proc`
}

/**
 * The entries of the directory at `path`, in any order.
 * @param entriesMax after more than these it stops
 */
export function* entriesIn(path: string, entriesMax: number): Generator<void, readonly RawEntry[]> {
  if (!isLargeDirectory(path)) return readdirSync(path, { withFileTypes: true, encoding: "buffer" });
  // the types know of texts only
  const options = { encoding: "buffer" as BufferEncoding, bufferSize: PIECE_ENTRIES };
  const directory = opendirSync(path, options);
  const entries: RawEntry[] = [];
  try {
    for (let next = directory.readSync(); next !== null; next = directory.readSync()) {
      entries.push(next as unknown as RawEntry);
      if (entries.length > entriesMax) break;
      if (entries.length % PIECE_ENTRIES === 0) yield;
    }
  } finally {
    directory.closeSync();
  }
  return entries;
}
