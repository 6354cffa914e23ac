/** Text as a caller may see it: each secret is its marker. Knows the way back from there to the bytes. Pure. */
import type { HiddenRange } from "./hidden-range.ts";

/** What is shown, and where it comes from. */
export interface ShownBytes {
  readonly bytes: Buffer;
  /** The place in the original of a range that is shown, or `undefined` where a marker stands in it. */
  readonly placeOf: (start: number, end: number) => { readonly start: number; readonly end: number } | undefined;
  /** Where a position of the original is shown, or `undefined` within what a marker stands for. */
  readonly shownAt: (position: number) => number | undefined;
}

/** `bytes` with the marker of each of `hidden`, which are sorted, in its place. */
export function shownBytes(bytes: Uint8Array, hidden: readonly HiddenRange[]): ShownBytes {
  const original = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (hidden.length === 0) {
    return { bytes: original, placeOf: (start, end) => ({ start, end }), shownAt: (position) => position };
  }
  const pieces: Buffer[] = [];
  const markers: { readonly start: number; readonly end: number; readonly shift: number }[] = [];
  let at = 0;
  let length = 0;
  for (const { start, end, marker } of hidden) {
    const shown = Buffer.from(marker);
    pieces.push(original.subarray(at, start), shown);
    length += start - at;
    markers.push({ start: length, end: length + shown.length, shift: end - (length + shown.length) });
    length += shown.length;
    at = end;
  }
  return {
    bytes: Buffer.concat([...pieces, original.subarray(at)]),
    placeOf(start, end) {
      const before = markersUpTo(markers, start);
      const next = markers[before];
      if (next !== undefined && next.start < end) return undefined;
      const shift = markers[before - 1]?.shift ?? 0;
      return { start: start + shift, end: end + shift };
    },
    shownAt(position) {
      const before = markersUpTo(hidden, position);
      if ((hidden[before]?.start ?? Number.POSITIVE_INFINITY) < position) return undefined;
      return position - (markers[before - 1]?.shift ?? 0);
    },
  };
}

/** How many markers, or texts under them, end at or before `position`. */
function markersUpTo(markers: readonly { readonly end: number }[], position: number): number {
  let low = 0;
  let high = markers.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((markers[middle]?.end ?? 0) <= position) low = middle + 1;
    else high = middle;
  }
  return low;
}
