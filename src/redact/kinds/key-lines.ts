/**
 * Reader of private keys whose lines have something around them.
 *
 * That is a time, the name of a container or of a file, a line number, colours, quotes, members of JSON.
 *
 * A line of key is one whose longest run of base64 is long. With a closing line, everything up to it is the key;
 * without, the lines whose runs are of one length, which those of a key are and words of a log are not.
 *
 * It is pure and bounded: it ends at the next opening line, and looks at each character some few times.
 */

import { ALPHANUMERIC, codeSet } from "../search/code-set.ts";

/** Characters of one line with what stands around it: more is no line of a log that shows a key. */
const LINE_CHARACTERS_MAX = 512;
/** Characters of base64 that a line of key has, the last one apart. */
const RUN_CHARACTERS_MIN = 48;
/** The same where a closing line follows. */
const CLOSED_RUN_CHARACTERS_MIN = 32;
/** Lines in a row that are none of the key, such as those of another container. */
const FOREIGN_LINES_MAX = 4;

/** Columns by which the last line may stand elsewhere: numbers of lines grow. */
const COLUMNS_MAX = 3;

/** A run of base64 in a line. */
interface Run {
  readonly start: number;
  readonly end: number;
}

/** How far a block goes, and whether its closing line stands there. */
export interface KeyLines {
  readonly end: number;
  readonly isClosed: boolean;
}

/**
 * The lines of key from `start` on, behind the opening line, up to `limit`.
 * @param closing finds the closing line at a place
 */
export function readKeyLines(
  text: string,
  { start, limit }: { readonly start: number; readonly limit: number },
  closing: RegExp,
): KeyLines | undefined {
  let at = endOfLine(text, start, limit);
  let unclosed: Unclosed = NOTHING;
  let runs = 0;
  for (let foreign = 0; foreign <= FOREIGN_LINES_MAX && at < limit; ) {
    const from = skipLineEnd(text, at);
    at = endOfLine(text, from, limit);
    if (at - from > LINE_CHARACTERS_MAX) break;
    const line = text.slice(from, at);
    if (line.includes(OPENS)) break;
    const closes = endOfClosing(text, { from, line }, closing);
    if (closes !== undefined) return runs > 0 ? { end: closes, isClosed: true } : undefined;
    const run = longestRun(text, from, at);
    const isLong = run.end - run.start >= CLOSED_RUN_CHARACTERS_MIN;
    if (isLong) runs += 1;
    foreign = isLong ? 0 : foreign + 1;
    unclosed = goOn(unclosed, text, { from, run });
  }
  return unclosed.end === undefined ? undefined : { end: unclosed.end, isClosed: false };
}

const OPENS = "-----BEGIN ";

/** The lines of one length that have been met. */
interface Unclosed {
  readonly end: number | undefined;
  readonly isOver: boolean;
  /** Where a run begins in its line, and its length. */
  readonly column?: number;
  readonly length?: number;
}

const NOTHING: Unclosed = { end: undefined, isOver: false };

/** Takes one more line into a key without closing line, as long as it looks like those before it. */
function goOn(met: Unclosed, text: string, line: { readonly from: number; readonly run: Run }): Unclosed {
  const { run } = line;
  const length = run.end - run.start;
  const column = run.start - line.from;
  if (met.isOver) return met;
  if (met.length === undefined) {
    const isKey = length >= RUN_CHARACTERS_MIN && isMixed(text.slice(run.start, run.end));
    return isKey ? { end: run.end, isOver: false, column, length } : met;
  }
  if (length === met.length) return { ...met, end: run.end };
  // the last line is shorter; what begins elsewhere is none of the key's
  const isBelow = Math.abs(column - (met.column ?? 0)) <= COLUMNS_MAX;
  return length > 0 && length < met.length && isBelow ? { ...met, end: run.end, isOver: true } : met;
}

/** Whether a run has letters in both cases and digits, as lines of key have. */
function isMixed(run: string): boolean {
  return /[a-z]/.test(run) && /[A-Z]/.test(run) && /\d/.test(run);
}

function endOfClosing(
  text: string,
  { from, line }: { readonly from: number; readonly line: string },
  closing: RegExp,
): number | undefined {
  for (const mark of CLOSES) {
    for (let place = line.indexOf(mark); place !== -1; place = line.indexOf(mark, place + 1)) {
      closing.lastIndex = from + place;
      const match = closing.exec(text);
      if (match) return from + place + match[0].length;
    }
  }
  return undefined;
}

const CLOSES = ["-----END ", "---- END "];

/** Where a line ends: at the end of a line of text, or at one that is written as `\n`. */
function endOfLine(text: string, start: number, limit: number): number {
  const last = Math.min(limit, text.length, start + LINE_CHARACTERS_MAX + 1);
  for (let at = start; at < last; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 10 || code === 13) return at;
    if (code === BACKSLASH && isLineEnd(text.charCodeAt(at + 1))) return at;
  }
  return last;
}

/** Behind the end of a line at `at`; several in a row are one. */
function skipLineEnd(text: string, at: number): number {
  let place = at;
  for (let count = 0; count < 4; count += 1) {
    const code = text.charCodeAt(place);
    if (code === 10 || code === 13) place += 1;
    else if (code === BACKSLASH && isLineEnd(text.charCodeAt(place + 1))) place += 2;
    else break;
  }
  return place;
}

const BACKSLASH = 92;

/** `n` or `r` behind a backslash. */
function isLineEnd(code: number): boolean {
  return code === 110 || code === 114;
}

/** The longest run of base64 from `from` up to `to`. */
function longestRun(text: string, from: number, to: number): Run {
  let longest: Run = { start: from, end: from };
  let start = from;
  for (let at = from; at <= to; at += 1) {
    if (at < to && isBase64(text.charCodeAt(at))) continue;
    if (at - start > longest.end - longest.start) longest = { start, end: at };
    start = at + 1;
  }
  return longest;
}

/** Whether a character is one of base64 or its padding. */
export const isBase64 = codeSet(`${ALPHANUMERIC}+/=`);

/** Where `count` lines of key end that follow the line in which `start` stands; as many as there are. */
export function endOfLines(
  text: string,
  { start, limit }: { readonly start: number; readonly limit: number },
  count: number,
): number | undefined {
  let at = endOfLine(text, start, limit);
  let met = NOTHING;
  let lines = 0;
  for (let foreign = 0; lines < count && foreign <= FOREIGN_LINES_MAX && at < limit; ) {
    const from = skipLineEnd(text, at);
    at = endOfLine(text, from, limit);
    if (at - from > LINE_CHARACTERS_MAX) break;
    const next = goOn(met, text, { from, run: longestRun(text, from, at) });
    if (next.isOver) return next.end;
    lines += next === met ? 0 : 1;
    foreign = next === met ? foreign + 1 : 0;
    met = next;
  }
  return met.end;
}
