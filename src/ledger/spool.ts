/**
 * The bytes of a spool: one frame per event, `<crc-32> <counter> TAB <names and time> TAB <payload> LF`.
 *
 * Names and time are a JSON array and the payload is canonical JSON, so that neither holds a raw tab or line feed.
 * Trusts nothing that it decodes. INVARIANT: bytes without a final line feed are the rest of a write that never
 * returned, and nobody was told of them; every other byte is part of a good frame or is counted as damage.
 */
import { isUtf8 } from "node:buffer";
import { crc32 } from "node:zlib";
import { canonicalJson } from "../base/json.ts";
import type { PendingEntry, ReadyEntry } from "./chain.ts";

const TAB = 0x09;
const LINE_FEED = 0x0a;
const SPACE = 0x20;
const ZERO = 0x30;
const CHECKSUM_DIGITS = 8;
const HEX_DIGITS = "0123456789abcdef";

/** A buffered event with its place in the spool. */
export interface SpooledEntry {
  /** 1 for the first event of the instance, ascending; numbers may be left out. */
  readonly counter: number;
  readonly entry: ReadyEntry;
}

/** What bytes of a spool hold. */
export interface DecodedSpool {
  readonly spooled: readonly SpooledEntry[];
  /** Complete lines that are no frame, or whose counter does not ascend. */
  readonly damaged: number;
  /** Bytes up to and including the last line feed. */
  readonly bytes: number;
}

/** Bytes that a frame has besides its body. */
export const FRAME_OVERHEAD_BYTES: number = CHECKSUM_DIGITS + 2;
/** Bytes that one UTF-16 code unit takes at most. */
export const BYTES_PER_CHARACTER = 3;

/** The beginning of the names that were printed last: events of one session have it in common. */
let printed = { eventType: "", sessionId: "", actor: "", text: "" };

/**
 * What the frame of a buffered event, that neither opens nor closes an intent, holds between its checksum and its line
 * feed.
 */
export function frameBody(counter: number, entry: PendingEntry): string {
  const { eventType, sessionId, actor, requestId, timeMicros, payload } = entry;
  if (eventType !== printed.eventType || sessionId !== printed.sessionId || actor !== printed.actor) {
    const text = canonicalJson([eventType, sessionId, actor]).slice(0, -1);
    printed = { eventType, sessionId, actor, text };
  }
  return `${counter}\t${printed.text},${canonicalJson(requestId)},${timeMicros}]\t${payload}`;
}

/** Bytes for the frames of a turn as a rule. */
const FRAMES_BYTES = 64 * 1024;

/**
 * Frames one after the other, as the bytes that a spool takes. Its memory is used again for the frames of the next
 * turn.
 */
export class FrameWriter {
  #bytes = Buffer.allocUnsafeSlow(FRAMES_BYTES);
  #length = 0;

  /** Bytes of the frames since the last `take`. */
  get length(): number {
    return this.#length;
  }

  /** Adds the frame of a body. */
  add(body: string): void {
    this.#makeRoom(body.length * BYTES_PER_CHARACTER + FRAME_OVERHEAD_BYTES);
    const bytes = this.#bytes;
    const start = this.#length + CHECKSUM_DIGITS + 1;
    const end = start + bytes.write(body, start);
    writeChecksum(bytes, this.#length, crc32(bytes.subarray(start, end)));
    bytes[start - 1] = SPACE;
    bytes[end] = LINE_FEED;
    this.#length = end + 1;
  }

  /** The frames, which are valid until the next is added. Begins anew. */
  take(): Uint8Array {
    const frames = this.#bytes.subarray(0, this.#length);
    this.#length = 0;
    if (this.#bytes.byteLength > FRAMES_BYTES) this.#bytes = Buffer.allocUnsafeSlow(FRAMES_BYTES);
    return frames;
  }

  #makeRoom(bytes: number): void {
    const needed = this.#length + bytes;
    if (needed <= this.#bytes.byteLength) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.#bytes.byteLength * 2));
    larger.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = larger;
  }
}

/** Writes eight hexadecimal digits. */
function writeChecksum(bytes: Uint8Array, at: number, checksum: number): void {
  for (let digit = 0; digit < CHECKSUM_DIGITS; digit += 1) {
    bytes[at + digit] = HEX_DIGITS.charCodeAt((checksum >>> (28 - 4 * digit)) & 0xf);
  }
}

/** The frames in `bytes`, whose counters all lie beyond `after`. Their payloads are parts of `bytes`. */
export function decodeFrames(bytes: Uint8Array, after: number): DecodedSpool {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const spooled: SpooledEntry[] = [];
  let damaged = 0;
  let last = after;
  let start = 0;
  for (let end = buffer.indexOf(LINE_FEED); end !== -1; end = buffer.indexOf(LINE_FEED, start)) {
    const frame = decodeFrame(buffer, start, end);
    start = end + 1;
    if (frame === undefined || frame.counter <= last) {
      damaged += 1;
      continue;
    }
    last = frame.counter;
    spooled.push(frame);
  }
  return { spooled, damaged, bytes: start };
}

/** The frame from `start` up to its line feed. */
function decodeFrame(bytes: Buffer, start: number, lineEnd: number): SpooledEntry | undefined {
  const bodyStart = start + CHECKSUM_DIGITS + 1;
  if (bodyStart >= lineEnd || bytes[bodyStart - 1] !== SPACE) return undefined;
  const body = bytes.subarray(bodyStart, lineEnd);
  if (crc32(body) !== checksumAt(bytes, start) || !isUtf8(body)) return undefined;
  const namesStart = body.indexOf(TAB) + 1;
  const payloadStart = namesStart === 0 ? 0 : body.indexOf(TAB, namesStart) + 1;
  if (payloadStart === 0 || payloadStart === body.byteLength || body.includes(TAB, payloadStart)) return undefined;
  const counter = counterBefore(body, namesStart - 1);
  const names = namesOf(body.toString("utf8", namesStart, payloadStart - 1));
  if (counter === undefined || names === undefined) return undefined;
  return {
    counter,
    entry: { ...names, payload: body.subarray(payloadStart), durability: "buffered", intent: false, closes: 0 },
  };
}

/** The number that eight hexadecimal digits stand for, or -1. */
function checksumAt(bytes: Uint8Array, at: number): number {
  let checksum = 0;
  for (let place = at; place < at + CHECKSUM_DIGITS; place += 1) {
    const digit = HEX_DIGITS.indexOf(String.fromCharCode(bytes[place] ?? 0));
    if (digit === -1) return -1;
    checksum = checksum * 16 + digit;
  }
  return checksum;
}

/** The natural number in decimal digits before `end`, from 1 on. */
function counterBefore(bytes: Uint8Array, end: number): number | undefined {
  let counter = 0;
  for (let at = 0; at < end; at += 1) {
    const digit = (bytes[at] ?? 0) - ZERO;
    if (digit < 0 || digit > 9) return undefined;
    counter = counter * 10 + digit;
    if (counter > Number.MAX_SAFE_INTEGER) return undefined;
  }
  return counter > 0 ? counter : undefined;
}

type Names = Pick<PendingEntry, "eventType" | "sessionId" | "actor" | "requestId" | "timeMicros">;

function namesOf(header: string): Names | undefined {
  const values = parsed(header);
  if (!Array.isArray(values) || values.length !== 5) return undefined;
  const [eventType, sessionId, actor, requestId, timeMicros]: readonly unknown[] = values;
  if (typeof eventType !== "string" || eventType === "" || typeof timeMicros !== "number") return undefined;
  if (typeof sessionId !== "string" || typeof actor !== "string" || typeof requestId !== "string") return undefined;
  const encodable =
    `${eventType}${sessionId}${actor}${requestId}`.isWellFormed() &&
    Number.isSafeInteger(timeMicros) &&
    timeMicros >= 0;
  return encodable ? { eventType, sessionId, actor, requestId, timeMicros } : undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
