/**
 * Finds the lines of a file that a read asks for, in pieces of the file as they come.
 *
 * INVARIANT: what is kept is bounded by the bytes that may be shown and the margins that redaction needs, however long
 * a file or one of its lines is.
 */
import { REDACTION_MARGIN_CHARACTERS } from "../../base/limits.ts";
import type { FileStream } from "../../model/place/files.ts";
import { CHARACTER_BYTES_MAX, characterBoundary } from "../../text/characters.ts";
import { endOfLine } from "../../text/lines.ts";

/** Lines that are asked for, both included, and how many bytes of them may be shown. */
export interface WantedLines {
  readonly first: number;
  /** Infinite: to the end of the file. */
  readonly last: number;
  readonly bytesMax: number;
}

/** The lines that were found, in what surrounds them. */
export interface FoundLines {
  readonly bytes: Uint8Array;
  /** Where the lines begin and end in `bytes`. */
  readonly start: number;
  readonly end: number;
  /** Where `bytes` begin in the file. */
  readonly offset: number;
  /** The last of them; one less than the first when there is none. */
  readonly last: number;
  /** More lines follow, whether they were asked for or not. */
  readonly hasMore: boolean;
  /** What was asked for did not fit. */
  readonly isCut: boolean;
  /** Lines of the whole file, where it was read to its end. */
  readonly total?: number;
}

const NEWLINE = 10;
const MARGIN = REDACTION_MARGIN_CHARACTERS;

/** Reads a file from its beginning as far as is needed. */
export async function findLines(
  { chunks, length }: Pick<FileStream, "chunks" | "length">,
  wanted: WantedLines,
): Promise<FoundLines> {
  const window = new LineWindow(wanted);
  let isAtEnd = true;
  for await (const piece of chunks) {
    if (window.take(piece)) continue;
    isAtEnd = window.taken >= length;
    break;
  }
  return window.found(isAtEnd);
}

class LineWindow {
  readonly #wanted: WantedLines;
  readonly #keptMax: number;
  /** The number of the line that is looked at. */
  #line = 1;
  /** Bytes of the file that were taken. */
  taken = 0;
  /** The end of what stands before the first line. */
  #before: Uint8Array = new Uint8Array();
  #isInside: boolean;
  #pieces: Uint8Array[] = [];
  #kept = 0;
  /** Line feeds among what is kept. */
  #lineFeeds = 0;
  /** Bytes that were kept when the last line that is wanted ended. */
  #ended: number | undefined;
  #endsInLine = false;

  constructor(wanted: WantedLines) {
    this.#wanted = wanted;
    this.#keptMax = wanted.bytesMax + CHARACTER_BYTES_MAX + MARGIN;
    this.#isInside = wanted.first === 1;
  }

  /** Takes the next piece. @returns whether more is needed */
  take(piece: Uint8Array): boolean {
    this.taken += piece.byteLength;
    this.#endsInLine = piece[piece.byteLength - 1] !== NEWLINE;
    const from = this.#isInside ? 0 : this.#skip(piece);
    if (from < piece.byteLength) this.#keep(piece.subarray(from));
    const needed = this.#ended === undefined ? this.#keptMax : Math.min(this.#keptMax, this.#ended + MARGIN);
    return this.#kept < needed;
  }

  /** Passes over what stands before the first line. @returns where that begins in `piece` */
  #skip(piece: Uint8Array): number {
    let at = 0;
    while (this.#line < this.#wanted.first) {
      const end = piece.indexOf(NEWLINE, at);
      if (end === -1) {
        this.#pass(piece);
        return piece.byteLength;
      }
      this.#line += 1;
      at = end + 1;
    }
    this.#isInside = true;
    this.#pass(piece.subarray(0, at));
    return at;
  }

  #pass(piece: Uint8Array): void {
    const before = piece.byteLength < MARGIN ? [this.#before] : [];
    this.#before = Buffer.concat([...before, piece.subarray(-MARGIN)]).subarray(-MARGIN);
  }

  #keep(piece: Uint8Array): void {
    const linesMax = this.#wanted.last - this.#wanted.first + 1;
    for (let at = piece.indexOf(NEWLINE); at !== -1; at = piece.indexOf(NEWLINE, at + 1)) {
      this.#lineFeeds += 1;
      if (this.#lineFeeds === linesMax) this.#ended ??= this.#kept + at + 1;
    }
    this.#pieces.push(piece);
    this.#kept += piece.byteLength;
  }

  /** @param isAtEnd the file was read to its end */
  found(isAtEnd: boolean): FoundLines {
    const { first, bytesMax } = this.#wanted;
    const start = this.#before.byteLength;
    const bytes = Buffer.concat([this.#before, ...this.#pieces]);
    const asked = start + (this.#ended ?? this.#kept);
    const { end, lines } = fitting(bytes, { start, asked, bytesMax });
    const total = this.#line - 1 + this.#lineFeeds + (this.#endsInLine ? 1 : 0);
    return {
      bytes: bytes.subarray(0, end + MARGIN),
      start,
      end,
      offset: this.taken - (this.#isInside ? this.#kept : 0) - start,
      last: (lines > 0 ? first : this.#line) + lines - 1,
      hasMore: end < bytes.byteLength || !isAtEnd,
      isCut: end < asked || (this.#ended === undefined && !isAtEnd),
      ...(isAtEnd && { total }),
    };
  }
}

/** Whole lines from `start` on that fit; a first line that does not fit alone is shown in part. */
function fitting(
  bytes: Uint8Array,
  { start, asked, bytesMax }: { readonly start: number; readonly asked: number; readonly bytesMax: number },
): { readonly end: number; readonly lines: number } {
  let end = start;
  let lines = 0;
  while (end < asked) {
    const next = Math.min(endOfLine(bytes, end), asked);
    if (next - start > bytesMax) break;
    end = next;
    lines += 1;
  }
  if (lines > 0 || start === asked) return { end, lines };
  return { end: characterBoundary(bytes, Math.min(start + bytesMax, asked)), lines: 1 };
}
