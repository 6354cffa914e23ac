// Entries: canonical bytes, compared with the generated protobuf code in both directions; everything else is refused.
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import fc from "fast-check";
import { expect, test } from "vitest";
import { hex } from "../../src/base/bytes.ts";
import { blake3Hex } from "../../src/base/hash.ts";
import { EntrySchema } from "../../src/gen/handrail/ledger/v1/ledger_pb.ts";
import { decodeEntry, encodeEntry, type LedgerEntry } from "../../src/ledger/entry.ts";

const text = fc.string({ unit: "grapheme", maxLength: 40 }).filter((value) => value.isWellFormed());
const digest = fc.uint8Array({ minLength: 32, maxLength: 32 });
const anyEntry: fc.Arbitrary<LedgerEntry> = fc.record({
  sequence: fc.maxSafeNat().map((number) => Math.max(1, number)),
  timeMicros: fc.maxSafeNat(),
  sessionId: text,
  actor: text,
  requestId: text,
  instanceId: text,
  eventType: text.map((value) => `e${value}`),
  payloadDigest: digest,
  payloadBytes: fc.maxSafeNat(),
  durability: fc.constantFrom("durable" as const, "buffered" as const),
  intent: fc.boolean(),
  closes: fc.maxSafeNat(),
  prevHash: digest,
});

const GOLDEN: LedgerEntry = {
  sequence: 2,
  timeMicros: 1_700_000_000_000_000,
  sessionId: "ses_a",
  actor: "agent",
  requestId: "req_1",
  instanceId: "ins_a",
  eventType: "tool_executed",
  payloadDigest: new Uint8Array(32).fill(1),
  payloadBytes: 300,
  durability: "durable",
  intent: true,
  closes: 1,
  prevHash: new Uint8Array(32).fill(2),
};
const GOLDEN_HEX =
  "0802108080f9c0c1c482031a057365735f6122056167656e742a057265715f313205696e735f613a0d746f6f6c5f65786563757465644220010101010101010101010101010101010101010101010101010101010101010148ac025001580160016a200202020202020202020202020202020202020202020202020202020202020202";

test("decode is the inverse of encode", () => {
  fc.assert(
    fc.property(anyEntry, (entry) => {
      expect(decodeEntry(encodeEntry(entry))).toEqual({ kind: "entry", entry });
    }),
  );
});

test("the bytes are those of the generated protobuf code, both ways", () => {
  fc.assert(
    fc.property(anyEntry, (entry) => {
      const bytes = encodeEntry(entry);
      const { sequence, timeMicros, payloadBytes, durability, closes, ...same } = entry;
      const message = create(EntrySchema, {
        ...same,
        sequence: BigInt(sequence),
        timeUnixMicros: BigInt(timeMicros),
        payloadSize: BigInt(payloadBytes),
        durable: durability === "durable",
        closes: BigInt(closes),
      });
      expect(hex(toBinary(EntrySchema, message))).toBe(hex(bytes));
      expect(hex(toBinary(EntrySchema, fromBinary(EntrySchema, bytes)))).toBe(hex(bytes));
    }),
  );
});

test("whatever decodes encodes to the same bytes", () => {
  const mutated = fc.tuple(
    anyEntry,
    fc.nat(),
    fc.integer({ min: 0, max: 255 }),
    fc.constantFrom("set", "insert", "remove", "cut"),
  );
  fc.assert(
    fc.property(mutated, ([entry, place, byte, how]) => {
      const bytes = [...encodeEntry(entry)];
      const at = place % bytes.length;
      if (how === "set") bytes[at] = byte;
      else if (how === "insert") bytes.splice(at, 0, byte);
      else bytes.splice(at, how === "remove" ? 1 : bytes.length);
      const decoded = decodeEntry(Uint8Array.from(bytes));
      if (decoded.kind === "entry") expect(hex(encodeEntry(decoded.entry))).toBe(hex(Uint8Array.from(bytes)));
      else expect(decoded.problem).not.toBe("");
    }),
    { numRuns: 2000 },
  );
});

test("golden bytes keep their meaning", () => {
  expect(hex(encodeEntry(GOLDEN))).toBe(GOLDEN_HEX);
  expect(decodeEntry(Buffer.from(GOLDEN_HEX, "hex"))).toEqual({
    kind: "entry",
    entry: { ...GOLDEN, payloadDigest: Buffer.from(GOLDEN.payloadDigest), prevHash: Buffer.from(GOLDEN.prevHash) },
  });
  expect(blake3Hex(Buffer.from(GOLDEN_HEX, "hex"))).toBe(
    "ff6d7c54e9dee87654631e921fa1f9536fa062cfb4b8c1c1503e7d5e4c059cf6",
  );
});

test.each([
  ["an unknown field", (bytes: number[]) => [...bytes, 14 * 8, 1], "field 14 is unknown"],
  [
    "a default value written out",
    (bytes: number[]) => [0x08, 0x00, ...bytes.slice(2)],
    "field 1 carries its default value",
  ],
  ["a field twice", (bytes: number[]) => [0x08, 0x01, ...bytes], "field 1 is out of order"],
  ["a varint with a needless byte", (bytes: number[]) => [0x08, 0x82, 0x00, ...bytes.slice(2)], "field 1 is malformed"],
  ["another wire type", (bytes: number[]) => [0x09, ...bytes.slice(1)], "field 1 is malformed"],
  [
    "text that is not UTF-8",
    (bytes: number[]) => bytes.map((byte, at) => (at === 12 ? 0xff : byte)),
    "field 3 is malformed",
  ],
  ["no bytes", () => [], "it has no sequence"],
])("%s is refused", (_name, change, problem) => {
  expect(decodeEntry(Uint8Array.from(change([...encodeEntry(GOLDEN)])))).toEqual({ kind: "malformed", problem });
});
