/**
 * Replaces secrets in a stream of bytes by what stands for them, whatever pieces it comes in. Pure.
 *
 * INVARIANTS: nothing of a form that is looked for leaves before the form is seen whole. How much is held back depends
 * on no value, so that nobody finds one out by what is held.
 */

import { escapeExpression } from "../../../text/escaped-expression.ts";

/** What is looked for, and what takes its place; both as bytes, one character each. */
export class Replacements {
  readonly pattern: RegExp;
  readonly longest: number;
  readonly #forms: ReadonlyMap<string, string>;

  constructor(forms: ReadonlyMap<string, string>) {
    const sorted = [...forms.keys()].sort((left, right) => right.length - left.length);
    this.#forms = forms;
    this.pattern = new RegExp(sorted.map(escapeExpression).join("|"), "g");
    this.longest = sorted[0]?.length ?? 0;
  }

  /** What takes the place of a form. */
  of(form: string): string {
    return this.#forms.get(form) ?? "";
  }

  /** `text` with everything replaced. */
  in(text: string): string {
    return text.replaceAll(this.pattern, (form) => this.of(form));
  }
}

/** Replaces in one stream. */
export class Scrubber {
  readonly #replacements: Replacements;
  #held = "";

  constructor(replacements: Replacements) {
    this.#replacements = replacements;
  }

  /** The bytes that may leave now: all but as many at the end as the longest form has. */
  push(piece: Uint8Array): Buffer {
    const text = this.#held + latin1(piece);
    // what begins before here is seen whole
    const end = text.length - this.#replacements.longest + 1;
    const out: string[] = [];
    let taken = 0;
    for (const match of text.matchAll(this.#replacements.pattern)) {
      if (match.index >= end) break;
      out.push(text.slice(taken, match.index), this.#replacements.of(match[0]));
      taken = match.index + match[0].length;
    }
    const kept = Math.max(taken, end, 0);
    out.push(text.slice(taken, kept));
    this.#held = text.slice(kept);
    return Buffer.from(out.join(""), "latin1");
  }

  /** What was held back, where nothing follows, or not for a while. */
  flush(): Buffer {
    const rest = this.#replacements.in(this.#held);
    this.#held = "";
    return Buffer.from(rest, "latin1");
  }
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}
