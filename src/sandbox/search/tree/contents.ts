/**
 * The bytes of a file that is to be searched, inside a search thread.
 *
 * Trusts: that the directory is held open by the search and the name was judged. INVARIANTS: the name is opened in that
 * directory without following links, leaving it or crossing mounts; only regular files are read; one buffer serves all
 * files of a thread, so that what is returned holds until the next call.
 */
import { constants } from "node:fs";
import { KIB, MIB } from "../../../base/bytes.ts";
import type { SkippedFiles } from "../../../model/work/search.ts";
import {
  closeDescriptor,
  errno,
  isWant,
  openAgain,
  openBeneath,
  readNext,
  regularFileSize,
} from "../../native/syscalls.ts";

/** Bytes of a file that is searched (Brio: 10 MB); larger ones are counted as skipped. */
export const SEARCH_FILE_BYTES_MAX = 10 * MIB;
/** Bytes at the beginning of a file in which a null byte makes it binary. */
export const SEARCH_BINARY_PROBE_BYTES = 8 * KIB;

/** Why a file is left out. What comes of the machine's want of descriptors or memory is no such reason. */
export type SkipReason = keyof SkippedFiles;

// A FIFO that was swapped in for a regular file is not waited for, as nothing is, and not read from.
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW;
const FIRST_BYTES = 64 * 1024;

let buffer = Buffer.allocUnsafeSlow(FIRST_BYTES);

/** The bytes of `name` in `directory`, or of the file that `directory` itself is when the name is empty. */
export function contentsOf(directory: number, name: string): Buffer | SkipReason | "busy" {
  const descriptor = name === "" ? openAgain(directory) : openBeneath(directory, name, FLAGS, "plain");
  if (isWant(descriptor)) return "busy";
  if (descriptor < 0) return descriptor === -errno.ENOENT ? "vanished" : "unreadable";
  try {
    return readFrom(descriptor);
  } finally {
    closeDescriptor(descriptor);
  }
}

function readFrom(descriptor: number): Buffer | SkipReason {
  const sizeBytes = regularFileSize(descriptor);
  if (sizeBytes === undefined) return "unreadable";
  if (sizeBytes > SEARCH_FILE_BYTES_MAX) return "tooLarge";
  if (sizeBytes > buffer.length) buffer = Buffer.allocUnsafeSlow(Math.min(SEARCH_FILE_BYTES_MAX, 2 * sizeBytes));
  let done = 0;
  while (done < sizeBytes) {
    // The beginning comes first, so that a large binary file is not read for nothing.
    const step = done === 0 ? Math.min(FIRST_BYTES, sizeBytes) : sizeBytes - done;
    const count = readNext(descriptor, buffer.subarray(done, done + step));
    if (count < 0) return "unreadable";
    if (count === 0) break; // it became shorter meanwhile
    if (done === 0 && buffer.subarray(0, Math.min(count, SEARCH_BINARY_PROBE_BYTES)).includes(0)) return "binary";
    done += count;
  }
  return buffer.subarray(0, done);
}
