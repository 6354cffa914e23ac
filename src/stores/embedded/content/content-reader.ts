/**
 * Verified reading: block by block, each compared with its hash before it is handed out.
 *
 * INVARIANT: no byte that does not fit leaves, and nobody is told that an altered object ended well.
 */
import { closeSync, read as readWithCallback, type Stats } from "node:fs";
import { promisify } from "node:util";
import { isBlock } from "../../../base/block-hashes.ts";
import { HASH_SIZE } from "../../../base/limits.ts";
import type { BlockMemory, ContentRange } from "../../../cas/content-store.ts";

const readAsync = promisify(readWithCallback);

/** An object that is open, and what its bytes must be. */
export interface OpenObject {
  readonly descriptor: number;
  readonly stats: Stats;
  readonly sizeBytes: number;
  readonly blockBytes: number;
  readonly blocks: Uint8Array;
}

/**
 * Yields the bytes of a range, verified; returns early, having yielded no wrong byte, when the object was altered.
 * While a block is used the next one is read. Lent memory serves every other block.
 */
export async function* verifiedBytes(
  object: OpenObject,
  { offset, length }: ContentRange,
  memory: BlockMemory,
): AsyncGenerator<Uint8Array, "intact" | "altered"> {
  const { descriptor, stats, sizeBytes, blockBytes, blocks } = object;
  const end = Math.min(sizeBytes, offset + length);
  const count = Math.ceil(end / blockBytes);
  const lent: [Buffer?, Buffer?] = [];
  const memoryOf = (index: number, size: number): Buffer => {
    if (memory === "own") return Buffer.allocUnsafeSlow(size);
    const side = index % 2 === 0 ? 0 : 1;
    lent[side] ??= Buffer.allocUnsafeSlow(Math.min(blockBytes, sizeBytes));
    return lent[side].subarray(0, size);
  };
  const load = (index: number): Promise<Uint8Array> => {
    const start = index * blockBytes;
    const loading = readFully(descriptor, start, memoryOf(index, Math.min(blockBytes, sizeBytes - start)));
    loading.catch(() => undefined); // whoever awaits it is told
    return loading;
  };
  let ahead: Promise<Uint8Array> | undefined;
  try {
    if (stats.size !== sizeBytes || blocks.byteLength !== Math.ceil(sizeBytes / blockBytes) * HASH_SIZE)
      return "altered";
    for (let index = Math.floor(offset / blockBytes); index < count; index += 1) {
      const block = await (ahead ?? load(index));
      ahead = index + 1 < count ? load(index + 1) : undefined;
      if (!isBlock(blocks, index, block)) return "altered";
      const start = index * blockBytes;
      yield block.subarray(Math.max(0, offset - start), end - start);
    }
    return "intact";
  } finally {
    await ahead?.catch(() => undefined); // the descriptor must outlive the read
    closeSync(descriptor);
  }
}

/** Fills `bytes` from `position`; what is filled ends with the file. */
async function readFully(descriptor: number, position: number, bytes: Buffer): Promise<Uint8Array> {
  let done = 0;
  while (done < bytes.byteLength) {
    const { bytesRead } = await readAsync(descriptor, bytes, done, bytes.byteLength - done, position + done);
    if (bytesRead === 0) break;
    done += bytesRead;
  }
  return bytes.subarray(0, done);
}
