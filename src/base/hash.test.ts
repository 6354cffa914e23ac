// A keyed digest depends on its key and its bytes alone, whatever was digested before it.
import { Blake3Hasher } from "@napi-rs/blake-hash";
import fc from "fast-check";
import { expect, test } from "vitest";
import { blake3Keyed } from "./hash.ts";

test("keyed digests are those of a new hasher, whatever keys and texts came before", () => {
  const keys = [0, 1, 2].map((value) => new Uint8Array(32).fill(value));
  const asked = fc.record({ key: fc.constantFrom(...keys), bytes: fc.oneof(fc.string(), fc.uint8Array({ maxLength: 5000 })) });
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
