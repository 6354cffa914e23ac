/** Content is hashed the same however it is cut into pieces, and every block can be told from any other. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { BlockHasher, type ContentDigest, inBlocks, isBlock } from "../../src/base/block-hashes.ts";
import { blake3Hex } from "../../src/base/hash.ts";
import { CONTENT_BLOCK_BYTES, CONTENT_BYTES_MAX, MAX_READ_LIMIT } from "../../src/base/limits.ts";

async function digestOf(pieces: readonly Uint8Array[]): Promise<ContentDigest> {
  const hasher = new BlockHasher();
  async function* chunks(): AsyncGenerator<Uint8Array> {
    yield* pieces;
  }
  for await (const block of inBlocks(chunks())) hasher.add(block);
  return hasher.digest();
}

test("the digest does not depend on how the bytes are cut", async () => {
  const bytes = Buffer.alloc(2 * CONTENT_BLOCK_BYTES + 12_345);
  for (let at = 0; at < bytes.byteLength; at += 1) bytes[at] = (at * 31 + (at >> 8)) & 0xff;
  const whole = await digestOf([bytes]);
  expect([whole.hash, whole.sizeBytes, whole.blocks.byteLength]).toEqual([blake3Hex(bytes), bytes.byteLength, 3 * 32]);
  const cuts = fc.array(fc.integer({ min: 0, max: bytes.byteLength }), { maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(cuts, async (at) => {
      const borders = [0, ...at.sort((left, right) => left - right), bytes.byteLength];
      const pieces = borders.slice(1).map((end, index) => bytes.subarray(borders[index], end));
      expect(await digestOf(pieces)).toEqual(whole);
    }),
    { numRuns: 20 },
  );
});

test("a block is known by its place and every one of its bytes", async () => {
  const [first, second] = [Buffer.alloc(CONTENT_BLOCK_BYTES, 1), Buffer.from("rest")];
  const { blocks } = await digestOf([first, second]);
  expect([isBlock(blocks, 0, first), isBlock(blocks, 1, second)]).toEqual([true, true]);
  expect([isBlock(blocks, 1, first), isBlock(blocks, 2, second), isBlock(blocks, 1, Buffer.from("resu"))]).toEqual([
    false,
    false,
    false,
  ]);
});

test("no bytes have no block", async () => {
  expect(await digestOf([])).toEqual({ hash: blake3Hex(""), sizeBytes: 0, blocks: Buffer.alloc(0) });
});

test("the largest read fits an object (INV-0008)", () => {
  expect(CONTENT_BYTES_MAX).toBeGreaterThanOrEqual(MAX_READ_LIMIT);
});
