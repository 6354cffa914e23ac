/**
 * The grammar of globs: text in, plain alternatives out. Braces are written out, so that what is left to match has no
 * choices but its wildcards, and can be matched without going back further than to the last of them.
 *
 * Patterns come from strangers. INVARIANT: reading one takes time and memory in proportion to
 * `GLOB_EXPANDED_CHARACTERS_MAX` at most; a pattern that is not understood is `undefined`, never a guess.
 */

import { KIB } from "../base/bytes.ts";
import { GLOB_CHARACTERS_MAX, MAX_PATH_LEN, NESTING_DEPTH_MAX } from "../base/limits.ts";

/** Texts that the braces of one glob may stand for. */
export const GLOB_ALTERNATIVES_MAX = 256;
/** Characters of one glob with its braces written out. */
const GLOB_EXPANDED_CHARACTERS_MAX = 8 * KIB;

/** A set of characters: pairs of the first and the last code unit, or everything but them. */
export interface CharacterSet {
  readonly negated: boolean;
  readonly ranges: readonly (readonly [number, number])[];
}

/** One character, a set of them, `?`, `*`, or the end of a component. */
export type GlobToken = string | CharacterSet | typeof ANY | typeof STAR | typeof SLASH;
/** `?`: any one character of a component. */
export const ANY: unique symbol = Symbol("?");
/** `*`: any characters of a component; two or more that fill one are `**`. */
export const STAR: unique symbol = Symbol("*");
/** `/`: where a component ends. */
export const SLASH: unique symbol = Symbol("/");

type Sequence = GlobToken[];

/** The alternatives of `pattern`, or `undefined` when it is too long, has too many of them or unbalanced brackets. */
export function parseGlob(pattern: string): readonly (readonly GlobToken[])[] | undefined {
  const charactersMax = /[*?[{]/.test(pattern.replace(/\\./gs, "")) ? GLOB_CHARACTERS_MAX : MAX_PATH_LEN;
  return pattern.length > charactersMax ? undefined : new Reader(pattern).sequences("");
}

/** What a bracket's text may hold to stand for itself as well: `app/[id]` names a directory as often as a character. */
const PLAIN_BRACKET = /^[^-*+?.^!${}(|)[\]\\]*$/;

class Reader {
  readonly #text: string;
  #depth = 0;
  at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** All alternatives up to one of the characters `until`, or the end. */
  sequences(until: string): Sequence[] | undefined {
    let found: Sequence[] = [[]];
    while (this.at < this.#text.length && !until.includes(this.#text.charAt(this.at))) {
      const next = this.#one();
      const all = next && product(found, next);
      if (all === undefined) return undefined;
      found = all;
    }
    return found;
  }

  #one(): Sequence[] | undefined {
    const character = this.#text.charAt(this.at);
    this.at += 1;
    if (character === "\\") return [[this.#escaped()]];
    if (character === "?") return [[ANY]];
    if (character === "*") return [[STAR]];
    if (character === "/") return [[SLASH]];
    if (character === "[") return this.#bracket();
    if (character === "{") return this.#brace();
    return character === "]" ? undefined : [[character]];
  }

  /** The character after a backslash; a backslash at the very end stands for itself. */
  #escaped(): GlobToken {
    const character = this.#text.charAt(this.at) || "\\";
    this.at += 1;
    return character === "/" ? SLASH : character;
  }

  #bracket(): Sequence[] | undefined {
    const begin = this.at;
    const negated = /[!^]/.test(this.#text.charAt(this.at));
    if (negated) this.at += 1;
    const ranges: (readonly [number, number])[] = [];
    for (let first = true; ; first = false) {
      const character = this.#text.charAt(this.at);
      // A component ends at a slash, whatever stands around it; named classes are another language.
      if (character === "" || character === "/" || this.#text.startsWith("[:", this.at)) return undefined;
      if (character === "]" && !first) break;
      const low = this.#member();
      const isRange = this.#text.charAt(this.at) === "-" && !["]", "", "/"].includes(this.#text.charAt(this.at + 1));
      if (isRange) this.at += 1;
      const high = isRange ? this.#member() : low;
      if (low > high) return undefined;
      ranges.push([low, high]);
    }
    const body = this.#text.slice(begin, this.at);
    this.at += 1;
    const set: CharacterSet = { negated, ranges };
    return PLAIN_BRACKET.test(body) ? [[set], [...`[${body}]`]] : [[set]];
  }

  #member(): number {
    const escaped = this.#text.charAt(this.at) === "\\" && this.at + 1 < this.#text.length;
    const code = this.#text.charCodeAt(this.at + (escaped ? 1 : 0));
    this.at += escaped ? 2 : 1;
    return code;
  }

  #brace(): Sequence[] | undefined {
    const begin = this.at;
    const found: Sequence[] = [];
    this.#depth += 1;
    if (this.#depth > NESTING_DEPTH_MAX) return undefined;
    for (let commas = 0; ; commas += 1) {
      const one = this.sequences(",}");
      if (one === undefined || this.at >= this.#text.length) return undefined;
      found.push(...one);
      if (found.length > GLOB_ALTERNATIVES_MAX) return undefined;
      this.at += 1;
      if (this.#text.charAt(this.at - 1) === ",") continue;
      this.#depth -= 1;
      return commas > 0 ? found : alone(this.#text.slice(begin, this.at - 1), one);
    }
  }
}

/** Braces without a comma: a range of characters, or nothing but themselves. Ranges of numbers are another language. */
function alone(body: string, inside: Sequence[]): Sequence[] | undefined {
  const [, low, high] = /^([^\\])\.\.([^\\])$/s.exec(body) ?? [];
  if (low !== undefined && high !== undefined) {
    const [from, to] = [low.charCodeAt(0), high.charCodeAt(0)].sort((one, other) => one - other) as [number, number];
    return [[{ negated: false, ranges: [[from, to]] }]];
  }
  return body.includes("..") ? undefined : inside.map((sequence) => ["{", ...sequence, "}"]);
}

/** Every one of `left` followed by every one of `right`. */
function product(left: Sequence[], right: Sequence[]): Sequence[] | undefined {
  const [only] = left;
  if (only !== undefined && left.length === 1 && right.length === 1) {
    // By far the most: one more token at the end of a list that nobody else has.
    only.push(...(right[0] ?? []));
    return left;
  }
  const count = left.length * right.length;
  const lengths = (all: readonly Sequence[]) => all.reduce((sum, { length }) => sum + length, 0);
  const characters = lengths(left) * right.length + lengths(right) * left.length;
  if (count > GLOB_ALTERNATIVES_MAX || characters > GLOB_EXPANDED_CHARACTERS_MAX) return undefined;
  return left.flatMap((before) => right.map((after) => [...before, ...after]));
}
