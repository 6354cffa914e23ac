// The frames of a spool: what was written is read back, and what was not written is never read.
import { crc32 } from "node:zlib";
import fc from "fast-check";
import { expect, test } from "vitest";
import { textOf, utf8 } from "../../src/base/bytes.ts";
import { canonicalJson } from "../../src/base/json.ts";
import type { PendingEntry } from "../../src/ledger/chain.ts";
import { decodeFrames, FrameWriter, frameBody } from "../../src/ledger/spool.ts";

const text = fc.string({ unit: "grapheme", maxLength: 12 });
const anyEntry: fc.Arbitrary<PendingEntry> = fc.record({
  eventType: fc.constantFrom("tool_executed", "tool_audit"),
  sessionId: text,
  actor: fc.oneof(text, fc.constantFrom("a\tb", "a\nb", "\u2028")),
  requestId: text,
  timeMicros: fc.nat(),
  payload: fc
    .dictionary(text, fc.oneof(text, fc.constantFrom("\t", "\n"), fc.integer()))
    .map((value) => canonicalJson(value)),
  durability: fc.constant("buffered" as const),
  intent: fc.constant(false),
  closes: fc.constant(0),
});
const spooled = (entries: readonly PendingEntry[]) => entries.map((entry, index) => ({ counter: index + 1, entry }));
/** What was decoded, with its payloads as text again. */
const decoded = (bytes: Uint8Array, after: number) => {
  const { spooled: read, ...rest } = decodeFrames(bytes, after);
  const asText = (payload: string | Uint8Array) => (typeof payload === "string" ? payload : textOf(payload));
  return {
    spooled: read.map(({ counter, entry }) => ({ counter, entry: { ...entry, payload: asText(entry.payload) } })),
    ...rest,
  };
};
const encoded = (entries: readonly PendingEntry[], from = 1): Uint8Array => {
  const writer = new FrameWriter();
  entries.forEach((entry, index) => {
    writer.add(frameBody(from + index, entry));
  });
  return writer.take();
};

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
  expect(textOf(encoded([entry], 7))).toBe(
    '7cb8b859 7\t["tool_executed","ses_a","agent","r1",1700000000000000]\t{"a":1}\n',
  );
});

test("a checksum has eight digits, also where it begins with zeros", () => {
  const frames = fc.sample(anyEntry, { numRuns: 2000, seed: 3 }).map((entry) => textOf(encoded([entry])) ?? "");
  const checksums = frames.map((frame) => /^([0-9a-f]{8}) ([^\n]*)\n$/.exec(frame)?.slice(1) ?? []);
  expect(checksums.filter(([digits = ""]) => digits.startsWith("00")).length).toBeGreaterThan(0);
  for (const [digits = "", body = ""] of checksums) expect(crc32(body)).toBe(Number.parseInt(digits, 16));
});

test("frames of any length stand one after the other, and the next ones begin anew", () => {
  const [entry] = fc.sample(anyEntry, { numRuns: 1, seed: 1 });
  const long = (count: number) => ({
    ...(entry as PendingEntry),
    payload: canonicalJson({ a: "\u20ac".repeat(count) }),
  });
  const writer = new FrameWriter();
  for (const counts of [[10, 30_000, 10], [10], [100_000, 200_000], []]) {
    const entries = counts.map(long);
    entries.forEach((each, index) => {
      writer.add(frameBody(index + 1, each));
    });
    const length = writer.length;
    const bytes = writer.take();
    expect(bytes.byteLength).toBe(length);
    expect(decoded(bytes, 0)).toEqual({ spooled: spooled(entries), damaged: 0, bytes: length });
  }
});

test("names that change between frames stand in each as they are", () => {
  const names = [
    ["a", "b", "c"],
    ["a", "b", "c"],
    ["a", "b", "d"],
    ["e", "b", "d"],
    ["a", "b", "c"],
  ];
  const [entry] = fc.sample(anyEntry, { numRuns: 1, seed: 1 });
  const entries = names.map(([sessionId = "", actor = "", requestId = ""]) => ({
    ...(entry as PendingEntry),
    sessionId,
    actor,
    requestId,
  }));
  expect(decoded(encoded(entries), 0).spooled).toEqual(spooled(entries));
});

test("every frame is read back as it was written", () => {
  fc.assert(
    fc.property(fc.array(anyEntry, { maxLength: 5 }), (entries) => {
      const bytes = encoded(entries);
      expect(decoded(bytes, 0)).toEqual({ spooled: spooled(entries), damaged: 0, bytes: bytes.byteLength });
    }),
  );
});

test("a cut leaves the whole frames before it and no damage", () => {
  fc.assert(
    fc.property(fc.array(anyEntry, { minLength: 1, maxLength: 5 }), fc.nat(), (entries, at) => {
      const bytes = encoded(entries);
      const whole = decoded(bytes.subarray(0, at % bytes.byteLength), 0);
      expect(whole.damaged).toBe(0);
      expect(whole.spooled).toEqual(spooled(entries).slice(0, whole.spooled.length));
      expect(whole.spooled.length).toBeLessThan(entries.length);
    }),
  );
});

test("a changed byte is damage or a cut, and never another event", () => {
  fc.assert(
    fc.property(
      fc.array(anyEntry, { minLength: 1, maxLength: 4 }),
      fc.nat(),
      fc.integer({ min: 1, max: 255 }),
      (entries, at, change) => {
        const bytes = encoded(entries);
        const place = at % bytes.byteLength;
        bytes[place] = (bytes[place] ?? 0) ^ change;
        const found = decoded(bytes, 0);
        const written = spooled(entries).map((frame) => JSON.stringify(frame));
        for (const frame of found.spooled) expect(written).toContain(JSON.stringify(frame));
        expect(found.damaged > 0 || found.bytes < bytes.byteLength).toBe(true);
      },
    ),
  );
});

test.each([
  ["a counter that does not ascend", (frame: string) => frame + frame],
  ["a line that is no frame", (frame: string) => `${frame}rubbish\n`],
  ["an empty line", (frame: string) => `${frame}\n`],
])("%s is damage", (_, change) => {
  const [frame = ""] = fc.sample(anyEntry, { numRuns: 1, seed: 1 }).map((entry) => textOf(encoded([entry], 3)));
  const { spooled: read, damaged } = decodeFrames(utf8(change(frame)), 2);
  expect([read.map(({ counter }) => counter), damaged]).toEqual([[3], 1]);
});

test("frames at or below the counter that is known are damage", () => {
  const [frame = ""] = fc.sample(anyEntry, { numRuns: 1, seed: 1 }).map((entry) => textOf(encoded([entry], 3)));
  expect(decodeFrames(utf8(frame), 3)).toMatchObject({ spooled: [], damaged: 1 });
});

test.each([
  ["a third tab", '1\t["e","s","a","r",5]\t{}\t'],
  ["no payload", '1\t["e","s","a","r",5]\t'],
  ["no second tab", '1\t["e","s","a","r",5]'],
  ["no names", "1"],
  ["nothing", ""],
  ["no counter", '\t["e","s","a","r",5]\t{}'],
  ["a counter of zero", '0\t["e","s","a","r",5]\t{}'],
  ["a counter that is no natural number", '1e3\t["e","s","a","r",5]\t{}'],
  ["a counter that is not exact", '9007199254740993\t["e","s","a","r",5]\t{}'],
  ["a counter of many digits", `${"9".repeat(400)}\t["e","s","a","r",5]\t{}`],
  ["names that are no JSON", '1\t["e","s","a","r",5\t{}'],
  ["a name too few", '1\t["e","s","a",5]\t{}'],
  ["a time that is none", '1\t["e","s","a","r",-5]\t{}'],
  ["no type", '1\t["","s","a","r",5]\t{}'],
])("a frame with %s is damage although its checksum is right", (_, body) => {
  const writer = new FrameWriter();
  writer.add(body);
  writer.add('7\t["e","s","a","r",5]\t{}'); // control
  const { spooled: read, damaged } = decodeFrames(writer.take(), 0);
  expect([read.map(({ counter }) => counter), damaged]).toEqual([[7], 1]);
});

test.each([
  ["whose payload is no UTF-8", [0xff]],
  ["whose payload ends within a character", [0xe2, 0x82]],
])("a frame %s is damage although its checksum is right", (_, payload) => {
  const body = Buffer.concat([utf8('1\t["e","s","a","r",5]\t'), Uint8Array.from(payload)]);
  const frame = Buffer.concat([utf8(`${crc32(body).toString(16).padStart(8, "0")} `), body, utf8("\n")]);
  expect(decodeFrames(frame, 0)).toMatchObject({ spooled: [], damaged: 1 });
});

test.each([
  ["capital digits", (checksum: string) => checksum.toUpperCase()],
  ["a digit that is none", (checksum: string) => `${checksum.slice(0, 7)}g`],
  ["a space in front", (checksum: string) => ` ${checksum.slice(1)}`],
])("a checksum with %s is damage", (_, change) => {
  const body = '1\t["e","s","a","r",5]\t{"n":17}';
  const checksum = crc32(body).toString(16).padStart(8, "0");
  expect(checksum).toMatch(/[a-f]/);
  expect(decodeFrames(utf8(`${checksum} ${body}\n`), 0)).toMatchObject({ damaged: 0 }); // control
  expect(decodeFrames(utf8(`${change(checksum)} ${body}\n`), 0)).toMatchObject({ spooled: [], damaged: 1 });
});
