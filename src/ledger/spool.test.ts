// The frames of a spool: what was written is read back, and what was not written is never read.
import fc from "fast-check";
import { expect, test } from "vitest";
import { utf8 } from "../base/bytes.ts";
import { canonicalJson } from "../base/json.ts";
import type { PendingEntry } from "./chain.ts";
import { decodeFrames, encodeFrame } from "./spool.ts";

const text = fc.string({ unit: "grapheme", maxLength: 12 });
const anyEntry: fc.Arbitrary<PendingEntry> = fc.record({
  eventType: fc.constantFrom("tool_executed", "tool_audit"),
  sessionId: text,
  actor: fc.oneof(text, fc.constantFrom("a\tb", "a\nb", "\u2028")),
  requestId: text,
  timeMicros: fc.nat(),
  payload: fc.dictionary(text, fc.oneof(text, fc.constantFrom("\t", "\n"), fc.integer())).map((value) => canonicalJson(value)),
  durability: fc.constant("buffered" as const),
  intent: fc.constant(false),
  closes: fc.constant(0),
});
const spooled = (entries: readonly PendingEntry[]) => entries.map((entry, index) => ({ counter: index + 1, entry }));
const encoded = (entries: readonly PendingEntry[]): Uint8Array =>
  utf8(
    spooled(entries)
      .map(({ counter, entry }) => encodeFrame(counter, entry))
      .join(""),
  );

test("a frame is pinned", () => {
  const entry: PendingEntry = {
    eventType: "tool_executed",
    sessionId: "ses_a",
    actor: "agent",
    requestId: "r1",
    timeMicros: 1_700_000_000_000_000,
    payload: '{"a":1}',
    durability: "buffered",
    intent: false,
    closes: 0,
  };
  expect(encodeFrame(7, entry)).toBe('7cb8b859 7\t["tool_executed","ses_a","agent","r1",1700000000000000]\t{"a":1}\n');
});

test("every frame is read back as it was written", () => {
  fc.assert(
    fc.property(fc.array(anyEntry, { maxLength: 5 }), (entries) => {
      const bytes = encoded(entries);
      expect(decodeFrames(bytes, 0)).toEqual({ spooled: spooled(entries), damaged: 0, bytes: bytes.byteLength });
    }),
  );
});

test("a cut leaves the whole frames before it and no damage", () => {
  fc.assert(
    fc.property(fc.array(anyEntry, { minLength: 1, maxLength: 5 }), fc.nat(), (entries, at) => {
      const bytes = encoded(entries);
      const decoded = decodeFrames(bytes.subarray(0, at % bytes.byteLength), 0);
      expect(decoded.damaged).toBe(0);
      expect(decoded.spooled).toEqual(spooled(entries).slice(0, decoded.spooled.length));
      expect(decoded.spooled.length).toBeLessThan(entries.length);
    }),
  );
});

test("a changed byte is damage or a cut, and never another event", () => {
  fc.assert(
    fc.property(fc.array(anyEntry, { minLength: 1, maxLength: 4 }), fc.nat(), fc.integer({ min: 1, max: 255 }), (entries, at, change) => {
      const bytes = encoded(entries);
      const place = at % bytes.byteLength;
      bytes[place] = (bytes[place] ?? 0) ^ change;
      const decoded = decodeFrames(bytes, 0);
      const written = spooled(entries).map((frame) => JSON.stringify(frame));
      for (const frame of decoded.spooled) expect(written).toContain(JSON.stringify(frame));
      expect(decoded.damaged > 0 || decoded.bytes < bytes.byteLength).toBe(true);
    }),
  );
});

test.each([
  ["a counter that does not ascend", (frame: string) => frame + frame],
  ["a line that is no frame", (frame: string) => `${frame}rubbish\n`],
  ["an empty line", (frame: string) => `${frame}\n`],
])("%s is damage", (_, change) => {
  const [frame = ""] = fc.sample(anyEntry, { numRuns: 1, seed: 1 }).map((entry) => encodeFrame(3, entry));
  const { spooled: read, damaged } = decodeFrames(utf8(change(frame)), 2);
  expect([read.map(({ counter }) => counter), damaged]).toEqual([[3], 1]);
});

test("frames at or below the counter that is known are damage", () => {
  const [frame = ""] = fc.sample(anyEntry, { numRuns: 1, seed: 1 }).map((entry) => encodeFrame(3, entry));
  expect(decodeFrames(utf8(frame), 3)).toMatchObject({ spooled: [], damaged: 1 });
});
