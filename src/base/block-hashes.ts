/**
 * Hashes content as it streams by: once as a whole, and once for every block.
 *
 * The hash of the whole names the content. The block hashes let any part be verified without the rest, and before it is
 * handed out.
 *
 * Pure. INVARIANT: every block but the last is `CONTENT_BLOCK_BYTES` long. Empty content has no block.
 */
import { blake3Digest, streamingHash } from "./hash.ts";
import { CONTENT_BLOCK_BYTES, HASH_SIZE } from "./limits.ts";

/** What is known of content once all of it was seen. */
export interface ContentDigest {
  readonly hash: string;
  readonly sizeBytes: number;
  /** The hashes of all blocks, one after the other. */
  readonly blocks: Uint8Array;
}

/** Hashes content block by block. */
export class BlockHasher {
  readonly #whole = streamingHash();
  readonly #blocks: Uint8Array[] = [];
  #sizeBytes = 0;

  /** Takes the next block: a full one, or the last. */
  add(block: Uint8Array): void {
    this.#whole.update(block);
    this.#blocks.push(blake3Digest(block));
    this.#sizeBytes += block.byteLength;
  }

  /** The digest of everything that was added. */
  digest(): ContentDigest {
    return { hash: this.#whole.hex(), sizeBytes: this.#sizeBytes, blocks: Buffer.concat(this.#blocks) };
  }
}

/** Whether `block` is the block number `index` of the content whose blocks have these hashes. */
export function isBlock(blocks: Uint8Array, index: number, block: Uint8Array): boolean {
  const expected = blocks.subarray(index * HASH_SIZE, (index + 1) * HASH_SIZE);
  return expected.byteLength === HASH_SIZE && Buffer.compare(expected, blake3Digest(block)) === 0;
}

/**
 * Gathers pieces of any size into blocks. A block is valid until the next one is asked for: its memory is used again.
 */
export async function* inBlocks(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let gathered: Buffer | undefined;
  let filled = 0;
  for await (const chunk of chunks) {
    let rest = chunk;
    while (rest.byteLength > 0) {
      if (filled === 0 && rest.byteLength >= CONTENT_BLOCK_BYTES) {
        yield rest.subarray(0, CONTENT_BLOCK_BYTES);
        rest = rest.subarray(CONTENT_BLOCK_BYTES);
        continue;
      }
      gathered ??= Buffer.allocUnsafeSlow(CONTENT_BLOCK_BYTES);
      const part = rest.subarray(0, CONTENT_BLOCK_BYTES - filled);
      gathered.set(part, filled);
      filled += part.byteLength;
      rest = rest.subarray(part.byteLength);
      if (filled < CONTENT_BLOCK_BYTES) continue;
      yield gathered;
      filled = 0;
    }
  }
  if (gathered && filled > 0) yield gathered.subarray(0, filled);
}
