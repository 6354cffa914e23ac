// What is kept of a stream of output.
import fc from "fast-check";
import { expect, test } from "vitest";
import { CapturedOutput } from "../../../src/sandbox/run/captured-output.ts";

function captured(bytesMax: number, pieces: readonly Uint8Array[]) {
  const output = new CapturedOutput(bytesMax);
  for (const piece of pieces) output.push(piece);
  return output;
}

test("beginning, what is left out and end make the input, whatever pieces it comes in", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 12 }),
      fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 12 }),
      (bytesMax, pieces) => {
        const whole = Buffer.concat(pieces);
        const output = captured(bytesMax, pieces);
        const { head, tail, omittedBytes, totalBytes } = output.parts();
        const tailBytes = Math.min(bytesMax, Math.max(0, whole.length - bytesMax));
        expect([totalBytes, output.totalBytes]).toEqual([whole.length, whole.length]);
        expect(Buffer.from(head).equals(whole.subarray(0, bytesMax))).toBe(true);
        expect(Buffer.from(tail).equals(whole.subarray(whole.length - tailBytes))).toBe(true);
        expect(head.length + omittedBytes + tail.length).toBe(whole.length);
      },
    ),
    { numRuns: 300 },
  );
});

test("pieces are copied: what is kept does not change with the buffer it came in", () => {
  const buffer = Buffer.from("abcdef");
  const output = captured(3, [buffer]);
  buffer.fill("x");
  const { head, tail } = output.parts();
  expect([Buffer.from(head).toString(), Buffer.from(tail).toString()]).toEqual(["abc", "def"]);
});

test("exactly what is kept is kept whole, one more byte moves into the end", () => {
  const parts = (text: string) => captured(4, [Buffer.from(text)]).parts();
  expect(parts("1234")).toEqual({ head: Buffer.from("1234"), tail: Buffer.alloc(0), omittedBytes: 0, totalBytes: 4 });
  expect(parts("12345678")).toEqual({
    head: Buffer.from("1234"),
    tail: Buffer.from("5678"),
    omittedBytes: 0,
    totalBytes: 8,
  });
  expect(parts("123456789")).toEqual({
    head: Buffer.from("1234"),
    tail: Buffer.from("6789"),
    omittedBytes: 1,
    totalBytes: 9,
  });
});
