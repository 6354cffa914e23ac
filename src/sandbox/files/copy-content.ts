/** Copies an open file in pieces, but for holes and blocks of nothing but zeros, which become holes. */
import { fstatSync, ftruncateSync, readSync, writeSync } from "node:fs";
import { dataFrom } from "../native/layer-calls.ts";
import { FILE_CHUNK_BYTES } from "./read.ts";

/** Bytes of zeros in a row that become a hole where they are a block. */
const HOLE_BYTES = 65_536;
const ZEROS = Buffer.alloc(HOLE_BYTES);
const piece = Buffer.allocUnsafe(FILE_CHUNK_BYTES); // each step reads and writes at once, so one is enough

/**
 * Copies `source`, all of it, to the empty file `made`; each step is one piece. Holes are not read: a file of nothing
 * else costs nothing, whatever its size.
 * @param onRead told of bytes that were read, before they are written
 * @returns its bytes
 */
export function* copyBytes(
  source: number,
  made: number,
  onRead: (bytes: number) => void = () => undefined,
): Generator<void, number> {
  let offset = 0;
  for (let data = dataFrom(source, offset); data !== undefined; data = dataFrom(source, offset)) {
    const { from, to } = data;
    const length = readSync(source, piece, 0, Math.min(piece.length, to - from), from);
    if (length === 0) break;
    onRead(length);
    for (let at = 0; at < length; at += HOLE_BYTES) {
      const block = piece.subarray(at, Math.min(at + HOLE_BYTES, length));
      if (block.equals(ZEROS.subarray(0, block.length))) continue;
      for (let done = 0; done < block.length; )
        done += writeSync(made, block, done, block.length - done, from + at + done);
    }
    offset = from + length;
    yield;
  }
  const bytes = Math.max(offset, fstatSync(source).size); // what is left is a hole
  ftruncateSync(made, bytes);
  return bytes;
}
