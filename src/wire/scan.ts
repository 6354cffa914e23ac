/**
 * A linear pass over the bytes of a message before anything is decoded or allocated.
 *
 * It refuses what two readers could understand differently or what no encoder writes: a second variant of a oneof, or
 * the same one twice (INV-0004), a single field that comes twice, a wire type that is not the field's, a length beyond
 * the end, a varint longer than it need be or too large, groups, field number 0, text that is not UTF-8.
 * More fields than any request needs are refused too, because decoding each costs far more than its bytes.
 * Unknown fields are well-formed and otherwise left alone (CTR-0002). INVARIANT: decoding scanned bytes does not throw.
 */
import { isUtf8 } from "node:buffer";
import { textOf } from "../base/bytes.ts";
import { MAX_ID_LEN, NESTING_DEPTH_MAX } from "../base/limits.ts";
import { hasMoreCharacters } from "../model/outcome/constraints.ts";
import type { FieldShape, MessageShape, PayloadKind } from "./shape.ts";
import { twoVariants, WireError } from "./wire-error.ts";

/** Fields in one encoded message, entries and unknown ones included: each costs far more memory than its two bytes. */
export const WIRE_FIELDS_MAX = 65_536;

const VARINT = 0;
const FIXED64 = 1;
const DELIMITED = 2;
const FIXED32 = 5;
const VARINT_BYTES_MAX = 10;
const FIELD_NUMBER_MAX = 2 ** 29 - 1;
/** Texts up to this many bytes are looked at here; a call into native code costs more. */
const SHORT_TEXT_BYTES = 48;

/** Refuses malformed or ambiguous bytes of a message of `shape`. @throws WireError saying what and at which byte */
export function scan(bytes: Uint8Array, shape: MessageShape): void {
  scanMessage(new Cursor(bytes), shape, bytes.byteLength);
}

/** The request id of bytes that may be damaged: what field 1 holds if it can be read and is short enough, else `""`. */
export function readRequestId(bytes: Uint8Array): string {
  const cursor = new Cursor(bytes);
  try {
    while (cursor.position < bytes.byteLength) {
      const tag = cursor.tag();
      if (tag.number === 1 && tag.wireType === DELIMITED) return shortText(cursor.delimited(bytes.byteLength));
      cursor.skip(tag.wireType, bytes.byteLength);
    }
  } catch (error) {
    if (error instanceof WireError) return "";
    throw error;
  }
  return "";
}

function shortText(bytes: Uint8Array): string {
  const text = bytes.byteLength > 4 * MAX_ID_LEN ? undefined : textOf(bytes);
  return text === undefined || hasMoreCharacters(text, MAX_ID_LEN) ? "" : text;
}

function scanMessage(cursor: Cursor, shape: MessageShape, end: number): void {
  if (cursor.depth > NESTING_DEPTH_MAX) throw new WireError(`messages nested too deeply at byte ${cursor.position}`);
  let seen = 0;
  while (cursor.position < end) {
    const start = cursor.position;
    const tag = cursor.tag();
    const field = shape.fields.get(tag.number);
    if (field === undefined) {
      cursor.skip(tag.wireType, end);
      continue;
    }
    if (!field.repeated) {
      if ((seen & (field.oneofBits | field.bit)) !== 0) throw comesTwice(field, start);
      seen |= field.bit;
    }
    if (tag.wireType !== wireTypeOf(field.kind)) {
      throw new WireError(
        `field \`${field.name}\` has wire type ${tag.wireType} at byte ${start}; its type needs ${wireTypeOf(field.kind)}`,
      );
    }
    scanPayload(cursor, field, end);
  }
  if (cursor.position > end) throw new WireError(`a field of \`${shape.name}\` ends beyond its message at byte ${end}`);
}

function scanPayload(cursor: Cursor, field: FieldShape, end: number): void {
  const start = cursor.position;
  switch (field.kind) {
    case "bool":
      if (cursor.varint() > 1)
        throw new WireError(`field \`${field.name}\` is neither true nor false at byte ${start}`);
      return;
    case "uint32":
      if (cursor.varint() > 0xffff_ffff)
        throw new WireError(`field \`${field.name}\` does not fit 32 bits at byte ${start}`);
      return;
    case "uint64":
      cursor.varint();
      return;
    case "bytes":
      cursor.skip(DELIMITED, end);
      return;
    case "string":
      if (!isText(cursor.delimited(end))) throw new WireError(`field \`${field.name}\` is not UTF-8 at byte ${start}`);
      return;
    case "message": {
      const length = cursor.length(end);
      if (field.child === undefined) return;
      cursor.depth += 1;
      scanMessage(cursor, field.child, cursor.position + length);
      cursor.depth -= 1;
    }
  }
}

function comesTwice(field: FieldShape, start: number): WireError {
  if (field.oneofBits === 0) return new WireError(`field \`${field.name}\` comes twice at byte ${start}; send it once`);
  const message = `a second variant of \`${field.oneofName}\` begins at byte ${start}; send exactly one`;
  return field.oneofName === "tool" ? twoVariants(message) : new WireError(message);
}

function wireTypeOf(kind: PayloadKind): number {
  return kind === "string" || kind === "bytes" || kind === "message" ? DELIMITED : VARINT;
}

function isText(bytes: Uint8Array): boolean {
  if (bytes.byteLength > SHORT_TEXT_BYTES) return isUtf8(bytes);
  for (let index = 0; index < bytes.byteLength; index += 1) {
    if ((bytes[index] ?? 0) > 0x7f) return isUtf8(bytes);
  }
  return true;
}

interface Tag {
  number: number;
  wireType: number;
}

/** A place in the bytes; every read checks the end first. */
class Cursor {
  position = 0;
  /** How many messages are around the one that is read. */
  depth = 0;
  readonly #bytes: Uint8Array;
  /** Reused: a tag is looked at before the next one is read. */
  readonly #tag: Tag = { number: 0, wireType: 0 };
  #fields = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  tag(): Tag {
    const start = this.position;
    this.#fields += 1;
    if (this.#fields > WIRE_FIELDS_MAX)
      throw new WireError(`more than ${WIRE_FIELDS_MAX} fields, at byte ${start}; send fewer`);
    const value = this.varint();
    const number = Math.floor(value / 8);
    if (number === 0 || number > FIELD_NUMBER_MAX)
      throw new WireError(`there is no field number ${number}, at byte ${start}`);
    this.#tag.number = number;
    this.#tag.wireType = value % 8;
    return this.#tag;
  }

  /** A varint in its shortest form. Exact up to 2^53, beyond that only its magnitude. */
  varint(): number {
    const start = this.position;
    let value = 0;
    let factor = 1;
    for (let count = 1; count <= VARINT_BYTES_MAX; count += 1) {
      const byte = this.#bytes[this.position];
      if (byte === undefined) throw new WireError(`the bytes end inside a number at byte ${this.position}`);
      this.position += 1;
      value += (byte & 0x7f) * factor;
      factor *= 128;
      if (byte < 0x80) {
        if (byte === 0 && count > 1) throw new WireError(`a number is longer than it need be at byte ${start}`);
        if (count === VARINT_BYTES_MAX && byte > 1) break;
        return value;
      }
    }
    throw new WireError(`a number does not fit 64 bits at byte ${start}`);
  }

  /** The length of what follows, which lies wholly before `end`. */
  length(end: number): number {
    const start = this.position;
    const length = this.varint();
    if (length > end - this.position) {
      throw new WireError(`a length of ${length} bytes at byte ${start} goes beyond the end at byte ${end}`);
    }
    return length;
  }

  /** The bytes after a length, which lie wholly before `end`. */
  delimited(end: number): Uint8Array {
    const length = this.length(end);
    this.position += length;
    return this.#bytes.subarray(this.position - length, this.position);
  }

  /** Steps over the payload of a field. */
  skip(wireType: number, end: number): void {
    const start = this.position;
    if (wireType === VARINT) this.varint();
    else if (wireType === DELIMITED) this.delimited(end);
    else if (wireType === FIXED64) this.position += 8;
    else if (wireType === FIXED32) this.position += 4;
    else throw new WireError(`wire type ${wireType} before byte ${start} is not used by this protocol`);
    if (this.position > end) throw new WireError(`a field that begins before byte ${start} ends beyond byte ${end}`);
  }
}
