/** Frames: whole ones come out however the bytes come in, and nothing is allocated for what was only declared. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FRAME_BYTES_MAX } from "../../src/base/limits.ts";
import { FrameReader, frame, frameSize, writeFrame } from "../../src/wire/frame.ts";
import { WireError } from "../../src/wire/wire-error.ts";

function drain(reader: FrameReader): number[][] {
  const frames: number[][] = [];
  for (let next = reader.next(); next !== undefined; next = reader.next()) frames.push([...next]);
  return frames;
}

test("frames come out whole, however the bytes are cut", () => {
  const contents = fc.array(fc.uint8Array({ maxLength: 400 }), { maxLength: 8 });
  fc.assert(
    fc.property(contents, fc.infiniteStream(fc.integer({ min: 1, max: 300 })), (list, cuts) => {
      const stream = Buffer.concat(list.map((content) => frame(content)));
      const reader = new FrameReader();
      const found: number[][] = [];
      for (let at = 0; at < stream.length; ) {
        const size = cuts.next().value ?? 1;
        reader.push(stream.subarray(at, at + size));
        found.push(...drain(reader));
        at += size;
      }
      expect(found).toEqual(list.map((content) => [...content]));
      expect(reader.midFrame).toBe(false);
    }),
    { numRuns: 200 },
  );
});

test("a frame that comes byte by byte comes out once it is whole", () => {
  const reader = new FrameReader();
  const bytes = frame(new Uint8Array(200).fill(7));
  for (const byte of bytes.subarray(0, -1)) {
    reader.push(Uint8Array.of(byte));
    expect(reader.next()).toBeUndefined();
    expect(reader.midFrame).toBe(true);
  }
  reader.push(bytes.subarray(-1));
  expect(drain(reader)).toEqual([new Array(200).fill(7)]);
});

test("an empty frame is an empty message", () => {
  const reader = new FrameReader();
  reader.push(Uint8Array.of(0, 0));
  expect(drain(reader)).toEqual([[], []]);
});

describe("the length of a frame", () => {
  test("may be the limit", () => {
    const reader = new FrameReader(300);
    reader.push(frame(new Uint8Array(300)));
    expect(reader.next()).toHaveLength(300);
  });

  test("may not be one more than the limit, which is found before a byte of it has come", () => {
    const reader = new FrameReader(300);
    reader.push(frame(new Uint8Array(301)).subarray(0, 2));
    expect(() => reader.next()).toThrow(
      "a frame is larger than 300 bytes; store large content first and name it by hash",
    );
  });

  test("is refused for good: a stream that lost its place gives no more frames", () => {
    const reader = new FrameReader(10);
    reader.push(Uint8Array.of(11));
    expect(() => reader.next()).toThrow(WireError);
    reader.push(frame(Uint8Array.of(1)));
    expect(() => reader.next()).toThrow(WireError);
  });

  test.each([
    ["longer than it need be", [0x81, 0x00]],
    ["zero in two bytes", [0x80, 0x00]],
    ["without an end", [0xff, 0xff, 0xff, 0xff, 0xff]],
    ["of four gigabytes", [0xff, 0xff, 0xff, 0xff, 0x0f]],
  ])("is refused when it is %s", (_, bytes) => {
    const reader = new FrameReader();
    reader.push(Uint8Array.from(bytes));
    expect(() => reader.next()).toThrow(WireError);
  });

  test("allocates nothing by itself: memory follows the bytes that came", () => {
    const reader = new FrameReader();
    reader.push(frame(new Uint8Array(FRAME_BYTES_MAX)).subarray(0, 10));
    expect(reader.next()).toBeUndefined();
    expect(reader.heldBytes).toBeLessThanOrEqual(64 * 1024);
    reader.push(new Uint8Array(1024 * 1024));
    expect(reader.next()).toBeUndefined();
    expect(reader.heldBytes).toBeLessThanOrEqual(3 * 1024 * 1024);
  });
});

test.each([0, 1, 127, 128, 16_383, 16_384, 70_000])(
  "a frame around %i bytes has the size that was foretold",
  (length) => {
    const target = new Uint8Array(frameSize(length));
    expect(writeFrame(target, 0, new Uint8Array(length))).toBe(target.length);
    expect(Buffer.compare(target, frame(new Uint8Array(length)))).toBe(0);
  },
);
