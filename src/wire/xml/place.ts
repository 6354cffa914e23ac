/** Counts lines and columns while a text is read. */
import type { TextPosition } from "./events.ts";

/** A place that moves forward through a text. */
export class Place {
  #offset = 0;
  #line = 1;
  /** Offset of the first character of the line. */
  #lineStart = 0;

  /** Where it stands. */
  now(): TextPosition {
    return { offset: this.#offset, line: this.#line, column: this.#offset - this.#lineStart + 1 };
  }

  /** Moves over `text` from `from` to `to`. */
  pass(text: string, from: number, to: number): void {
    const passed = text.slice(from, to);
    for (let at = passed.indexOf("\n"); at !== -1; at = passed.indexOf("\n", at + 1)) {
      this.#line += 1;
      this.#lineStart = this.#offset + at + 1;
    }
    this.#offset += to - from;
  }
}
