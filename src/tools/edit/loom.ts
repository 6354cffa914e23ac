/**
 * Loom: several edits of one file, all or none. Pure.
 *
 * Decides: whether the edits fit the original, and what they make of it. Everything is bytes, so that line ends, byte
 * order mark and bytes that are not UTF-8 outside the edits stay as they are. INVARIANTS: all matches are counted
 * against the original before anything is applied; a count other than expected ends everything; two edits never touch
 * the same line, so their order does not matter. `append_after` and `prepend_before` insert directly after or before
 * the matched text, also in the middle of a line.
 */

import { MIB } from "../../base/bytes.ts";
import { EDIT_NATIVE_STEPS_MAX, MAX_WRITE_SIZE } from "../../base/limits.ts";
import type { MatchedPlace } from "../../model/work/matching.ts";
import { eachMatch, findMatches, type Matches, type Sought } from "../../text/byte-matches.ts";
import type { HiddenRange } from "../../text/hidden-range.ts";
import { endOfLine } from "../../text/lines.ts";
import type { Change } from "../../text/unified-diff.ts";

/** Matches that the edits of one call replace together. */
export const EDIT_MATCHES_MAX = 100_000;
/** Bytes that one edit call searches: file size times number of edits; hostile text costs less than a second then. */
export const EDIT_SCAN_BYTES_MAX = 256 * MIB;

/** What an edit does with the text it matches. */
export const LOOM_OPERATIONS = ["replace", "append_after", "prepend_before", "delete"] as const;

/** One edit: `spec` must match exactly `count` times, or as often as it likes, but at least once. */
export interface LoomEdit {
  readonly operation: (typeof LOOM_OPERATIONS)[number];
  readonly spec: Uint8Array;
  readonly content: Uint8Array;
  readonly count: number | "any";
  /** Where it matches, and what goes there, for an edit whose text is no plain text; at most one more than expected. */
  readonly places?: readonly MatchedPlace[];
}

/** What came of it. Edits are named by their index, lines count from 1. */
export type LoomResult =
  | { readonly kind: "applied"; readonly bytes: Uint8Array; readonly changes: readonly Change[] }
  | {
      readonly kind: "mismatch";
      readonly edit: number;
      readonly expected: number;
      readonly found: number;
      /** The lines in which the first matches begin. */
      readonly lines: readonly number[];
    }
  | { readonly kind: "overlap"; readonly edits: readonly [number, number]; readonly line: number }
  | { readonly kind: "too_large"; readonly what: "matches" | "search" | "result" };

interface Match {
  readonly edit: number;
  readonly start: number;
  readonly end: number;
  readonly content: Uint8Array;
}

/** Lines of matches that a mismatch names. */
const MISMATCH_LINES_MAX = 8;

/**
 * Applies `edits` to `original`.
 * @param hidden secrets that the author of the edits has not seen: a match that cuts one is none, so that nobody learns
 * a
 *   secret piece by piece from what matches
 */
export function applyEdits(
  original: Uint8Array,
  edits: readonly LoomEdit[],
  hidden: readonly HiddenRange[] = [],
): LoomResult {
  if (original.byteLength * edits.length > EDIT_SCAN_BYTES_MAX) return { kind: "too_large", what: "search" };
  if (edits.reduce((sum, edit) => sum + leastOf(edit), 0) > EDIT_MATCHES_MAX)
    return { kind: "too_large", what: "matches" };
  const matches: Match[] = [];
  for (const [index, edit] of edits.entries()) {
    const count = edit.count === "any" ? EDIT_MATCHES_MAX : edit.count;
    const found = edit.places ?? exactPlaces(original, edit, { count, edits: edits.length, hidden });
    const number = "length" in found ? found.length : found.count;
    const places = "length" in found ? found : found.places;
    if (edit.count === "any" ? number === 0 : number !== edit.count)
      return {
        kind: "mismatch",
        edit: index,
        expected: leastOf(edit),
        found: number,
        lines: places.slice(0, MISMATCH_LINES_MAX).map(({ start }) => lineAt(original, start)),
      };
    if (number > EDIT_MATCHES_MAX) return { kind: "too_large", what: "matches" };
    for (const place of places) matches.push({ ...place, edit: index });
  }
  matches.sort((left, right) => left.start - right.start || left.end - right.end);
  const overlap = findOverlap(original, matches);
  if (overlap) return overlap;
  const changes = matches.map((match) => changeOf(match, edits));
  const sizeBytes = changes.reduce(
    (sum, change) => sum + change.content.byteLength - (change.end - change.start),
    original.byteLength,
  );
  if (sizeBytes > MAX_WRITE_SIZE) return { kind: "too_large", what: "result" };
  return { kind: "applied", bytes: splice(original, changes, sizeBytes), changes };
}

/** The matches of plain text: all are counted, and as many listed as are expected, or shown of too many. */
function exactPlaces(
  original: Uint8Array,
  { spec, content }: LoomEdit,
  { count, edits, hidden }: { readonly count: number; readonly edits: number; readonly hidden: readonly HiddenRange[] },
): { readonly count: number; readonly places: readonly MatchedPlace[] } {
  const sought = { spec, count: Math.max(count, MISMATCH_LINES_MAX), nativeStepsMax: EDIT_NATIVE_STEPS_MAX / edits };
  const found = visibleMatches(original, sought, hidden);
  const places = found.starts.map((start) => ({ start, end: start + spec.byteLength, content }));
  return { count: found.count, places };
}

function leastOf({ count }: LoomEdit): number {
  return count === "any" ? 1 : count;
}

/** The matches of an edit; one that cuts a hidden text is none, and one that takes all of it counts. */
export function visibleMatches(
  original: Uint8Array,
  sought: Sought & { readonly count: number },
  hidden: readonly HiddenRange[],
): Matches {
  if (hidden.length === 0) return findMatches(original, sought, sought.count);
  const starts: number[] = [];
  let count = 0;
  let next = 0; // matches and hidden texts both go from left to right
  // Whether a match cuts the first or the last hidden text that it touches; those between it takes as wholes.
  const cuts = (start: number, end: number): boolean => {
    while (next < hidden.length && (hidden[next]?.end ?? 0) <= start) next += 1;
    for (let index = next; index < hidden.length; index += 1) {
      const range = hidden[index];
      if (range === undefined || range.start >= end) return false;
      if (range.start < start || range.end > end) return true;
    }
    return false;
  };
  eachMatch(original, sought, (start) => {
    if (cuts(start, start + sought.spec.byteLength)) return true;
    count += 1;
    if (starts.length < sought.count) starts.push(start);
    return true;
  });
  return { count, starts };
}

/** The first line that two different edits touch. `matches` are in order. */
function findOverlap(original: Uint8Array, matches: readonly Match[]): LoomResult | undefined {
  let lineEnd = 0; // end of the last line that the matches so far touch
  let owner = -1;
  for (const match of matches) {
    if (match.start < lineEnd && match.edit !== owner)
      return { kind: "overlap", edits: [owner, match.edit], line: lineAt(original, match.start) };
    if (match.end > lineEnd) lineEnd = endOfLine(original, Math.max(match.start, match.end - 1));
    owner = match.edit;
  }
  return undefined;
}

function changeOf(match: Match, edits: readonly LoomEdit[]): Change {
  const { start, end, content } = match;
  const { operation } = edits[match.edit] ?? { operation: "delete" };
  switch (operation) {
    case "replace":
      return { start, end, content };
    case "delete":
      return { start, end, content: new Uint8Array() };
    case "append_after":
      return { start: end, end, content };
    case "prepend_before":
      return { start, end: start, content };
  }
}

/** `original` with `changes` (in order, not overlapping) made. */
function splice(original: Uint8Array, changes: readonly Change[], sizeBytes: number): Uint8Array {
  const bytes = new Uint8Array(sizeBytes);
  let from = 0;
  let to = 0;
  const put = (part: Uint8Array) => {
    bytes.set(part, to);
    to += part.byteLength;
  };
  for (const change of changes) {
    put(original.subarray(from, change.start));
    put(change.content);
    from = change.end;
  }
  put(original.subarray(from));
  return bytes;
}

const NEWLINE = 10;

function lineAt(bytes: Uint8Array, position: number): number {
  let line = 1;
  for (let index = 0; index < position; index += 1) if (bytes[index] === NEWLINE) line += 1;
  return line;
}
