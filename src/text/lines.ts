/** Lines of bytes: each ends after its line feed, the last one with the bytes. */

const NEWLINE = 10;

/** Where the line that `position` lies on ends, its line feed included. */
export function endOfLine(bytes: Uint8Array, position: number): number {
  const at = bytes.indexOf(NEWLINE, position);
  return at === -1 ? bytes.byteLength : at + 1;
}

/** Where the line that `position` lies on begins. */
export function startOfLine(bytes: Uint8Array, position: number): number {
  return position === 0 ? 0 : bytes.lastIndexOf(NEWLINE, position - 1) + 1;
}

/** Lines from `from` to `to`, both at the beginning of a line or at the end of the bytes. */
export function countLines(bytes: Uint8Array, from: number, to: number): number {
  let lines = 0;
  for (let index = from; index < to; index += 1) if (bytes[index] === NEWLINE) lines += 1;
  return to > from && bytes[to - 1] !== NEWLINE ? lines + 1 : lines;
}
