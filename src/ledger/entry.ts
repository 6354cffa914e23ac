/**
 * The bytes of a ledger entry: canonical protobuf of `handrail.ledger.v1.Entry`.
 *
 * Written here rather than generated, because the chain rests on there being exactly one encoding, and because the
 * ledger's worker has to start in milliseconds. Tests compare it with the generated code field by field.
 *
 * Trusts nothing that it decodes. INVARIANT: `decodeEntry(bytes)` succeeds only if `encodeEntry` of the result gives
 * the same bytes: ascending fields, no defaults, shortest varints, strict UTF-8, nothing unknown.
 */
import { textOf, utf8 } from "../base/bytes.ts";
import { assert } from "../base/errors.ts";
import { HASH_SIZE } from "../base/limits.ts";
import type { Durability } from "../model/outcome/event.ts";

/** A decoded entry. `closes` is 0 when it closes no intent. */
export interface LedgerEntry {
  readonly sequence: number;
  readonly timeMicros: number;
  readonly sessionId: string;
  readonly actor: string;
  readonly requestId: string;
  readonly instanceId: string;
  readonly eventType: string;
  readonly payloadDigest: Uint8Array;
  readonly payloadBytes: number;
  readonly durability: Durability;
  readonly intent: boolean;
  readonly closes: number;
  readonly prevHash: Uint8Array;
}

/** A decoded entry, or why the bytes are none. */
export type DecodedEntry =
  | { readonly kind: "entry"; readonly entry: LedgerEntry }
  | { readonly kind: "malformed"; readonly problem: string };

const VARINT = 0;
const LENGTH_DELIMITED = 2;
const VARINT_BYTES_MAX = 8;
const FIELD_COUNT = 13;
const TEXT_FIELDS: readonly number[] = [3, 4, 5, 6, 7];
const BYTES_FIELDS: readonly number[] = [8, 13];

/** Canonical bytes of `entry`. */
export function encodeEntry(entry: LedgerEntry): Uint8Array {
  assert(
    entry.payloadDigest.byteLength === HASH_SIZE && entry.prevHash.byteLength === HASH_SIZE,
    "a digest of an entry has 32 bytes",
  );
  const texts = [entry.sessionId, entry.actor, entry.requestId, entry.instanceId, entry.eventType];
  const room = texts.reduce((sum, text) => sum + text.length * 3, FIELD_COUNT * (VARINT_BYTES_MAX + 1) + 2 * HASH_SIZE);
  const writer = new Writer(room);
  writer.varintField(1, entry.sequence);
  writer.varintField(2, entry.timeMicros);
  texts.forEach((text, index) => {
    writer.textField(index + 3, text);
  });
  writer.bytesField(8, entry.payloadDigest);
  writer.varintField(9, entry.payloadBytes);
  writer.varintField(10, entry.durability === "durable" ? 1 : 0);
  writer.varintField(11, entry.intent ? 1 : 0);
  writer.varintField(12, entry.closes);
  writer.bytesField(13, entry.prevHash);
  return writer.finish();
}

/** The entry that `bytes` stand for, if they are its canonical form. */
export function decodeEntry(bytes: Uint8Array): DecodedEntry {
  const fields = readFields(bytes);
  if (typeof fields === "string") return malformed(fields);
  const number = (field: number): number => (fields.get(field) as number | undefined) ?? 0;
  const text = (field: number): string => (fields.get(field) as string | undefined) ?? "";
  const digest = (field: number): Uint8Array | undefined => {
    const value = fields.get(field) as Uint8Array | undefined;
    return value?.byteLength === HASH_SIZE ? value : undefined;
  };
  const payloadDigest = digest(8);
  const prevHash = digest(13);
  if (number(1) === 0) return malformed("it has no sequence");
  if (text(7) === "") return malformed("it has no event type");
  if (number(10) > 1 || number(11) > 1) return malformed("a field is neither true nor false");
  if (payloadDigest === undefined) return malformed("its payload digest is not 32 bytes long");
  if (prevHash === undefined) return malformed("its previous hash is not 32 bytes long");
  const [sessionId, actor, requestId, instanceId, eventType] = [text(3), text(4), text(5), text(6), text(7)];
  const times = { sequence: number(1), timeMicros: number(2) };
  const names = { sessionId, actor, requestId, instanceId, eventType };
  const durability: Durability = number(10) === 1 ? "durable" : "buffered";
  const rest = {
    payloadDigest,
    payloadBytes: number(9),
    durability,
    intent: number(11) === 1,
    closes: number(12),
    prevHash,
  };
  return { kind: "entry", entry: { ...times, ...names, ...rest } };
}

function malformed(problem: string): DecodedEntry {
  return { kind: "malformed", problem };
}

type FieldValue = number | string | Uint8Array;

/** Fields by number, or the first thing wrong with the bytes. */
function readFields(bytes: Uint8Array): Map<number, FieldValue> | string {
  const fields = new Map<number, FieldValue>();
  const cursor = { at: 0 };
  let previous = 0;
  while (cursor.at < bytes.byteLength) {
    const tag = readVarint(bytes, cursor);
    if (tag === undefined) return "a tag is cut short or not in its shortest form";
    const field = Math.floor(tag / 8);
    if (field <= previous) return `field ${field} is out of order`;
    if (field > FIELD_COUNT) return `field ${field} is unknown`;
    previous = field;
    const value = tag % 8 === wireTypeOf(field) ? readValue(bytes, cursor, field) : undefined;
    if (value === undefined) return `field ${field} is malformed`;
    if (value === 0 || value === "") return `field ${field} carries its default value`;
    fields.set(field, value);
  }
  return fields;
}

function wireTypeOf(field: number): number {
  return TEXT_FIELDS.includes(field) || BYTES_FIELDS.includes(field) ? LENGTH_DELIMITED : VARINT;
}

function readValue(bytes: Uint8Array, cursor: { at: number }, field: number): FieldValue | undefined {
  const number = readVarint(bytes, cursor);
  if (number === undefined || wireTypeOf(field) === VARINT) return number;
  if (number > bytes.byteLength - cursor.at) return undefined;
  const content = bytes.subarray(cursor.at, cursor.at + number);
  cursor.at += number;
  return TEXT_FIELDS.includes(field) ? textOf(content) : content;
}

/** A varint in its shortest form that fits a safe integer. */
function readVarint(bytes: Uint8Array, cursor: { at: number }): number | undefined {
  let value = 0;
  for (let count = 0; count < VARINT_BYTES_MAX; count++) {
    const byte = bytes[cursor.at++];
    if (byte === undefined) return undefined;
    value += (byte & 0x7f) * 128 ** count;
    if (byte >= 0x80) continue;
    const shortest = byte !== 0 || count === 0;
    return shortest && Number.isSafeInteger(value) ? value : undefined;
  }
  return undefined;
}

/** Writes fields into a buffer of known capacity; fields with default values are left out. */
class Writer {
  private readonly bytes: Buffer;
  private at = 0;

  constructor(room: number) {
    // What is not written does not leave: zeroing it would cost more than writing.
    this.bytes = Buffer.allocUnsafe(room);
  }

  varintField(field: number, value: number): void {
    assert(Number.isSafeInteger(value) && value >= 0, "a number of an entry is a safe, natural one");
    if (value === 0) return;
    this.bytes[this.at++] = field * 8 + VARINT;
    this.varint(value);
  }

  textField(field: number, text: string): void {
    assert(text.isWellFormed(), "text of an entry has no lone surrogates");
    if (text === "") return;
    if (!this.asciiField(field, text)) this.bytesField(field, utf8(text));
  }

  bytesField(field: number, content: Uint8Array): void {
    this.bytes[this.at++] = field * 8 + LENGTH_DELIMITED;
    this.varint(content.byteLength);
    this.bytes.set(content, this.at);
    this.at += content.byteLength;
  }

  /**
   * Names are short and almost always ASCII, which needs no encoder. Says no, and writes nothing, where they are not.
   */
  private asciiField(field: number, text: string): boolean {
    const start = this.at;
    this.bytes[this.at++] = field * 8 + LENGTH_DELIMITED;
    this.varint(text.length);
    for (let index = 0; index < text.length; index++) {
      const code = text.charCodeAt(index);
      if (code > 0x7f) {
        this.at = start;
        return false;
      }
      this.bytes[this.at++] = code;
    }
    return true;
  }

  finish(): Uint8Array {
    return new Uint8Array(this.bytes.buffer, this.bytes.byteOffset, this.at);
  }

  private varint(value: number): void {
    let rest = value;
    while (rest > 0x7f) {
      this.bytes[this.at++] = (rest % 128) | 0x80;
      rest = Math.floor(rest / 128);
    }
    this.bytes[this.at++] = rest;
  }
}
