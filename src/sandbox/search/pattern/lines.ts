/**
 * The lines in which matches begin, as a search shows them: number, column, bounded text and context.
 *
 * INVARIANT: nothing shown is longer than SEARCH_LINE_CHARACTERS_MAX characters, and only the first match of a line
 * makes it appear.
 */
import { SEARCH_LINE_CHARACTERS_MAX } from "../../../base/limits.ts";
import { matchAll, textStart } from "./matching.ts";
import type { ThreadLine } from "./messages.ts";
import type { ReadyPattern } from "./pattern.ts";

const NEWLINE = 10;
const CARRIAGE_RETURN = 13;
/** Bytes of one character of UTF-8 at most. */
const CHARACTER_BYTES_MAX = 4;
/** Characters kept in front of the match when a line is cut. */
const LEAD_CHARACTERS = 100;

/** Bytes of what is shown of a line, its surroundings included. */
export function lineBytes({ text, before, after }: ThreadLine): number {
  let bytes = Buffer.byteLength(text);
  for (const line of before) bytes += Buffer.byteLength(line);
  for (const line of after) bytes += Buffer.byteLength(line);
  return bytes;
}

/**
 * The first `linesMax` lines of `bytes` with a match, and the number of matches seen until then. The line that makes
 * them more than `bytesMax` bytes is the last.
 */
export function findLines(
  bytes: Buffer,
  pattern: ReadyPattern,
  options: {
    readonly context: number;
    readonly linesMax: number;
    readonly bytesMax: number;
    readonly fromLine?: number;
  },
): { readonly count: number; readonly lines: readonly ThreadLine[] } {
  const lines: ThreadLine[] = [];
  const cursor = new LineCursor(bytes);
  let count = 0;
  let room = options.bytesMax;
  matchAll(bytes, { pattern }, (start, end) => {
    // An empty match behind the last line feed is in no line.
    if (start === bytes.length && bytes.length > 0 && bytes[start - 1] === NEWLINE) return true;
    if (cursor.isBefore(start)) {
      if (lines.length === options.linesMax || room < 0) return false;
      const found = cursor.moveTo(start);
      if (found.number < (options.fromLine ?? 0)) return true;
      const line = shown(bytes, { line: found, start, end }, options.context);
      lines.push(line);
      room -= lineBytes(line);
    }
    count += 1;
    return true;
  });
  return { count, lines };
}

interface Line {
  readonly number: number;
  readonly start: number;
  /** Position of its line feed, or the end of the text. */
  readonly end: number;
}

/** Goes from line to line, forwards only. */
class LineCursor {
  readonly #bytes: Buffer;
  #line: Line = { number: 0, start: 0, end: -1 };
  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** Whether `position` lies beyond the line that the cursor is on. */
  isBefore(position: number): boolean {
    return position > this.#line.end || this.#line.number === 0;
  }

  /** The line of `position`. */
  moveTo(position: number): Line {
    let { number, start, end } = this.#line;
    while (number === 0 || position > end) {
      number += 1;
      start = end + 1;
      end = lineEnd(this.#bytes, start);
    }
    this.#line = { number, start, end };
    return this.#line;
  }
}

function lineEnd(bytes: Buffer, from: number): number {
  const at = bytes.indexOf(NEWLINE, from);
  return at === -1 ? bytes.length : at;
}

/** A match from `start` to `end`, and the line that it begins in. */
interface LineMatch {
  readonly line: Line;
  readonly start: number;
  readonly end: number;
}

function shown(bytes: Buffer, { line, start, end }: LineMatch, context: number): ThreadLine {
  const first = line.start === 0 ? textStart(bytes) : line.start;
  const lead = charactersBetween(bytes, first, start);
  const { text, cut } = lineText(bytes, { start: first, end: line.end }, start);
  const endLine = line.number + linesCrossed(bytes, line.end, end);
  return {
    line: line.number,
    column: lead + 1,
    text,
    ...(cut && { cut: true }),
    ...(endLine > line.number && { endLine }),
    before: linesBefore(bytes, line.start, context),
    after: linesAfter(bytes, line.end, context),
  };
}

/**
 * Line feeds that a match which ends at `end` goes over, from the end of its first line on; one at its very end counts
 * not.
 */
function linesCrossed(bytes: Buffer, from: number, end: number): number {
  let crossed = 0;
  for (let at = from; at < end - 1 && at !== -1; at = bytes.indexOf(NEWLINE, at + 1)) crossed += 1;
  return crossed;
}

function linesBefore(bytes: Buffer, start: number, count: number): readonly string[] {
  const lines: string[] = [];
  for (let end = start - 1; lines.length < count && end >= 0; ) {
    const from = end === 0 ? 0 : bytes.lastIndexOf(NEWLINE, end - 1) + 1;
    const first = from === 0 ? textStart(bytes) : from;
    lines.push(lineText(bytes, { start: Math.min(first, end), end }).text);
    end = from - 1;
  }
  return lines.reverse();
}

function linesAfter(bytes: Buffer, end: number, count: number): readonly string[] {
  const lines: string[] = [];
  for (let from = end + 1; lines.length < count && from < bytes.length; ) {
    const to = lineEnd(bytes, from);
    lines.push(lineText(bytes, { start: from, end: to }).text);
    from = to + 1;
  }
  return lines;
}

/** The text of a line without its end; when it is too long, the part around `focus`. */
function lineText(
  bytes: Buffer,
  { start, end }: Pick<Line, "start" | "end">,
  focus = start,
): { readonly text: string; readonly cut: boolean } {
  const to = end > start && bytes[end - 1] === CARRIAGE_RETURN ? end - 1 : end;
  if (to - start <= SEARCH_LINE_CHARACTERS_MAX) return { text: bytes.toString("utf8", start, to), cut: false };
  let from = focus - start <= LEAD_CHARACTERS ? start : Math.max(start, focus - LEAD_CHARACTERS);
  while (from > start && isContinuation(bytes[from])) from -= 1;
  let until = Math.min(to, from + SEARCH_LINE_CHARACTERS_MAX * CHARACTER_BYTES_MAX);
  while (until < to && until > from && isContinuation(bytes[until])) until -= 1;
  const text = firstCharacters(bytes.toString("utf8", from, until), SEARCH_LINE_CHARACTERS_MAX);
  return { text, cut: from > start || until < to || text.length < bytes.toString("utf8", from, until).length };
}

function firstCharacters(text: string, count: number): string {
  let end = 0;
  for (let taken = 0; taken < count && end < text.length; taken += 1)
    end += (text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1;
  return text.slice(0, end);
}

function charactersBetween(bytes: Buffer, from: number, to: number): number {
  let characters = 0;
  for (let at = from; at < to; at += 1) if (!isContinuation(bytes[at])) characters += 1;
  return characters;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
