/**
 * Bytes as the UTF-8 that the regular expression engine takes, and the way back from its offsets to the bytes.
 *
 * The engine knows UTF-8 alone. INVARIANT: bytes that are not valid UTF-8 each become one U+FFFD, so that nothing is
 * lost, no match begins or ends inside them, and every offset leads back to a byte of the file.
 */
import { isAscii, isUtf8 } from "node:buffer";

/** A text for the engine. */
export interface EngineText {
  /** Valid UTF-8: the bytes themselves when they are. */
  readonly text: Buffer;
  /** The position in the bytes of a position in the text. */
  readonly toByte: (offset: number) => number;
}

const same = (offset: number) => offset;
/** U+FFFD takes three bytes where one stood. */
const EXTRA_BYTES = 2;

/** `bytes` as text. */
export function engineText(bytes: Buffer): EngineText {
  return isUtf8(bytes) ? { text: bytes, toByte: same } : repaired(bytes);
}

/** UTF-8 as a text of the language. */
export function stringOf(text: Buffer): string {
  return text.toString(isAscii(text) ? "latin1" : "utf8", 0, text.length);
}

const STAND_IN = Buffer.from("\ufffd");

/** In two passes over the bytes: the memory of lists would grow with what is odd, and a file may be odd altogether. */
function repaired(bytes: Buffer): EngineText {
  let count = 0;
  for (let at = oddFrom(bytes, 0); at < bytes.length; at = oddFrom(bytes, at + 1)) count += 1;
  const odd = new Uint32Array(count);
  const filled = Buffer.allocUnsafe(bytes.length + EXTRA_BYTES * count);
  let from = 0;
  let length = 0;
  for (let index = 0; index < count; index += 1) {
    const at = oddFrom(bytes, from);
    odd[index] = at;
    length += bytes.copy(filled, length, from, at);
    length += STAND_IN.copy(filled, length);
    from = at + 1;
  }
  return {
    text: filled.subarray(0, length + bytes.copy(filled, length, from)),
    toByte: (offset) => offset - EXTRA_BYTES * oddBefore(odd, offset),
  };
}

/** The first byte from `start` on that belongs to no character, or the end. */
function oddFrom(bytes: Buffer, start: number): number {
  let at = start;
  while (at < bytes.length) {
    const length = characterLength(bytes, at);
    if (length === 0) return at;
    at += length;
  }
  return at;
}

/** How many of the odd bytes stand before `offset` of the text. */
function oddBefore(odd: Uint32Array, offset: number): number {
  let low = 0;
  let high = odd.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((odd[middle] ?? 0) + EXTRA_BYTES * middle < offset) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Bytes of the character that begins at `at`, 0 when none does. */
function characterLength(bytes: Buffer, at: number): number {
  const first = bytes[at] ?? 0;
  if (first < 0x80) return 1;
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 0;
  if (length === 0 || first > 0xf4 || at + length > bytes.length) return 0;
  const second = bytes[at + 1] ?? 0;
  // No overlong forms, no surrogates, nothing beyond U+10FFFF.
  const low = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80;
  const high = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf;
  if (second < low || second > high) return 0;
  for (let next = at + 2; next < at + length; next += 1) if (((bytes[next] ?? 0) & 0xc0) !== 0x80) return 0;
  return length;
}
