/**
 * Maps places between what a language server counts, the bytes of a file, and what its reader is shown.
 *
 * A server counts lines and units of UTF-16 from 0 in the file as it is; usages count lines of the file and characters
 * of the shown line from 1. INVARIANT: no place within a secret is mapped.
 */
import { isUtf8 } from "node:buffer";
import type { CodePlace, ServedPlace } from "../../../model/place/code.ts";
import type { ServerPosition, ServerRange } from "../../../sandbox/language/answers.ts";
import type { ShownFile } from "./usages.ts";

/** Characters of a line, and of a name, that are shown. */
const LINE_CHARACTERS_MAX = 200;
const NAME_CHARACTERS_MAX = 200;

/** A line as it is shown. */
interface ShownLine {
  readonly start: number;
  readonly line: string;
  readonly beginning: string;
  /** Each unit of it is a byte. */
  readonly isAscii: boolean;
}

/** A file as server and reader see it. */
export class ServerFile {
  readonly path: string;
  /** As the server sees it. */
  readonly text: string;
  readonly bytes: Buffer;
  readonly #shown: ShownFile["shown"];
  #lineStarts: readonly number[] | undefined;
  #lastLine: ShownLine | undefined;

  private constructor(path: string, { bytes, shown }: ShownFile) {
    this.path = path;
    this.bytes = bytes;
    this.text = bytes.toString("utf8");
    this.#shown = shown;
  }

  /** The file; nothing where its bytes are no text, so that positions would say nothing. */
  static of(path: string, file: ShownFile): ServerFile | undefined {
    return isUtf8(file.bytes) ? new ServerFile(path, file) : undefined;
  }

  /** What a place is to the server. */
  positionOf({ line, column }: CodePlace): ServerPosition | undefined {
    const start = this.#starts[line - 1];
    const shownStart = start === undefined ? undefined : this.#shown.shownAt(this.#byteOf(start));
    if (start === undefined || shownStart === undefined) return undefined;
    const at = shownStart + Buffer.byteLength(this.#shownLine(shownStart).line.slice(0, column - 1));
    const place = this.#shown.placeOf(at, at + 1);
    if (place === undefined) return undefined;
    const character = this.bytes.toString("utf8", this.#byteOf(start), place.start).length;
    return { line: line - 1, character };
  }

  /** What a range of the server's is to the reader. */
  placeOf({ start, end }: ServerRange): ServedPlace | undefined {
    const from = this.offsetOf(start);
    const to = this.offsetOf(end);
    const lineStart = this.#starts[start.line];
    if (from === undefined || to === undefined || lineStart === undefined || to < from) return undefined;
    const shownAt = this.#shown.shownAt(this.#byteOf(from));
    const shownStart = this.#shown.shownAt(this.#byteOf(lineStart));
    if (shownAt === undefined || shownStart === undefined) return undefined;
    const { line, beginning, isAscii } = this.#shownLine(shownStart);
    const units = shownAt - shownStart;
    const before = isAscii ? units : this.#shown.bytes.toString("utf8", shownStart, shownAt).length;
    const length = Math.min(to - from, NAME_CHARACTERS_MAX);
    return {
      path: this.path,
      line: start.line + 1,
      column: before + 1,
      name: line.slice(before, before + length),
      text: beginning,
    };
  }

  /** The bytes of a range; nothing where it is none, or touches a secret. */
  bytesOf({ start, end }: ServerRange): { readonly start: number; readonly end: number } | undefined {
    const from = this.offsetOf(start);
    const to = this.offsetOf(end);
    if (from === undefined || to === undefined || to < from) return undefined;
    const place = { start: this.#byteOf(from), end: this.#byteOf(to) };
    const shownAt = this.#shown.shownAt(place.start);
    const back = shownAt === undefined ? undefined : this.#shown.placeOf(shownAt, shownAt + place.end - place.start);
    return back?.start === place.start && back.end === place.end ? place : undefined;
  }

  /** The offset of a position in `text`. */
  offsetOf({ line, character }: ServerPosition): number | undefined {
    const start = this.#starts[line];
    if (start === undefined) return undefined;
    const end = this.#starts[line + 1] ?? this.text.length;
    return start + character <= end ? start + character : undefined;
  }

  get #starts(): readonly number[] {
    this.#lineStarts ??= [0, ...[...this.text.matchAll(/\n/g)].map(({ index }) => index + 1)];
    return this.#lineStarts;
  }

  #byteOf(offset: number): number {
    // each unit of a text that has none but ASCII is a byte
    return this.bytes.length === this.text.length ? offset : Buffer.byteLength(this.text.slice(0, offset));
  }

  /** The line that is shown from `start` on; the last one is kept, as a file may be one line. */
  #shownLine(start: number): ShownLine {
    if (this.#lastLine?.start === start) return this.#lastLine;
    const { bytes } = this.#shown;
    const end = bytes.indexOf(0x0a, start);
    const text = bytes.toString("utf8", start, end === -1 ? bytes.length : end);
    const line = text.replace(/\r$/, "");
    const isAscii = text.length === (end === -1 ? bytes.length : end) - start;
    this.#lastLine = { start, line, beginning: line.trim().slice(0, LINE_CHARACTERS_MAX), isAscii };
    return this.#lastLine;
  }
}
