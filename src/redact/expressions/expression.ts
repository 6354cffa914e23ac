/**
 * Reads the regular expressions of redaction rules: the subset in which the time of an attempt can be bounded.
 *
 * Accepted: literals, classes, `\d \w \s \b`, groups (one may capture: it is the secret), alternatives, `?`, `{n}`,
 * `{m,n}`, single-character look-around. Refused: unbounded repetition, back-references, and what looks like a slip (a
 * brace that stands for itself, an escape that means nothing). The meaning is JavaScript's own: rules run as `RegExp`,
 * this tree is for analysis.
 */
import {
  orProblem,
  PatternProblem,
  type PatternSyntax,
  parsePattern,
  quantifierText,
} from "../../base/pattern-syntax.ts";
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
const ASCII = 128;

/** Parses `source`. */
export function parseExpression(source: string, caseInsensitive: boolean): Parsed {
  return orProblem(() => {
    if (source.length > EXPRESSION_CHARACTERS_MAX)
      throw new PatternProblem(`it has more than ${EXPRESSION_CHARACTERS_MAX} characters; split the rule`);
    // White space that is not ASCII looks like a space and is none.
    if (/[^\x20-\x7e]/.test(source))
      throw new PatternProblem("it has a character that is not printable ASCII; write `\\x`, `\\s` or a class");
    const reader = new Reader(caseInsensitive);
    const tree = reader.choice(parsePattern(source).alternatives, 0);
    return { tree, captures: reader.captures };
  });
}

const DIGITS = setOf("0123456789");
const SPACES = setOf(" \t\n\r\v\f");
addOtherSpaces(SPACES); // a no-break space, among others
const WORDS = setOf("0123456789_ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz");
const NAMED = {
  digit: [DIGITS, complementOf(DIGITS)],
  space: [SPACES, complementOf(SPACES)],
  word: [WORDS, complementOf(WORDS)],
} as const;
const NO_LINE_END = complementOf(setOf("\n\r"));
/** How a character may be written: as it is, escaped because it means something, or by one of these names. */
const CHARACTER = /^(?:[^\\]|\\[^A-Za-z0-9]|\\[nrtfv0]|\\x[0-9a-fA-F]{2})$/;

const literals = new Map<string, CharacterSet>();

/** The set of one character: the same one for all expressions, because expressions consist of little else. */
function literal(character: string): CharacterSet {
  const set = literals.get(character) ?? setOf(character);
  literals.set(character, set);
  return set;
}

/** Makes our tree of the parser's, and refuses what cannot be bounded or may be meant otherwise. */
class Reader {
  readonly #fold: boolean;
  captures = 0;

  constructor(fold: boolean) {
    this.#fold = fold;
  }

  choice(alternatives: readonly PatternSyntax.Alternative[], depth: number): Node {
    if (depth > GROUP_DEPTH_MAX) throw new PatternProblem(`it nests groups more than ${GROUP_DEPTH_MAX} deep`);
    const options = alternatives.map(
      ({ elements }): Node => ({ kind: "sequence", parts: elements.map((element) => this.#element(element, depth)) }),
    );
    const [only] = options;
    return options.length === 1 && only ? only : { kind: "choice", options };
  }

  #element(element: PatternSyntax.Element, depth: number): Node {
    switch (element.type) {
      case "Character":
        if ("{}]".includes(element.raw))
          throw new PatternProblem(`\`${element.raw}\` stands for itself; write \`\\${element.raw}\``);
        return this.#single(literal(String.fromCharCode(codeOf(element))));
      case "CharacterSet":
        return this.#single(setNamed(element));
      case "CharacterClass":
        return this.#single(this.#class(element));
      case "Group":
        if (element.modifiers !== null) throw new PatternProblem(OTHER_GROUP);
        return this.choice(element.alternatives, depth + 1);
      case "CapturingGroup":
        return this.#capture(element, depth);
      case "Quantifier":
        return this.#repeat(element, depth);
      case "Assertion":
        return this.#assertion(element, depth);
      default:
        throw new PatternProblem(`\`${element.raw}\` is not accepted in a rule`);
    }
  }

  #capture({ name, alternatives }: PatternSyntax.CapturingGroup, depth: number): Node {
    if (name !== null) throw new PatternProblem(OTHER_GROUP);
    this.captures += 1;
    if (this.captures > 1) throw new PatternProblem("it captures more than one group; use `(?:` for the others");
    return { kind: "capture", body: this.choice(alternatives, depth + 1) };
  }

  #repeat(quantifier: PatternSyntax.Quantifier, depth: number): Node {
    const { element, min, max, greedy } = quantifier;
    const text = quantifierText(quantifier);
    if (max === Number.POSITIVE_INFINITY) {
      const better = text.startsWith("{") ? "write an upper bound" : `write a bound such as \`{${min},64}\``;
      throw new PatternProblem(`\`${text}\` repeats without bound; ${better}`);
    }
    if (max > REPETITIONS_MAX)
      throw new PatternProblem(`\`${text}\` must ask for at most ${REPETITIONS_MAX} repetitions`);
    if (element.type === "Assertion") throw new PatternProblem("it repeats a look-around; remove the quantifier");
    return { kind: "repeat", body: this.#element(element, depth), min, max, lazy: !greedy };
  }

  #assertion(assertion: PatternSyntax.Assertion, depth: number): Node {
    if (assertion.kind === "word") return { kind: "edge", negative: assertion.negate };
    if (assertion.kind !== "lookahead" && assertion.kind !== "lookbehind")
      throw new PatternProblem(`\`${assertion.raw}\` depends on where the text begins or ends; use a look-around`);
    const body = this.choice(assertion.alternatives, depth + 1);
    return { kind: "look", behind: assertion.kind === "lookbehind", negative: assertion.negate, body };
  }

  #class({ elements, negate, raw }: PatternSyntax.CharacterClass): CharacterSet {
    if (elements.length === 0) throw new PatternProblem(`the class \`${raw}\` is empty`);
    const set = emptySet();
    for (const element of elements) addElement(set, element);
    if (this.#fold) foldCase(set);
    if (!negate) return set;
    const others = complementOf(set);
    if (!elements.some(holdsSpaces)) addOtherSpaces(others); // one of them may be left out, not all
    return others;
  }

  #single(set: CharacterSet): Node {
    if (!this.#fold) return { kind: "character", set };
    const inBothCases = set.slice();
    foldCase(inBothCases);
    return { kind: "character", set: inBothCases };
  }
}

const OTHER_GROUP = "only `(?:`, look-around and one plain group are accepted";

function addElement(set: CharacterSet, element: PatternSyntax.CharacterClassElement): void {
  if (element.type === "Character") addCode(set, codeOf(element));
  else if (element.type === "CharacterSet") addAll(set, setNamed(element));
  else if (element.type === "CharacterClassRange") {
    const [low, high] = [codeOf(element.min), codeOf(element.max)];
    if (high >= ASCII)
      throw new PatternProblem(`the range \`${element.raw}\` goes beyond ASCII; write \`[^\\x00-\\x7f]\``);
    addRange(set, low, high);
  } else throw new PatternProblem(`\`${element.raw}\` is not accepted in a class`);
}

/** The character's code, if it is written so that nobody reads it otherwise. */
function codeOf({ raw, value }: PatternSyntax.Character): number {
  if (!CHARACTER.test(raw)) throw new PatternProblem(`\`${raw}\` is not accepted in a rule`);
  return value;
}

function setNamed(named: PatternSyntax.CharacterSet): CharacterSet {
  if (named.kind === "any") return NO_LINE_END;
  if (named.kind === "property") throw new PatternProblem(`\`${named.raw}\` is not accepted in a rule`);
  return NAMED[named.kind][named.negate ? 1 : 0];
}

/** Whether all white space belongs to `element`: `\s`, `\D` and `\W`. */
function holdsSpaces(element: PatternSyntax.CharacterClassElement): boolean {
  return element.type === "CharacterSet" && (element.kind === "space") !== element.negate;
}

/**
 * The characters with which a match of `node` may begin, and whether it may be empty; what follows an empty match is
 * the caller's.
 */
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
