/** Copies an open file in pieces, but for blocks of nothing but zeros, which become holes. */
import { ftruncateSync, readSync, writeSync } from "node:fs";
import { FILE_CHUNK_BYTES } from "./read.ts";

/** Bytes of zeros in a row that become a hole where they are a block. */
const HOLE_BYTES = 65_536;
const ZEROS = Buffer.alloc(HOLE_BYTES);
const piece = Buffer.allocUnsafe(FILE_CHUNK_BYTES); // each step reads and writes at once, so one is enough

/** Copies `source`, from where it stands, to the empty file `made`; each step is one piece. @returns its bytes */
export function* copyBytes(source: number, made: number): Generator<void, number> {
  let offset = 0;
  for (let length = readSync(source, piece); length > 0; length = readSync(source, piece)) {
    for (let at = 0; at < length; at += HOLE_BYTES) {
      const block = piece.subarray(at, Math.min(at + HOLE_BYTES, length));
      if (block.equals(ZEROS.subarray(0, block.length))) continue;
      for (let done = 0; done < block.length; )
        done += writeSync(made, block, done, block.length - done, offset + at + done);
    }
    offset += length;
    yield;
  }
  ftruncateSync(made, offset);
  return offset;
}
