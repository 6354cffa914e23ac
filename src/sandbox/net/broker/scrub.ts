/**
 * Replaces secrets in a stream of bytes by what stands for them, whatever pieces it comes in. Pure.
 *
 * INVARIANT: nothing of a form that is looked for leaves before it is certain that the form does not go on; nothing
 * else is held back, so that a stream of events arrives as it comes.
 */

/** What is looked for, and what takes its place; both as bytes, one character each. */
export type Replacements = ReadonlyMap<string, string>;

/** Replaces in one stream. */
export class Scrubber {
  readonly #pattern: RegExp;
  readonly #replacements: Replacements;
  readonly #longest: number;
  readonly #starts: ReadonlySet<string>;
  #held = "";

  constructor(replacements: Replacements) {
    const forms = [...replacements.keys()].sort((left, right) => right.length - left.length);
    this.#replacements = replacements;
    this.#pattern = new RegExp(forms.map((form) => form.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&")).join("|"), "g");
    this.#longest = forms[0]?.length ?? 0;
    this.#starts = new Set(forms.map((form) => form[0] ?? ""));
  }

  /** The bytes that may leave now. */
  push(piece: Uint8Array): Buffer {
    const text = this.#held + latin1(piece);
    const replaced: string[] = [];
    let taken = 0;
    // by hand, because what is left of the text depends on where the last form ended
    for (const match of text.matchAll(this.#pattern)) {
      if (this.#goesOn(text.slice(match.index))) break;
      replaced.push(text.slice(taken, match.index), this.#replacements.get(match[0]) ?? "");
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
    const rest = this.#held.replaceAll(this.#pattern, (form) => this.#replacements.get(form) ?? "");
    this.#held = "";
    return Buffer.from(rest, "latin1");
  }

  /** Whether the end of a text may be the beginning of a longer form than was found there. */
  #goesOn(end: string): boolean {
    if (end.length >= this.#longest) return false;
    for (const form of this.#replacements.keys()) if (form.length > end.length && form.startsWith(end)) return true;
    return false;
  }

  /** Characters at the end of `text` that may begin a form. */
  #unfinished(text: string): number {
    for (let at = Math.max(0, text.length - this.#longest + 1); at < text.length; at += 1) {
      if (!this.#starts.has(text[at] ?? "")) continue;
      const end = text.slice(at);
      for (const form of this.#replacements.keys()) if (form.startsWith(end)) return end.length;
    }
    return 0;
  }
}

/** `text` with everything replaced. */
export function scrubbed(text: string, replacements: Replacements): string {
  const scrubber = new Scrubber(replacements);
  return Buffer.concat([scrubber.push(Buffer.from(text, "latin1")), scrubber.end()]).toString("latin1");
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}
