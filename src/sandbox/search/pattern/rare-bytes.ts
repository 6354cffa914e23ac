/**
 * Finds a text by its rarest byte and the bytes that follow it.
 *
 * A search for so few bytes goes from one rare byte to the next, whereas a search for a whole text goes through all of
 * them.
 *
 * INVARIANTS: the text does not occur before the place that is returned. How often bytes stand decides the time alone.
 */

/** A text to find. */
export interface Sought {
  readonly text: Uint8Array;
  /** Its rarest byte and some that follow. */
  readonly rare: Uint8Array;
  /** Where these stand in it. */
  readonly offset: number;
}

/** So few that they are looked for by their first byte. */
const RARE_BYTES_MAX = 6;
/** Places with the rare bytes and without the text, after which they are not rare in this file. */
const WRONG_PLACES_MAX = 64;
const ASCII_END = 0x80;

/** Prepares for finding `text`, which is not empty. */
export function soughtOf(text: Uint8Array): Sought {
  let offset = 0;
  for (const [index, byte] of text.entries()) if (frequencyOf(byte) < frequencyOf(text[offset] ?? 0)) offset = index;
  return { text, rare: text.subarray(offset, offset + RARE_BYTES_MAX), offset };
}

/** A place from `from` on before which the text does not begin, mostly the one where it does; -1 when it is nowhere. */
export function earliestPlace(bytes: Buffer, { text, rare, offset }: Sought, from: number): number {
  let at = bytes.indexOf(rare, from + offset);
  for (let wrong = 0; at !== -1 && wrong < WRONG_PLACES_MAX; wrong += 1) {
    const start = at - offset;
    if (
      start + text.byteLength <= bytes.length &&
      bytes.compare(text, 0, text.byteLength, start, start + text.byteLength) === 0
    )
      return start;
    at = bytes.indexOf(rare, at + 1);
  }
  return at === -1 ? -1 : at - offset;
}

/** How often a byte stands in source text, roughly. */
export function frequencyOf(byte: number): number {
  const character = String.fromCharCode(byte);
  if (byte >= ASCII_END) return 0.0003;
  if (character === " ") return 0.15;
  if (/[a-z]/.test(character)) return 0.02;
  if (/[A-Z]/.test(character)) return 0.003;
  if (/[0-9]/.test(character)) return 0.005;
  return byte === 10 ? 0.03 : byte < 32 ? 0.001 : 0.006;
}
