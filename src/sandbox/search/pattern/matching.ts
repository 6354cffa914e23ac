/**
 * All matches of a pattern in the bytes of one file, left to right and without overlap.
 *
 * INVARIANTS: matches are those of the whole text, however it is cut up for speed; a regular expression gets no more
 * than REGEX_BUDGET_MS of processor time per file, as far as can be seen between two steps (a step that never ends is
 * the business of whoever runs the thread).
 */

import { EDIT_NATIVE_STEPS_MAX } from "../../../base/limits.ts";
import { eachMatch } from "../../../text/byte-matches.ts";
import { beginBudget } from "./budget.ts";
import { eachMarkedMatch } from "./marked-matches.ts";
import type { ReadyPattern } from "./pattern.ts";
import { earliestPlace } from "./rare-bytes.ts";
import { engineText, stringOf } from "./text.ts";

/** Told of a match; answers whether it wants more. */
export type OnMatch = (start: number, end: number) => boolean;

/** Thrown when a file takes longer than its budget, or has more matches than fit. */
export class OverBudget extends Error {}

type RegexPattern = Extract<ReadyPattern, { kind: "regex" }>;

/** Bytes that the engine gets at once where matches stay within their lines. */
const WINDOW_BYTES = 64 * 1024;
/** Windows' worth of bytes up to which the engine lists all matches at once. */
const LISTED_WINDOWS = 2;
/** Matches after which the budget is looked at again. */
const MATCHES_PER_LOOK = 4096;
const NEWLINE = 10;
/** UTF-8 byte order mark; it is no part of the first line. */
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/**
 * Calls `onMatch` for each match of `pattern` in `bytes`, until it wants no more.
 * @param windowBytes how much the engine gets at once, where it need not get everything
 * @throws OverBudget
 */
export function matchAll(
  bytes: Buffer,
  { pattern, windowBytes = WINDOW_BYTES }: { readonly pattern: ReadyPattern; readonly windowBytes?: number },
  onMatch: OnMatch,
): void {
  if (pattern.kind === "bytes") {
    const { text } = pattern.sought;
    const from = earliestPlace(bytes, pattern.sought, 0);
    if (from === -1) return;
    eachMatch(bytes.subarray(from), { spec: text, nativeStepsMax: EDIT_NATIVE_STEPS_MAX }, (start) =>
      onMatch(from + start, from + start + text.byteLength),
    );
    return;
  }
  const first = textStart(bytes);
  const isOverBudget = beginBudget();
  const hit = pattern.firstPlace(bytes, first);
  if (hit === -1) return;
  const scan: Scan = { bytes, pattern, onMatch, windowBytes, isOverBudget };
  if (pattern.withinLine) matchByLines(scan, first, hit);
  else matchWindow(scan, first, bytes.length);
}

/** Where the text begins: after a byte order mark. */
export function textStart(bytes: Buffer): number {
  return bytes.length >= 3 && bytes.subarray(0, 3).equals(BYTE_ORDER_MARK) ? 3 : 0;
}

interface Scan {
  readonly bytes: Buffer;
  readonly pattern: RegexPattern;
  readonly onMatch: OnMatch;
  readonly windowBytes: number;
  readonly isOverBudget: () => boolean;
}

/** Window by window of whole lines; lines before the next place where a match can be are passed over. */
function matchByLines(scan: Scan, first: number, firstHit: number): void {
  const { bytes, windowBytes } = scan;
  const { required, firstPlace } = scan.pattern;
  let hit = firstHit;
  let done = first;
  while (hit !== -1) {
    const lineStart = hit === 0 ? 0 : bytes.lastIndexOf(NEWLINE, hit - 1) + 1;
    const from = Math.max(done, lineStart);
    const lineEnd = bytes.indexOf(NEWLINE, Math.max(hit, from + windowBytes - 1));
    const to = lineEnd === -1 ? bytes.length : lineEnd + 1;
    if (!matchWindow(scan, from, to)) return;
    if (to === bytes.length) {
      // An empty match may stand behind the last line feed.
      if (bytes[to - 1] === NEWLINE && required === undefined) matchWindow(scan, to, to);
      return;
    }
    done = to;
    hit = firstPlace(bytes, to);
  }
}

/**
 * The matches in a window; one that begins behind the window's last line feed belongs to the next. Whether more are
 * wanted.
 */
function matchWindow({ bytes, pattern, onMatch, windowBytes, isOverBudget }: Scan, from: number, to: number): boolean {
  const { text, toByte } = engineText(bytes.subarray(from, to));
  const endsInLineFeed = pattern.withinLine && to > from && bytes[to - 1] === NEWLINE;
  let seen = 0;
  const tell = (start: number, end: number): boolean => {
    seen += 1;
    if (seen % MATCHES_PER_LOOK === 0 && isOverBudget()) throw new OverBudget();
    const at = from + toByte(start);
    return (endsInLineFeed && at === to) || onMatch(at, from + toByte(end));
  };
  if (to - from > LISTED_WINDOWS * windowBytes) {
    // A line or a file that may not be cut: its matches are not listed, because there may be millions.
    const told = eachMarkedMatch(pattern, stringOf(text), tell);
    if (told === "too_many" || isOverBudget()) throw new OverBudget();
    return told === "all";
  }
  const matches = pattern.findAll(text);
  if (isOverBudget()) throw new OverBudget();
  return matches.every(({ start, end }) => tell(start, end));
}
