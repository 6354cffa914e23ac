/**
 * Finding every match of a text, byte by byte and without overlap, left to right. Edits and searches share it, so that
 * what a search counts is what an edit finds.
 *
 * INVARIANT: the time is bounded by the sizes alone. The engine's own search is fast, yet for hostile input its time is
 * the product of both sizes, so it serves only while that product is small; beyond it, Knuth, Morris and Pratt's
 * search takes time in proportion to the sum.
 */

/** The matches of a search: how many there are, and where the first ones begin. */
export interface Matches {
  readonly count: number;
  readonly starts: readonly number[];
}

/** What is searched for. The engine's search serves when even its worst case is below `nativeStepsMax`. */
export interface Sought {
  /** Not empty. */
  readonly spec: Uint8Array;
  readonly nativeStepsMax: number;
}

/** All matches of `sought` in `text`; remembers where the first `keep` of them begin. */
export function findMatches(text: Uint8Array, sought: Sought, keep: number): Matches {
  const starts: number[] = [];
  let count = 0;
  eachMatch(text, sought, (start) => {
    count += 1;
    if (starts.length < keep) starts.push(start);
    return true;
  });
  return { count, starts };
}

/** Tells `onMatch` where each match begins, until it answers `false`. */
export function eachMatch(
  text: Uint8Array,
  { spec, nativeStepsMax }: Sought,
  onMatch: (start: number) => boolean,
): void {
  if (text.byteLength * spec.byteLength <= nativeStepsMax) searchNatively(text, spec, onMatch);
  else searchLinearly(text, spec, onMatch);
}

function searchNatively(text: Uint8Array, spec: Uint8Array, onMatch: (start: number) => boolean): void {
  const bytes = Buffer.from(text.buffer, text.byteOffset, text.byteLength);
  for (let start = bytes.indexOf(spec); start !== -1; start = bytes.indexOf(spec, start + spec.byteLength))
    if (!onMatch(start)) return;
}

/** The same in linear time. */
function searchLinearly(text: Uint8Array, spec: Uint8Array, onMatch: (start: number) => boolean): void {
  const borders = bordersOf(spec);
  const length = spec.byteLength;
  let matched = 0;
  for (let index = 0; index < text.byteLength; index += 1) {
    const byte = text[index];
    while (matched > 0 && byte !== spec[matched]) matched = borders[matched - 1] ?? 0;
    if (byte === spec[matched]) matched += 1;
    if (matched === length) {
      if (!onMatch(index - length + 1)) return;
      matched = 0; // matches do not overlap
    }
  }
}

/** For each prefix of `spec`, the length of its longest proper prefix that is also its end. */
function bordersOf(spec: Uint8Array): Uint32Array {
  const borders = new Uint32Array(spec.byteLength);
  let length = 0;
  for (let index = 1; index < spec.byteLength; index += 1) {
    while (length > 0 && spec[index] !== spec[length]) length = borders[length - 1] ?? 0;
    if (spec[index] === spec[length]) length += 1;
    borders[index] = length;
  }
  return borders;
}
