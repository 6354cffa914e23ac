/**
 * JavaScript's regular expressions as the linear-time engine reads them.
 *
 * Decides which patterns can be danger patterns: what the engine has no equal for (look-around, back-references, anchored
 * search) is refused with the reason, and so is what would be slow even in linear time. The meaning stays JavaScript's:
 * `\d`, `\w`, `\s`, `\b` and `.` are written out, literals are escaped. Pure.
 * INVARIANT: `states` is at least the number of characters that the pattern stands for, repetitions written out.
 */
import { DANGER_PATTERN_CHARACTERS_MAX, DANGER_PATTERN_DEPTH_MAX, DANGER_PATTERN_STATES_MAX } from "../../base/limits.ts";

/** A pattern for the engine, or why there is none. */
export type LinearPattern =
  | { readonly ok: true; readonly text: string; readonly states: number }
  | { readonly ok: false; readonly problem: string };

/** Rewrites `pattern`. `g` and `d` say nothing about whether it matches. */
export function linearPattern({ source, flags }: Pick<RegExp, "source" | "flags">): LinearPattern {
  if (source.length > DANGER_PATTERN_CHARACTERS_MAX)
    return { ok: false, problem: `it has more than ${DANGER_PATTERN_CHARACTERS_MAX} characters; split it` };
  const odd = /[^dgimsu]/.exec(flags)?.[0];
  if (odd !== undefined) return { ok: false, problem: `the flag \`${odd}\` is not accepted; leave it out` };
  try {
    const writer = new Writer(source, flags);
    const { text, states } = writer.choice(0);
    if (!writer.ended) return { ok: false, problem: "a closing parenthesis is too many" };
    if (states > DANGER_PATTERN_STATES_MAX) return { ok: false, problem: tooManyStates(states) };
    return { ok: true, text: flags.includes("i") ? `(?i:${text})` : text, states };
  } catch (error) {
    if (error instanceof Unsupported) return { ok: false, problem: error.message };
    throw error;
  }
}

/** What is wrong with patterns that stand for too much. */
export function tooManyStates(states: number): string {
  return `its repetitions stand for ${states} characters, of which ${DANGER_PATTERN_STATES_MAX} are accepted; lower their bounds`;
}

class Unsupported extends Error {}

/** A part of the rewritten pattern and the states that it needs. */
interface Part {
  readonly text: string;
  readonly states: number;
}

/** One character, a class as it stands between brackets, or something that has no place in a class. */
type Atom = { readonly code: number } | { readonly set: string; readonly negated: boolean };

const DIGITS = "0-9";
const WORDS = "0-9A-Z_a-z";
const SPACES = "\\t-\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}";
const SETS: Readonly<Record<string, { readonly set: string; readonly negated: boolean }>> = {
  d: { set: DIGITS, negated: false },
  D: { set: DIGITS, negated: true },
  w: { set: WORDS, negated: false },
  W: { set: WORDS, negated: true },
  s: { set: SPACES, negated: false },
  S: { set: SPACES, negated: true },
};
const CONTROLS: Readonly<Record<string, number>> = { t: 9, n: 10, v: 11, f: 12, r: 13 };
const NO_LINE_END = "[^\\n\\r\\x{2028}\\x{2029}]";

class Writer {
  readonly #source: string;
  readonly #flags: string;
  #at = 0;

  constructor(source: string, flags: string) {
    this.#source = source;
    this.#flags = flags;
  }

  get ended(): boolean {
    return this.#at >= this.#source.length;
  }

  choice(depth: number): Part {
    if (depth > DANGER_PATTERN_DEPTH_MAX) throw new Unsupported(`it nests groups more than ${DANGER_PATTERN_DEPTH_MAX} deep`);
    const options = [this.#sequence(depth)];
    while (this.#take("|")) options.push(this.#sequence(depth));
    return { text: options.map(({ text }) => text).join("|"), states: options.reduce((sum, { states }) => sum + states, 0) };
  }

  #sequence(depth: number): Part {
    let text = "";
    let states = 1;
    while (!this.ended && this.#peek() !== "|" && this.#peek() !== ")") {
      const part = this.#quantified(depth);
      text += part.text;
      states += part.states;
    }
    return { text, states };
  }

  #quantified(depth: number): Part {
    const part = this.#atom(depth);
    const quantifier = /^(?:[*+?]|\{(\d+)(?:,(\d*))?\})\??/.exec(this.#source.slice(this.#at, this.#at + 64));
    if (quantifier === null) return part;
    this.#at += quantifier[0].length;
    const [, least, most] = quantifier;
    // Without an upper bound the last repetition stands for all that follow.
    const turns = least === undefined ? 1 : Math.max(1, Number(least) + 1, Number(most || 0));
    return { text: `(?:${part.text})${quantifier[0]}`, states: part.states * turns + 1 };
  }

  #atom(depth: number): Part {
    const rest = this.#source.slice(this.#at, this.#at + 4);
    if (rest.startsWith("(")) return this.#group(depth);
    if (rest.startsWith("[")) return this.#class();
    if (this.#take("^")) return { text: this.#flags.includes("m") ? "(?mR:^)" : "\\A", states: 1 };
    if (this.#take("$")) return { text: this.#flags.includes("m") ? "(?mR:$)" : "\\z", states: 1 };
    if (this.#take(".")) return { text: this.#flags.includes("s") ? "(?s:.)" : NO_LINE_END, states: 1 };
    if (rest.startsWith("\\b") || rest.startsWith("\\B")) {
      this.#at += 2;
      return { text: `(?-u:${rest.slice(0, 2)})`, states: 1 };
    }
    const atom = this.#character();
    if ("code" in atom) return { text: literal(atom.code), states: 1 };
    return { text: `[${atom.negated ? "^" : ""}${atom.set}]`, states: 1 };
  }

  #group(depth: number): Part {
    const opening = /^\((\?:|\?<[A-Za-z_$][\w$]*>|(?!\?))/.exec(this.#source.slice(this.#at, this.#at + 128));
    if (opening === null) throw new Unsupported("look-around and flags inside of it have no linear-time equal; write it without them");
    this.#at += opening[0].length;
    const { text, states } = this.choice(depth + 1);
    if (!this.#take(")")) throw new Unsupported("a group is not closed");
    return { text: `(?:${text})`, states };
  }

  #class(): Part {
    this.#at += 1;
    const negated = this.#take("^");
    let set = "";
    while (!this.#take("]")) {
      if (this.ended) throw new Unsupported("a class is not closed");
      set += this.#classPart();
    }
    if (set === "") return { text: negated ? "(?s:.)" : "[^\\s\\S]", states: 1 };
    return { text: `[${negated ? "^" : ""}${set}]`, states: 1 };
  }

  #classPart(): string {
    const low = this.#classAtom();
    if (!("code" in low)) return low.negated ? `[^${low.set}]` : low.set;
    if (this.#peek() !== "-" || this.#source[this.#at + 1] === "]") return literal(low.code);
    const dash = this.#at;
    this.#at += 1;
    const high = this.#classAtom();
    if ("code" in high) return `${literal(low.code)}-${literal(high.code)}`;
    this.#at = dash; // a dash before a set stands for itself
    return literal(low.code);
  }

  #classAtom(): Atom {
    if (this.#source.startsWith("\\b", this.#at)) {
      this.#at += 2;
      return { code: 8 };
    }
    return this.#character();
  }

  /** The next character of the pattern, or the set that an escape names. */
  #character(): Atom {
    if (!this.#take("\\")) return { code: this.#codePoint() };
    const name = this.#peek();
    const set = SETS[name];
    const control = CONTROLS[name];
    if (set !== undefined || control !== undefined) {
      this.#at += 1;
      return set ?? { code: control ?? 0 };
    }
    if (/[1-9k]/.test(name)) throw new Unsupported("a back-reference has no linear-time equal; write it without one");
    if (/[pP]/.test(name)) throw new Unsupported("properties such as `\\p{L}` are not accepted; write a class");
    return this.#numbered() ?? { code: this.#codePoint() };
  }

  /** A character that is named by its number. */
  #numbered(): Atom | undefined {
    const found = /^(?:0(?!\d)|c([A-Za-z])|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]{1,6})\})/.exec(
      this.#source.slice(this.#at, this.#at + 12),
    );
    if (found === null) {
      if (/[0-9A-Za-z]/.test(this.#peek())) throw new Unsupported(`\`\\${this.#peek()}\` is not accepted`);
      return undefined;
    }
    const [whole, letter, byte, unit, point] = found;
    if (point !== undefined && !this.#flags.includes("u")) throw new Unsupported("`\\u{…}` needs the flag `u`");
    this.#at += whole.length;
    if (letter !== undefined) return { code: letter.charCodeAt(0) % 32 };
    const digits = byte ?? unit ?? point;
    return { code: digits === undefined ? 0 : character(Number.parseInt(digits, 16)) };
  }

  #codePoint(): number {
    const code = this.#source.codePointAt(this.#at);
    if (code === undefined) throw new Unsupported("it ends with `\\`");
    this.#at += code > 0xffff ? 2 : 1;
    return character(code);
  }

  #peek(): string {
    return this.#source[this.#at] ?? "";
  }

  #take(character: string): boolean {
    if (this.#peek() !== character) return false;
    this.#at += 1;
    return true;
  }
}

/** Half a surrogate pair is no character of the text that the engine sees. */
function character(code: number): number {
  if (code >= 0xd800 && code <= 0xdfff) throw new Unsupported("half a surrogate pair is no character; write the character itself");
  return code;
}

function literal(code: number): string {
  const character = String.fromCodePoint(code);
  return /[0-9A-Za-z]/.test(character) ? character : `\\x{${code.toString(16)}}`;
}
