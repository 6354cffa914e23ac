/**
 * Replaces secrets in a stream of bytes by what stands for them, whatever pieces it comes in. Pure.
 *
 * INVARIANT: nothing of a form that is looked for leaves before it is certain that the form does not go on; nothing
 * else is held back, so that a stream of events arrives as it comes.
 */

/** What is looked for, and what takes its place; both as bytes, one character each. */
export class Replacements {
  readonly pattern: RegExp;
  readonly longest: number;
  readonly #forms: ReadonlyMap<string, string>;
  readonly #starts: ReadonlySet<string>;

  constructor(forms: ReadonlyMap<string, string>) {
    const sorted = [...forms.keys()].sort((left, right) => right.length - left.length);
    this.#forms = forms;
    this.pattern = new RegExp(sorted.map((form) => form.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&")).join("|"), "g");
    this.longest = sorted[0]?.length ?? 0;
    this.#starts = new Set(sorted.map((form) => form[0] ?? ""));
  }

  /** What takes the place of a form. */
  of(form: string): string {
    return this.#forms.get(form) ?? "";
  }

  /** `text` with everything replaced. */
  in(text: string): string {
    return text.replaceAll(this.pattern, (form) => this.of(form));
  }

  /** Whether a form begins with `end` and goes on. */
  goesOn(end: string): boolean {
    if (end.length >= this.longest || !this.#starts.has(end[0] ?? "")) return false;
    for (const form of this.#forms.keys()) if (form.length > end.length && form.startsWith(end)) return true;
    return false;
  }
}

/** Replaces in one stream. */
export class Scrubber {
  readonly #replacements: Replacements;
  #held = "";

  constructor(replacements: Replacements) {
    this.#replacements = replacements;
  }

  /** The bytes that may leave now. */
  push(piece: Uint8Array): Buffer {
    const text = this.#held + latin1(piece);
    const replaced: string[] = [];
    let taken = 0;
    // by hand, because what is left of the text depends on where the last form ended
    for (const match of text.matchAll(this.#replacements.pattern)) {
      if (this.#replacements.goesOn(text.slice(match.index))) break;
      replaced.push(text.slice(taken, match.index), this.#replacements.of(match[0]));
      taken = match.index + match[0].length;
    }
    const rest = text.slice(taken);
    const kept = this.#unfinished(rest);
    this.#held = rest.slice(rest.length - kept);
    replaced.push(rest.slice(0, rest.length - kept));
    return Buffer.from(replaced.join(""), "latin1");
  }

  /** What was held back, once nothing follows. */
  end(): Buffer {
    const rest = this.#replacements.in(this.#held);
    this.#held = "";
    return Buffer.from(rest, "latin1");
  }

  /** Characters at the end of `text` that may begin a form. */
  #unfinished(text: string): number {
    for (let at = Math.max(0, text.length - this.#replacements.longest + 1); at < text.length; at += 1)
      if (this.#replacements.goesOn(text.slice(at))) return text.length - at;
    return 0;
  }
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}
