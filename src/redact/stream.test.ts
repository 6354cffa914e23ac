// A secret is hidden wherever a stream of bytes is cut.
import fc from "fast-check";
import { expect, test } from "vitest";
import { RedactingStream } from "./stream.ts";

const SECRET = { rule: "session-token", value: "ses_abc.0123456789" };

function through(pieces: readonly Uint8Array[]): string {
  const stream = new RedactingStream([SECRET]);
  const out = pieces.map((piece) => Buffer.from(stream.push(piece)).toString("latin1"));
  return out.join("") + Buffer.from(stream.end()).toString("latin1");
}

test("a secret is hidden wherever the pieces are cut", () => {
  const text = Buffer.from(`before ${SECRET.value} between ${SECRET.value}${SECRET.value} after`);
  for (let first = 0; first <= text.length; first += 1) {
    for (let second = first; second <= text.length; second += 1) {
      const pieces = [text.subarray(0, first), text.subarray(first, second), text.subarray(second)];
      expect(through(pieces)).toBe("before [REDACTED:session-token] between [REDACTED:session-token][REDACTED:session-token] after");
    }
  }
});

test("control: hiding it piece by piece shows a secret that two pieces share", () => {
  const halves = [SECRET.value.slice(0, 8), SECRET.value.slice(8)];
  expect(halves.map((half) => half.replaceAll(SECRET.value, "hidden")).join("")).toBe(SECRET.value);
});

test("bytes without a secret come out as they went in, text or not", () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 64 }), { maxLength: 8 }), (pieces) => {
      expect(Buffer.from(through(pieces), "latin1")).toEqual(Buffer.concat(pieces));
    }),
    { numRuns: 200 },
  );
});

test("without secrets nothing is held back", () => {
  expect(Buffer.from(new RedactingStream([]).push(Buffer.from("now"))).toString()).toBe("now");
});
