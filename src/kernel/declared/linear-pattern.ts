/**
 * JavaScript's regular expressions as the linear-time engine reads them.
 *
 * Decides which patterns can be danger patterns: what the engine has no equal for (look-around, back-references,
 * anchored search) is refused with the reason, and so is what would be slow even in linear time. The meaning stays
 * JavaScript's: `\d`, `\w`, `\s`, `\b` and `.` are written out, literals are escaped. Pure. INVARIANT: `states` is at
 * least the number of characters that the pattern stands for, repetitions written out.
 */
import { DANGER_PATTERN_CHARACTERS_MAX } from "../../base/limits.ts";
import {
  orProblem,
  PatternProblem,
  type PatternSyntax,
  parsePattern,
  quantifierText,
} from "../../base/pattern-syntax.ts";

/** Nested groups of a danger pattern: reading one calls itself for each. */
const DANGER_PATTERN_DEPTH_MAX = 16;
/**
 * Characters that all danger patterns of a tool stand for once their repetitions are written out; each is a state of
 * the engine.
 */
export const DANGER_PATTERN_STATES_MAX = 1024;

/** A pattern for the engine, or why there is none. */
export type LinearPattern =
  | { readonly ok: true; readonly text: string; readonly states: number }
  | { readonly ok: false; readonly problem: string };

/** Rewrites `pattern`. `g` and `d` say nothing about whether it matches. */
export function linearPattern({ source, flags }: Pick<RegExp, "source" | "flags">): LinearPattern {
  return orProblem(() => {
    if (source.length > DANGER_PATTERN_CHARACTERS_MAX)
      throw new PatternProblem(`it has more than ${DANGER_PATTERN_CHARACTERS_MAX} characters; split it`);
    const odd = /[^dgimsu]/.exec(flags)?.[0];
    if (odd !== undefined) throw new PatternProblem(`the flag \`${odd}\` is not accepted; leave it out`);
    const { text, states } = choice(parsePattern(source, flags.includes("u")).alternatives, flags, 0);
    if (states > DANGER_PATTERN_STATES_MAX) throw new PatternProblem(tooManyStates(states));
    return { text: flags.includes("i") ? `(?i:${text})` : text, states };
  });
}

/** What is wrong with patterns that stand for too much. */
export function tooManyStates(states: number): string {
  return `its repetitions stand for ${states} characters, of which ${DANGER_PATTERN_STATES_MAX} are accepted; lower their bounds`;
}

/** A part of the rewritten pattern and the states that it needs. */
interface Part {
  readonly text: string;
  readonly states: number;
}

const DIGITS = "0-9";
const WORDS = "0-9A-Z_a-z";
const SPACES = "\\t-\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}";
const SETS = { digit: DIGITS, space: SPACES, word: WORDS } as const;
const NO_LINE_END = "[^\\n\\r\\x{2028}\\x{2029}]";
const PROPERTY = "properties such as `\\p{L}` are not accepted; write a class";
const REFERENCE = "a back-reference has no linear-time equal; write it without one";

function choice(alternatives: readonly PatternSyntax.Alternative[], flags: string, depth: number): Part {
  if (depth > DANGER_PATTERN_DEPTH_MAX)
    throw new PatternProblem(`it nests groups more than ${DANGER_PATTERN_DEPTH_MAX} deep`);
  const options = alternatives.map(({ elements }) => sequence(elements, flags, depth));
  return {
    text: options.map(({ text }) => text).join("|"),
    states: options.reduce((sum, { states }) => sum + states, 0),
  };
}

function sequence(elements: readonly PatternSyntax.Element[], flags: string, depth: number): Part {
  const parts = joinedPairs(elements).map((element) =>
    typeof element === "number" ? { text: literal(element), states: 1 } : rewrite(element, flags, depth),
  );
  return { text: parts.map(({ text }) => text).join(""), states: parts.reduce((sum, { states }) => sum + states, 1) };
}

/** Without the flag `u` a character beyond 16 bits is read as two halves: both together, if they follow each other. */
function joinedPairs(elements: readonly PatternSyntax.Element[]): readonly (PatternSyntax.Element | number)[] {
  const joined: (PatternSyntax.Element | number)[] = [];
  for (const element of elements) {
    const before = joined.at(-1);
    const isPair = typeof before === "object" && isHalf(before, 0xd800) && isHalf(element, 0xdc00);
    if (isPair) joined.splice(-1, 1, (before.value - 0xd800) * 0x400 + (element.value - 0xdc00) + 0x10000);
    else joined.push(element);
  }
  return joined;
}

/** Whether `element` is one of the 1,024 halves of surrogate pairs from `first` on. */
function isHalf(element: PatternSyntax.Element, first: number): element is PatternSyntax.Character {
  return element.type === "Character" && element.value >= first && element.value < first + 0x400;
}

function rewrite(element: PatternSyntax.Element, flags: string, depth: number): Part {
  switch (element.type) {
    case "Character":
      return { text: literal(codeOf(element)), states: 1 };
    case "CharacterSet":
      if (element.kind === "any") return { text: flags.includes("s") ? "(?s:.)" : NO_LINE_END, states: 1 };
      return { text: setNamed(element), states: 1 };
    case "CharacterClass":
      return { text: rewriteClass(element), states: 1 };
    case "Group":
      if (element.modifiers !== null)
        throw new PatternProblem("flags inside of it are not accepted; write it without them");
      return group(element.alternatives, flags, depth);
    case "CapturingGroup":
      return group(element.alternatives, flags, depth);
    case "Quantifier":
      return quantified(element, flags, depth);
    case "Assertion":
      return { text: rewriteAssertion(element, flags.includes("m")), states: 1 };
    case "Backreference":
      throw new PatternProblem(REFERENCE);
    case "ExpressionCharacterClass":
      throw new PatternProblem(`\`${element.raw}\` is not accepted`);
  }
}

function group(alternatives: readonly PatternSyntax.Alternative[], flags: string, depth: number): Part {
  const { text, states } = choice(alternatives, flags, depth + 1);
  return { text: `(?:${text})`, states };
}

function quantified(quantifier: PatternSyntax.Quantifier, flags: string, depth: number): Part {
  const { element, min, max } = quantifier;
  // only look-around can be repeated, and is refused
  if (element.type === "Assertion") rewriteAssertion(element, false);
  const part = rewrite(element, flags, depth);
  const text = quantifierText(quantifier);
  // Without an upper bound the last repetition stands for all that follow.
  const turns = text.startsWith("{") ? Math.max(1, min + 1, max === Number.POSITIVE_INFINITY ? 0 : max) : 1;
  return { text: `(?:${part.text})${text}`, states: part.states * turns + 1 };
}

function rewriteAssertion(assertion: PatternSyntax.Assertion, isMultiline: boolean): string {
  switch (assertion.kind) {
    case "start":
      return isMultiline ? "(?mR:^)" : "\\A";
    case "end":
      return isMultiline ? "(?mR:$)" : "\\z";
    case "word":
      return `(?-u:${assertion.raw})`;
    default:
      throw new PatternProblem("look-around has no linear-time equal; write it without it");
  }
}

function rewriteClass({ negate, elements }: PatternSyntax.CharacterClass): string {
  if (elements.length === 0) return negate ? "(?s:.)" : "[^\\s\\S]";
  return `[${negate ? "^" : ""}${elements.map(rewriteMember).join("")}]`;
}

function rewriteMember(member: PatternSyntax.CharacterClassElement): string {
  if (member.type === "Character") return literal(codeOf(member));
  if (member.type === "CharacterClassRange") return `${literal(codeOf(member.min))}-${literal(codeOf(member.max))}`;
  if (member.type !== "CharacterSet") throw new PatternProblem(`\`${member.raw}\` is not accepted in a class`);
  return member.negate ? setNamed(member) : setNamed(member).slice(1, -1);
}

function setNamed(named: PatternSyntax.EscapeCharacterSet | PatternSyntax.UnicodePropertyCharacterSet): string {
  if (named.kind === "property") throw new PatternProblem(PROPERTY);
  return `[${named.negate ? "^" : ""}${SETS[named.kind]}]`;
}

/** How a character may be written: as it is, escaped because it means something, or by a name or number. */
const CHARACTER = /^(?:[^\\]|\\[^0-9A-Za-z]|\\[bfnrtv0]|\\[cux].+)$/su;

/**
 * The character's code. JavaScript takes an escape that means nothing for a letter or an octal number: nobody means
 * that.
 */
function codeOf({ raw, value }: PatternSyntax.Character): number {
  if (/^\\[1-9k]/.test(raw)) throw new PatternProblem(REFERENCE);
  if (/^\\[pP]/.test(raw)) throw new PatternProblem(PROPERTY);
  if (raw === "\\u") throw new PatternProblem("`\\u{…}` needs the flag `u`");
  if (!CHARACTER.test(raw)) throw new PatternProblem(`\`${raw}\` is not accepted`);
  if (value >= 0xd800 && value <= 0xdfff)
    throw new PatternProblem("half a surrogate pair is no character; write the character itself, and the flag `u`");
  return value;
}

function literal(code: number): string {
  const character = String.fromCodePoint(code);
  return /[0-9A-Za-z]/.test(character) ? character : `\\x{${code.toString(16)}}`;
}
