/** Digests are those of BLAKE3, and what is hashed in turns does not mix. */
import { Blake3Hasher } from "@napi-rs/blake-hash";
import fc from "fast-check";
import { expect, test } from "vitest";
import { hex, utf8 } from "../../src/base/bytes.ts";
import {
  blake3Digest,
  blake3Hex,
  blake3Keyed,
  blake3KeyedHex,
  blake3Salted,
  streamingHash,
} from "../../src/base/hash.ts";

const EMPTY = "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262";
const ABC = "6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85";
/** Key and digest of no input are those of the official test vectors. */
const KEY = utf8("whats the Elvish word for friend");
const KEYED_EMPTY = "92b2b75604ed3c761f9d6f62392c8a9227ad0ea3f09573e783f1498a4ed60d26";

test("digests are those of the published vectors", () => {
  expect([blake3Hex(""), blake3Hex("abc"), hex(blake3Digest(utf8("abc")))]).toEqual([EMPTY, ABC, ABC]);
  expect([blake3KeyedHex(KEY, ""), hex(blake3Keyed(KEY, new Uint8Array()))]).toEqual([KEYED_EMPTY, KEYED_EMPTY]);
});

test("a digest is the same whatever was hashed before, under whatever key", () => {
  const other = new Uint8Array(32).fill(7);
  const bytes = fc.uint8Array({ maxLength: 3000 });
  fc.assert(
    fc.property(bytes, bytes, (left, right) => {
      const streaming = streamingHash();
      streaming.update(left);
      const keyed = [blake3KeyedHex(KEY, left), blake3KeyedHex(other, left), blake3KeyedHex(KEY, right)];
      streaming.update(right);
      expect([blake3KeyedHex(KEY, left), blake3KeyedHex(other, left), blake3KeyedHex(KEY, right)]).toEqual(keyed);
      expect(new Set([keyed[0], keyed[1], blake3Hex(left)]).size).toBe(3);
      const whole = blake3Hex(Buffer.concat([left, right]));
      expect([hex(blake3Salted(left, right)), streaming.hex()]).toEqual([whole, whole]);
    }),
  );
});

test("a salted digest is that of salt and bytes in one piece, whatever their lengths and whatever was salted before", () => {
  const lengths = [0, 1, 31, 32, 33, 1023, 1024, 1025, 4063, 4064, 4065, 4095, 4096, 4097, 10_000];
  for (const saltLength of [0, 1, 32, 5000]) {
    for (const length of lengths) {
      const [salt, bytes] = [new Uint8Array(saltLength).fill(length), new Uint8Array(length).fill(saltLength + 1)];
      const whole = new Blake3Hasher().update(Buffer.concat([salt, bytes])).digest("hex");
      expect(hex(blake3Salted(salt, bytes))).toBe(whole);
      expect(hex(blake3Digest(Buffer.concat([salt, bytes])))).toBe(whole);
    }
  }
});

test("keyed digests are those of a new hasher, whatever keys and texts came before", () => {
  const keys = [0, 1, 2].map((value) => new Uint8Array(32).fill(value));
  const asked = fc.record({
    key: fc.constantFrom(...keys),
    bytes: fc.oneof(fc.string(), fc.uint8Array({ maxLength: 5000 })),
  });
  fc.assert(
    fc.property(fc.array(asked, { maxLength: 8 }), (all) => {
      for (const { key, bytes } of all) {
        const own = Blake3Hasher.newKeyed(Buffer.from(key)).update(bytes).digest("hex");
        expect(Buffer.from(blake3Keyed(key, bytes)).toString("hex")).toBe(own);
      }
    }),
  );
});

test("a key that changes in place is another key, and one of the wrong length leaves the others as they are", () => {
  const key = new Uint8Array(32);
  const before = blake3Keyed(key, "text");
  key[0] = 1;
  expect(blake3Keyed(key, "text")).not.toEqual(before);
  expect(() => blake3Keyed(new Uint8Array(31), "text")).toThrow();
  expect(blake3Keyed(new Uint8Array(32), "text")).toEqual(before);
});
