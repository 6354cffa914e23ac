/**
 * Reads the regular expressions of redaction rules, the subset in which the time of an attempt can be bounded.
 *
 * Accepted: literals, classes, `\d \w \s \b`, groups (one may capture: it is the secret), alternatives, `?`, `{n}`,
 * `{m,n}`, single-character look-around. Refused: unbounded repetition, back-references, everything that V8's engine
 * may read otherwise than this parser. The meaning is JavaScript's own: rules run as `RegExp`, this tree is for analysis.
 */
import {
  addAll,
  addCode,
  addOtherSpaces,
  addRange,
  type CharacterSet,
  complementOf,
  emptySet,
  foldCase,
  fullSet,
  setOf,
} from "./character-set.ts";

/** A parsed expression. Its sets may be shared by many expressions and are never changed. */
export type Node =
  | { readonly kind: "character"; readonly set: CharacterSet }
  | { readonly kind: "sequence"; readonly parts: readonly Node[] }
  | { readonly kind: "choice"; readonly options: readonly Node[] }
  | { readonly kind: "repeat"; readonly body: Node; readonly min: number; readonly max: number; readonly lazy: boolean }
  | { readonly kind: "capture"; readonly body: Node }
  | { readonly kind: "look"; readonly behind: boolean; readonly negative: boolean; readonly body: Node }
  | { readonly kind: "edge"; readonly negative: boolean };

/** A parsed expression, or why it is refused. */
export type Parsed =
  | { readonly ok: true; readonly tree: Node; readonly captures: number }
  | { readonly ok: false; readonly problem: string };

/** Characters of an expression, nested groups, and repetitions that one quantifier may ask for. */
export const EXPRESSION_CHARACTERS_MAX = 1000;
const GROUP_DEPTH_MAX = 8;
const REPETITIONS_MAX = 4096;

/** Parses `source`. */
export function parseExpression(source: string, caseInsensitive: boolean): Parsed {
  if (source.length > EXPRESSION_CHARACTERS_MAX)
    return { ok: false, problem: `it has more than ${EXPRESSION_CHARACTERS_MAX} characters; split the rule` };
  try {
    const reader = new Reader(source, caseInsensitive);
    const tree = reader.choice(0);
    if (reader.at < source.length) throw new Refusal("a closing parenthesis is too many");
    return { ok: true, tree, captures: reader.captures };
  } catch (error) {
    if (error instanceof Refusal) return { ok: false, problem: error.message };
    throw error;
  }
}

class Refusal extends Error {}

const DIGITS = setOf("0123456789");
const SPACES = setOf(" \t\n\r\v\f");
addOtherSpaces(SPACES); // a no-break space, among others
const WORDS = setOf("0123456789_ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz");
const NAMED: Readonly<Record<string, CharacterSet>> = {
  d: DIGITS,
  D: complementOf(DIGITS),
  s: SPACES,
  S: complementOf(SPACES),
  w: WORDS,
  W: complementOf(WORDS),
};
const NO_LINE_END = complementOf(setOf("\n\r"));
const CONTROLS: Readonly<Record<string, number>> = { n: 10, r: 13, t: 9, f: 12, v: 11, "0": 0 };

const literals = new Map<string, CharacterSet>();

/** The set of one character: the same one for all expressions, because expressions consist of little else. */
function literal(character: string): CharacterSet {
  const set = literals.get(character) ?? setOf(character);
  literals.set(character, set);
  return set;
}

class Reader {
  readonly #source: string;
  readonly #fold: boolean;
  at = 0;
  captures = 0;

  constructor(source: string, fold: boolean) {
    this.#source = source;
    this.#fold = fold;
  }

  choice(depth: number): Node {
    if (depth > GROUP_DEPTH_MAX) throw new Refusal(`it nests groups more than ${GROUP_DEPTH_MAX} deep`);
    const options = [this.#sequence(depth)];
    while (this.#take("|")) options.push(this.#sequence(depth));
    const [only] = options;
    return options.length === 1 && only ? only : { kind: "choice", options };
  }

  #sequence(depth: number): Node {
    const parts: Node[] = [];
    while (this.at < this.#source.length && this.#peek() !== "|" && this.#peek() !== ")") parts.push(this.#quantified(depth));
    return { kind: "sequence", parts };
  }

  #quantified(depth: number): Node {
    const body = this.#atom(depth);
    const range = this.#quantifier();
    if (!range) return body;
    if (body.kind === "look" || body.kind === "edge") throw new Refusal("it repeats a look-around; remove the quantifier");
    const lazy = this.#take("?");
    if (this.#quantifier()) throw new Refusal("it has two quantifiers in a row");
    return { kind: "repeat", body, ...range, lazy };
  }

  #quantifier(): { min: number; max: number } | undefined {
    const next = this.#peek();
    if (next === "*" || next === "+")
      throw new Refusal(`\`${next}\` repeats without bound; write a bound such as \`{${next === "*" ? 0 : 1},64}\``);
    if (next === "?") {
      this.at += 1;
      return { min: 0, max: 1 };
    }
    if (next !== "{") return undefined;
    const match = /^\{(\d{1,4})(,(\d{0,4}))?\}/.exec(this.#source.slice(this.at, this.at + 12));
    if (!match) throw new Refusal("a `{` stands for itself; write `\\{`");
    if (match[2] !== undefined && match[3] === "") throw new Refusal(`\`${match[0]}\` repeats without bound; write an upper bound`);
    const min = Number(match[1]);
    const max = match[3] === undefined ? min : Number(match[3]);
    if (max < min || max > REPETITIONS_MAX)
      throw new Refusal(`\`${match[0]}\` must ask for at most ${REPETITIONS_MAX} repetitions, the lower bound first`);
    this.at += match[0].length;
    return { min, max };
  }

  #atom(depth: number): Node {
    const character = this.#plain();
    if (character === "(") return this.#group(depth);
    if (character === "[") return this.#single(this.#class());
    if (character === "\\") return this.#escape();
    if (character === ".") return this.#single(NO_LINE_END);
    if (character === "^" || character === "$")
      throw new Refusal(`\`${character}\` depends on where the text begins or ends; use a look-around`);
    if ("*+?{}]".includes(character)) throw new Refusal(`\`${character}\` stands for itself; write \`\\${character}\``);
    return this.#single(literal(character));
  }

  #group(depth: number): Node {
    const look = /^\?(<?)([=!])/.exec(this.#source.slice(this.at, this.at + 3));
    if (look) {
      this.at += look[0].length;
      const body = this.choice(depth + 1);
      this.#close();
      return { kind: "look", behind: look[1] === "<", negative: look[2] === "!", body };
    }
    const plain = this.#source.startsWith("?:", this.at);
    if (plain) this.at += 2;
    else if (this.#peek() === "?") throw new Refusal("only `(?:`, look-around and one plain group are accepted");
    else this.captures += 1;
    if (this.captures > 1) throw new Refusal("it captures more than one group; use `(?:` for the others");
    const body = this.choice(depth + 1);
    this.#close();
    return plain ? body : { kind: "capture", body };
  }

  #escape(): Node {
    const character = this.#source[this.at] ?? "";
    if (character === "b" || character === "B") {
      this.at += 1;
      return { kind: "edge", negative: character === "B" };
    }
    return this.#single(this.#escaped());
  }

  /** What follows a backslash, as a set. */
  #escaped(): CharacterSet {
    const character = this.#source[this.at] ?? "";
    this.at += 1;
    const named = NAMED[character];
    if (named) return named;
    const control = CONTROLS[character];
    if (control !== undefined && !/\d/.test(this.#peek())) return literal(String.fromCharCode(control));
    if (character === "x") {
      const digits = /^[0-9a-fA-F]{2}/.exec(this.#source.slice(this.at, this.at + 2));
      if (!digits) throw new Refusal("`\\x` needs two hexadecimal digits");
      this.at += 2;
      return literal(String.fromCharCode(Number.parseInt(digits[0], 16)));
    }
    if (character === "" || /[A-Za-z0-9]/.test(character)) throw new Refusal(`\`\\${character}\` is not accepted in a rule`);
    return literal(character);
  }

  #class(): CharacterSet {
    const negated = this.#take("^");
    const set = emptySet();
    for (let first = true; this.#peek() !== "]" || first; first = false) {
      if (this.at >= this.#source.length) throw new Refusal("a class is not closed; add `]`");
      if (this.#peek() === "]") throw new Refusal("a class is empty");
      this.#classPart(set);
    }
    this.at += 1;
    if (this.#fold) foldCase(set);
    return negated ? complementOf(set) : set;
  }

  #classPart(set: CharacterSet): void {
    const low = this.#classCharacter(set);
    if (this.#peek() !== "-" || this.#source[this.at + 1] === "]" || low === undefined) return;
    this.at += 1;
    const high = this.#classCharacter(set);
    if (high === undefined || high < low) throw new Refusal("a range of a class is the wrong way round");
    addRange(set, low, high);
  }

  /** Adds what stands next in a class; its code if it is a single character. */
  #classCharacter(set: CharacterSet): number | undefined {
    const character = this.#plain();
    if (character !== "\\") {
      addCode(set, character.charCodeAt(0));
      return character.charCodeAt(0);
    }
    if (this.#peek() === "b") throw new Refusal("`\\b` is not accepted in a class");
    const escaped = this.#escaped();
    addAll(set, escaped);
    const code = escaped.indexOf(1);
    return escaped.lastIndexOf(1) === code && code < 128 ? code : undefined;
  }

  /** The next character. White space that is not ASCII looks like a space and is none. */
  #plain(): string {
    const character = this.#source[this.at] ?? "";
    this.at += 1;
    if (/[^\x20-\x7e]/.test(character)) throw new Refusal("it has a character that is not printable ASCII; write `\\x`, `\\s` or a class");
    return character;
  }

  #single(set: CharacterSet): Node {
    if (!this.#fold) return { kind: "character", set };
    const inBothCases = set.slice();
    foldCase(inBothCases);
    return { kind: "character", set: inBothCases };
  }

  #close(): void {
    if (!this.#take(")")) throw new Refusal("a group is not closed; add `)`");
  }

  #peek(): string {
    return this.#source[this.at] ?? "";
  }

  #take(character: string): boolean {
    if (this.#peek() !== character) return false;
    this.at += 1;
    return true;
  }
}

/** The characters with which a match of `node` may begin, and whether it may be empty; what follows an empty match is the caller's. */
export function firstOf(node: Node): { readonly set: CharacterSet; readonly nullable: boolean } {
  switch (node.kind) {
    case "character":
      return { set: node.set, nullable: false };
    case "capture":
      return firstOf(node.body);
    case "look":
    case "edge":
      return { set: emptySet(), nullable: true };
    case "repeat": {
      const body = firstOf(node.body);
      return { set: body.set, nullable: body.nullable || node.min === 0 };
    }
    case "choice": {
      const options = node.options.map(firstOf);
      const set = emptySet();
      for (const option of options) addAll(set, option.set);
      return { set, nullable: options.some(({ nullable }) => nullable) };
    }
    case "sequence": {
      const set = emptySet();
      for (const part of node.parts) {
        const first = firstOf(part);
        addAll(set, first.set);
        if (!first.nullable) return { set, nullable: false };
      }
      return { set, nullable: true };
    }
  }
}

/** Every character, for what may follow an expression. */
export const ANYTHING: CharacterSet = fullSet();
