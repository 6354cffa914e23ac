/**
 * The unified diff of a change, written from what is known to have changed. Pure.
 *
 * Both versions are not compared here: an edit knows its changes, and `line-changes.ts` finds those between two
 * versions. Lines are shown as text; bytes that are not UTF-8 as replacement characters, for the diff is for reading
 * and not for applying. INVARIANT: memory and time are in proportion to the file, and what is returned is bounded by
 * its limits, which say what was left out.
 */

import type { HiddenRange } from "./hidden-range.ts";
import { countLines, endOfLine, startOfLine } from "./lines.ts";

/** Lines of a unified diff in an answer; the rest is counted. */
export const DIFF_LINES_MAX = 400;
/** Characters of one line in a diff; the rest of the line is counted. */
export const DIFF_LINE_CHARACTERS_MAX = 500;

const NEWLINE = 10;
const CONTEXT_LINES = 3;
const NO_NEWLINE = "\\ No newline at end of file";

/** Bytes from `start` to `end` of the original become `content`. */
export interface Change {
  readonly start: number;
  readonly end: number;
  readonly content: Uint8Array;
}

/** How much of a diff is shown. */
export interface DiffLimits {
  readonly linesMax: number;
  /** Bytes of one line. */
  readonly lineMax: number;
}

const ANSWER_LIMITS: DiffLimits = { linesMax: DIFF_LINES_MAX, lineMax: DIFF_LINE_CHARACTERS_MAX };

/** A diff, how many of its lines were left out, and how many of those that stand are shown in part. */
export interface Diff {
  readonly text: string;
  readonly linesOmitted: number;
  readonly linesCut: number;
}

/** Whole lines of the original, from `from` to `to`, and what stands there afterwards. */
interface Block {
  readonly from: number;
  readonly to: number;
  readonly after: Uint8Array;
}

/** Finds what must not be shown. */
export type HiddenIn = (bytes: Uint8Array) => readonly HiddenRange[];

/** Both versions of a text. */
export interface EditedText {
  readonly original: Uint8Array;
  /** What was changed, in order, not overlapping. */
  readonly changes: readonly Change[];
  readonly updated: Uint8Array;
}

/** How a diff is shown. */
export interface DiffDisplay {
  /** Looks at both versions as wholes, so that no line shows a part of a secret. */
  readonly hidden?: HiddenIn;
  readonly limits?: DiffLimits;
}

/** The unified diff of an edited text. */
export function unifiedDiff(path: string, { original, changes, updated }: EditedText, display: DiffDisplay = {}): Diff {
  const { hidden = () => [], limits = ANSWER_LIMITS } = display;
  const hunks = hunksOf(original, blocksOf(original, changes));
  if (hunks.length === 0) return { text: "", linesOmitted: 0, linesCut: 0 };
  const out = new Lines(limits);
  out.push(`--- a/${onOneLine(path)}`);
  out.push(`+++ b/${onOneLine(path)}`);
  const before: Version = { bytes: original, hidden: hidden(original) };
  const after: Version = { bytes: updated, hidden: hidden(updated) };
  const writing = { out, before, after };
  let longer = 0; // bytes that the new version is longer by
  let line = 1; // of the original, at `position`
  let position = 0;
  let shift = 0; // lines that the new version is longer by
  for (const hunk of hunks) {
    line += countLines(original, position, hunk.from);
    position = hunk.from;
    const added = writeHunk(writing, hunk, { line, shift, longer });
    shift += added.lines;
    longer += added.bytes;
  }
  return { text: out.text(), linesOmitted: out.omitted, linesCut: out.cut };
}

/** The changes as blocks of whole lines, each reduced to the lines that differ. */
function blocksOf(original: Uint8Array, changes: readonly Change[]): Block[] {
  const blocks: Block[] = [];
  let open: OpenBlock | undefined;
  for (const change of changes) {
    while (open && !open.holds(change.start) && !open.close()) open.extend();
    if (open && !open.holds(change.start)) {
      blocks.push(open.block());
      open = undefined;
    }
    open ??= new OpenBlock(original, startOfLine(original, change.start));
    open.apply(change);
  }
  while (open && !open.close()) open.extend();
  if (open) blocks.push(open.block());
  return blocks
    .map((block) => trimmed(original, block))
    .filter((block) => block.to > block.from || block.after.byteLength > 0);
}

/** A block that still grows: by changes to its lines, and by the next line when its last line feed went away. */
class OpenBlock {
  readonly #original: Uint8Array;
  readonly #from: number;
  readonly #pieces: Uint8Array[] = [];
  #to: number;
  #cursor: number;
  #last: number | undefined;

  constructor(original: Uint8Array, from: number) {
    this.#original = original;
    this.#from = from;
    this.#to = from;
    this.#cursor = from;
  }

  /** Whether `position` lies on the block's lines. */
  holds(position: number): boolean {
    return position < this.#to || (position === this.#to && this.#original[position - 1] !== NEWLINE);
  }

  apply(change: Change): void {
    this.#keep(change.start);
    this.#put(change.content);
    this.#cursor = change.end;
    const touched = Math.max(change.start, change.end - 1);
    if (touched >= this.#to) this.#to = endOfLine(this.#original, touched);
  }

  /** Takes the rest of the block's lines; whether the block ends with a line feed now, or with the file. */
  close(): boolean {
    this.#keep(this.#to);
    return this.#last === NEWLINE || this.#last === undefined || this.#to >= this.#original.byteLength;
  }

  extend(): void {
    this.#to = endOfLine(this.#original, this.#to);
  }

  block(): Block {
    return { from: this.#from, to: this.#to, after: Buffer.concat(this.#pieces) };
  }

  #keep(end: number): void {
    if (end > this.#cursor) this.#put(this.#original.subarray(this.#cursor, end));
    this.#cursor = Math.max(this.#cursor, end);
  }

  #put(bytes: Uint8Array): void {
    if (bytes.byteLength === 0) return;
    this.#pieces.push(bytes);
    this.#last = bytes.at(-1);
  }
}

/** `block` without the lines at its beginning and end that did not change. */
function trimmed(original: Uint8Array, block: Block): Block {
  const before = original.subarray(block.from, block.to);
  const { after } = block;
  const shorter = Math.min(before.byteLength, after.byteLength);
  let head = 0;
  for (let index = 0; index < shorter && before[index] === after[index]; index += 1)
    if (before[index] === NEWLINE) head = index + 1;
  let tail = 0;
  for (let length = 1; length <= shorter - head; length += 1) {
    if (before[before.byteLength - length] !== after[after.byteLength - length]) break;
    const startsLine = (bytes: Uint8Array) =>
      bytes.byteLength === length || bytes[bytes.byteLength - length - 1] === NEWLINE;
    if (startsLine(before) && startsLine(after)) tail = length;
  }
  return { from: block.from + head, to: block.to - tail, after: after.subarray(head, after.byteLength - tail) };
}

/** Blocks that share context, and the range of the original that they show. */
interface Hunk {
  readonly from: number;
  readonly to: number;
  readonly blocks: readonly Block[];
}

function hunksOf(original: Uint8Array, blocks: readonly Block[]): Hunk[] {
  const hunks: { from: number; to: number; blocks: Block[] }[] = [];
  for (const block of blocks) {
    const from = linesBefore(original, block.from, CONTEXT_LINES);
    const to = linesAfter(original, block.to, CONTEXT_LINES);
    const previous = hunks.at(-1);
    if (previous && from <= previous.to) {
      previous.blocks.push(block);
      previous.to = to;
    } else {
      hunks.push({ from, to, blocks: [block] });
    }
  }
  return hunks;
}

/** One of the two versions, and the secrets in it. */
interface Version {
  readonly bytes: Uint8Array;
  readonly hidden: readonly HiddenRange[];
}

interface Place {
  readonly line: number;
  readonly shift: number;
  readonly longer: number;
}

interface Added {
  readonly lines: number;
  readonly bytes: number;
}

/** A diff in the making. */
interface Writing {
  readonly out: Lines;
  readonly before: Version;
  readonly after: Version;
}

/** Writes one hunk; the result is what it adds. */
function writeHunk({ out, before: old, after: updated }: Writing, hunk: Hunk, { line, shift, longer }: Place): Added {
  const original = old.bytes;
  const before = countLines(original, hunk.from, hunk.to);
  let added = 0;
  for (const block of hunk.blocks)
    added += countLines(block.after, 0, block.after.byteLength) - countLines(original, block.from, block.to);
  out.push(`@@ -${range(line, before)} +${range(line + shift, before + added)} @@`);
  let position = hunk.from;
  let bytes = longer;
  for (const block of hunk.blocks) {
    const from = block.from + bytes;
    out.pushLines(" ", old, { from: position, to: block.from });
    out.pushLines("-", old, block);
    out.pushLines("+", updated, { from, to: from + block.after.byteLength });
    bytes += block.after.byteLength - (block.to - block.from);
    position = block.to;
  }
  out.pushLines(" ", old, { from: position, to: hunk.to });
  return { lines: added, bytes: bytes - longer };
}

/** A range as unified diffs write it; an empty one names the line before it. */
function range(line: number, count: number): string {
  return count === 1 ? `${line}` : `${count === 0 ? line - 1 : line},${count}`;
}

/** A path cannot forge lines of the diff. */
function onOneLine(path: string): string {
  return path.replaceAll(/[\r\n]/g, (end) => (end === "\n" ? "\\n" : "\\r"));
}

/** Lines of output, the first of them. */
class Lines {
  readonly #limits: DiffLimits;
  readonly #lines: string[] = [];
  omitted = 0;
  cut = 0;

  constructor(limits: DiffLimits) {
    this.#limits = limits;
  }

  push(line: string): void {
    if (this.#lines.length < this.#limits.linesMax) this.#lines.push(line);
    else this.omitted += 1;
  }

  /** The lines of a version from `from` to `to`, each after `sign`. */
  pushLines(sign: string, version: Version, { from, to }: Pick<Block, "from" | "to">): void {
    const { bytes } = version;
    let position = from;
    while (position < to && this.#lines.length < this.#limits.linesMax) {
      const end = Math.min(to, endOfLine(bytes, position));
      const open = bytes[end - 1] !== NEWLINE;
      const line = visible(version, position, open ? end : end - 1);
      if (line.byteLength > this.#limits.lineMax) this.cut += 1;
      this.push(sign + shown(line, this.#limits.lineMax));
      if (open) this.push(NO_NEWLINE);
      position = end;
    }
    this.omitted += countLines(bytes, position, to);
  }

  text(): string {
    return `${this.#lines.join("\n")}\n`;
  }
}

/** The bytes of a line, with markers where secrets stand, also such as begin before it or end after it. */
function visible({ bytes, hidden }: Version, from: number, to: number): Uint8Array {
  const inside = hidden.filter(({ start, end }) => start < to && end > from);
  if (inside.length === 0) return bytes.subarray(from, to);
  const pieces: Uint8Array[] = [];
  let at = from;
  for (const { start, end, marker } of inside) {
    pieces.push(bytes.subarray(at, Math.max(at, start)), Buffer.from(marker));
    at = Math.min(to, end);
  }
  return Buffer.concat([...pieces, bytes.subarray(at, to)]);
}

const lossyUtf8 = new TextDecoder("utf-8", { ignoreBOM: true });

function shown(line: Uint8Array, bytesMax: number): string {
  const text = lossyUtf8.decode(line.subarray(0, bytesMax));
  return line.byteLength <= bytesMax ? text : `${text}… (${line.byteLength - bytesMax} more bytes)`;
}

function linesBefore(bytes: Uint8Array, position: number, count: number): number {
  let start = position;
  for (let line = 0; line < count && start > 0; line += 1) start = startOfLine(bytes, start - 1);
  return start;
}

function linesAfter(bytes: Uint8Array, position: number, count: number): number {
  let end = position;
  for (let line = 0; line < count && end < bytes.byteLength; line += 1) end = endOfLine(bytes, end);
  return end;
}
