/** A secret is found wherever the bytes are cut, and nothing else is. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { SecretScan } from "./secret-scan.ts";

const SECRET = { rule: "test", value: "s3cr3t-ü-value" };

function finds(bytes: Buffer, cuts: readonly number[]): boolean {
  const scan = new SecretScan([SECRET, { rule: "empty", value: "" }]);
  const borders = [0, ...[...cuts].sort((left, right) => left - right), bytes.byteLength];
  return borders.slice(1).some((end, index) => scan.finds(bytes.subarray(borders[index], end)));
}

test("a secret is found wherever it stands and however it is cut", () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), fc.array(fc.nat(64), { maxLength: 12 }), (before, after, cuts) => {
      const bytes = Buffer.from(before + SECRET.value + after);
      expect(
        finds(
          bytes,
          cuts.map((cut) => Math.min(cut, bytes.byteLength)),
        ),
      ).toBe(true);
    }),
  );
});

test("control: what is not whole is not found, also over many small pieces", () => {
  const almost = Buffer.from(SECRET.value.slice(0, -1).repeat(5));
  expect(finds(almost, [])).toBe(false);
  expect(
    finds(
      almost,
      Array.from({ length: almost.byteLength }, (_, index) => index),
    ),
  ).toBe(false);
});
