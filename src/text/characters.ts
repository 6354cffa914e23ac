/** Finds UTF-8 character boundaries in bytes that were cut anywhere. */

/** Bytes of the longest character. */
export const CHARACTER_BYTES_MAX = 4;

/**
 * The first position from `position` on that is not inside a character. Bytes that are not UTF-8 count as characters of
 * their own, so that they stay where they are and can be noticed.
 */
export function characterBoundary(bytes: Uint8Array, position: number): number {
  if (position >= bytes.byteLength || !isContinuation(bytes[position])) return position;
  for (let back = 1; back < CHARACTER_BYTES_MAX && back <= position; back += 1) {
    const byte = bytes[position - back];
    if (isContinuation(byte)) continue;
    const end = position - back + lengthFrom(byte);
    return end > position ? Math.min(end, bytes.byteLength) : position;
  }
  return position;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

/** Bytes of the character that starts with `byte`; 1 when none does. */
function lengthFrom(byte: number | undefined): number {
  if (byte === undefined || byte < 0xc2 || byte > 0xf4) return 1;
  if (byte < 0xe0) return 2;
  return byte < 0xf0 ? 3 : 4;
}
