/**
 * A redaction rule: a format of secrets, and how it is turned into a matcher.
 *
 * An expression is tried only where one of its keywords stands, from the keyword's first character on, and its cost is
 * bounded when the rule is loaded. INVARIANT: a rule whose expression could be slow, or whose name fits no marker, is
 * not loaded.
 */

import { KernelError } from "../../base/errors.ts";
import { escapeExpression } from "../../text/escaped-expression.ts";
import { fullSet, hasCode } from "../expressions/character-set.ts";
import { firstOf, type Parsed, parseExpression } from "../expressions/expression.ts";
import { type Cost, costOf } from "../expressions/expression-cost.ts";
import type { FindingKind } from "../search/finding.ts";
import { KEYWORD_CHARACTERS_MAX } from "../search/keyword-automaton.ts";
import { isRuleName } from "../search/marker.ts";
import { MATCHER_BEHIND_MAX, type Matcher } from "../search/matcher.ts";
import { entropyOf, isFiller, isPublished, looksLikeStandIn } from "./entropy.ts";

/** What may stand before a keyword: anything; no letter or digit; neither those nor `_` and `-`. */
export type LeftEdge = "any" | "word" | "token";

/**
 * Texts that a rule must find a secret in, and texts in which it must find none; see `samples.ts` for `{a36}` and kin.
 */
export interface RuleExamples {
  readonly positive: readonly string[];
  readonly negative: readonly string[];
}

/** One format of secrets. */
export interface Rule {
  /** Lower case with dashes: it stands in the marker. */
  readonly id: string;
  readonly kind: FindingKind;
  /** What is found, for a person: `a GitHub personal access token`. */
  readonly title: string;
  /** ASCII; letters match in both cases. */
  readonly keywords: readonly string[];
  /** Begins with a keyword, unless there is an offset; a capturing group, if there is one, is the secret. */
  readonly expression: string;
  readonly caseInsensitive?: boolean;
  /** Characters before the keyword at which the expression begins, for formats with a mark inside or at the end. */
  readonly offset?: number;
  /** `word` unless said otherwise. */
  readonly left?: LeftEdge;
  /** Bits per character that the secret must have. */
  readonly entropyMin?: number;
  /** Judges the secret; `undefined` refuses it. `rest` is the whole match. */
  readonly check?: (secret: string, whole: string) => FindingKind | undefined;
  /** Whether a secret that looks like an example is none, instead of being a probable one. */
  readonly refuseStandIns?: boolean;
  /** Where the vendor describes it: the site of its documentation. */
  readonly source?: string;
  readonly examples: RuleExamples;
}

/** Steps that one attempt of an expression may take at worst: some ten microseconds. */
export const ATTEMPT_STEPS_MAX = 16_384;
/** Characters of a keyword at least: shorter ones are met at every other word. */
export const KEYWORD_CHARACTERS_MIN = 2;

/** A rule that can run. */
export interface RunnableRule {
  readonly rule: Rule;
  readonly matcher: Matcher;
}

/** A rule that was checked. */
export interface CompiledRule extends RunnableRule {
  readonly cost: Cost;
}

/** Compiles `rule`, or says why it is refused. */
export function compileRule(rule: Rule): CompiledRule | string {
  if (!isRuleName(rule.id)) return `the name \`${rule.id}\` must be lower-case letters, digits and dashes, at most 64`;
  const keyword = rule.keywords.find((text) => !isKeyword(text));
  if (keyword !== undefined || rule.keywords.length === 0)
    return `the keyword \`${keyword ?? ""}\` must be ${KEYWORD_CHARACTERS_MIN} to ${KEYWORD_CHARACTERS_MAX} ASCII characters`;
  const parsed = parseExpression(rule.expression, rule.caseInsensitive ?? false);
  if (!parsed.ok) return `the expression cannot be used: ${parsed.problem}`;
  const cost = costOf(parsed.tree);
  if (cost.steps > ATTEMPT_STEPS_MAX)
    return `the expression may take ${cost.steps} steps at one place, more than ${ATTEMPT_STEPS_MAX}; let what follows a repetition begin otherwise than the repetition, or lower its bounds`;
  if (cost.lengthMin === 0) return "the expression matches the empty text; let it ask for at least one character";
  if (cost.behindMax + (rule.offset ?? 0) + ESCAPE_CHARACTERS > MATCHER_BEHIND_MAX)
    return `the expression looks back further than ${MATCHER_BEHIND_MAX} characters`;
  return { rule, cost, matcher: matcherOf(rule, cost, parsed) };
}

/**
 * A rule that is compiled when one of its keywords is first met: of hundreds of rules, hardly any text needs more than
 * a few.
 * @throws KernelError INTERNAL at that time, if it cannot be used; tests compile every rule that is built in
 */
export function compileLater(rule: Rule): RunnableRule {
  let compiled: CompiledRule | undefined;
  const matcher = (): Matcher => {
    compiled ??= requireCompiled(rule);
    return compiled.matcher;
  };
  return {
    rule,
    matcher: {
      get reach() {
        return matcher().reach;
      },
      back: rule.offset ?? 0,
      match: (memo, start, end) => matcher().match(memo, start, end),
    },
  };
}

function requireCompiled(rule: Rule): CompiledRule {
  const compiled = compileRule(rule);
  if (typeof compiled === "string")
    throw new KernelError("INTERNAL", `the rule ${rule.id} cannot be used: ${compiled}`);
  return compiled;
}

function isKeyword(text: string): boolean {
  return (
    text.length >= KEYWORD_CHARACTERS_MIN && text.length <= KEYWORD_CHARACTERS_MAX && /^[\x20-\x7e\t\n\r]*$/.test(text)
  );
}

function matcherOf(rule: Rule, cost: Cost, { tree, captures }: Extract<Parsed, { ok: true }>): Matcher {
  const first = firstOf(tree);
  const flags = `y${rule.caseInsensitive ? "i" : ""}${captures > 0 ? "d" : ""}`;
  const expression = new RegExp(rule.expression, flags);
  const left = rule.left ?? "word";
  const offset = rule.offset ?? 0;
  // Most candidates are keywords in the wrong case, or inside words: they are sent away before the engine is asked.
  const firstSet = first.nullable ? fullSet() : first.set;
  return {
    reach: cost.lengthMax + 1,
    back: offset,
    match: ({ text }, keywordStart) => {
      const start = keywordStart - offset;
      if (start < 0 || !hasCode(firstSet, text.charCodeAt(start)) || !isLeftEdge(text, start, left)) return undefined;
      expression.lastIndex = start;
      const match = expression.exec(text);
      if (!match) return undefined;
      const [from, to] = (captures > 0 ? match.indices?.[1] : undefined) ?? [start, start + match[0].length];
      const kind = judge(rule, text.slice(from, to), match[0]);
      return kind && { rule: rule.id, kind, start: from, end: to };
    },
  };
}

/** The kind of a secret that has the form, `undefined` when it is none after all. */
export function judge(rule: Rule, secret: string, whole: string): FindingKind | undefined {
  if (isFiller(secret)) return undefined;
  if (rule.entropyMin !== undefined && entropyOf(secret) < rule.entropyMin) return undefined;
  const kind = rule.check ? rule.check(secret, whole) : rule.kind;
  if (kind !== "definite" && !rule.refuseStandIns) return kind;
  if (isPublished(secret)) return undefined;
  if (!looksLikeStandIn(secret)) return kind;
  return rule.refuseStandIns ? undefined : "probable";
}

/**
 * Whether a secret may begin at `start`. The end of an escape sequence (`\n`, `%3D`, `\u0022`, a terminal's colour) is
 * no letter of a word: secrets follow it directly in JSON, in URLs and on terminals.
 */
export function isLeftEdge(text: string, start: number, left: LeftEdge): boolean {
  if (left === "any" || start === 0) return true;
  const before = text.charCodeAt(start - 1);
  if (!isWordCode(before) && (left === "word" || (before !== 95 && before !== 45))) return true;
  return endsEscape(text, start, before);
}

/** Whether an escape sequence ends before `start`, with the character `before`. */
function endsEscape(text: string, start: number, before: number): boolean {
  const code = (back: number) => text.charCodeAt(start - back);
  if (code(2) === BACKSLASH) return ESCAPED.has(before);
  // what stands before nearly every letter is no part of a sequence, and the expression need not be asked
  if (
    isLetter(before) &&
    isInSequence(code(2)) &&
    TERMINAL_SEQUENCE.test(text.slice(Math.max(0, start - ESCAPE_CHARACTERS), start))
  )
    return true;
  if (code(3) === PERCENT) return isHex(code(2)) && isHex(before);
  if (code(4) === BACKSLASH && code(3) === 120) return isHex(code(2)) && isHex(before);
  return (
    code(6) === BACKSLASH && code(5) === 117 && isHex(code(4)) && isHex(code(3)) && isHex(code(2)) && isHex(before)
  );
}

const BACKSLASH = 92;
const PERCENT = 37;
/**
 * How a terminal is told a colour, to clear the rest of a line as grep does, or a set of characters: as it is, and as
 * JSON and shells write it.
 */
const TERMINAL_SEQUENCE = new RegExp(
  `(?:${String.fromCharCode(27)}|\\\\(?:u001[bB]|x1[bB]|033|e))(?:\\[[0-9;?]{0,12}|[()])[A-Za-z]$`,
);
const ESCAPED = new Set([..."nrtbf0"].map((character) => character.charCodeAt(0)));
const ESCAPE_CHARACTERS = 24;

function isHex(code: number): boolean {
  return (code >= 48 && code <= 57) || (code >= 97 && code <= 102) || (code >= 65 && code <= 70);
}

/** A digit, or one of `;?[()`. */
function isInSequence(code: number): boolean {
  return (code >= 48 && code <= 57) || code === 59 || code === 63 || code === 91 || code === 40 || code === 41;
}

function isLetter(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90);
}

function isWordCode(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 48 && code <= 57);
}

/** What a rule for a token with a fixed beginning says beside its parts. */
export type TokenOptions = Partial<Pick<Rule, "kind" | "left" | "entropyMin" | "check" | "refuseStandIns" | "source">>;

/** The form of tokens that begin with `prefix`. */
export interface TokenForm extends TokenOptions {
  readonly prefix: string;
  /** The expression of what comes after the beginning. */
  readonly body: string;
  /** Shows a body, see `samples.ts`; the rule's first example is made of it. */
  readonly sample: string;
}

/** The form of tokens with one of several beginnings that share a body. */
export interface TokensForm extends TokenOptions {
  readonly prefixes: readonly string[];
  /** The expression of what comes after the beginning. */
  readonly body: string;
  /** Show whole tokens, see `samples.ts`. */
  readonly samples: readonly string[];
}

/** A rule for tokens with a fixed beginning. */
export function token(id: string, title: string, { prefix, body, sample, ...options }: TokenForm): Rule {
  return tokens(id, title, { prefixes: [prefix], body, samples: [`${prefix}${sample}`], ...options });
}

/** A rule for tokens with one of several beginnings. */
export function tokens(id: string, title: string, { prefixes, body, samples, ...options }: TokensForm): Rule {
  const left = isRepeatable(prefixes[0] ?? "", body) ? "token" : "word";
  const beginning =
    prefixes.length === 1 ? escapeExpression(prefixes[0] ?? "") : `(?:${prefixes.map(escapeExpression).join("|")})`;
  const [prefix = ""] = prefixes;
  return {
    id,
    kind: "definite",
    title,
    keywords: prefixes.map((text) => text.slice(0, KEYWORD_CHARACTERS_MAX)),
    expression: beginning + body,
    left,
    ...options,
    examples: {
      positive: samples.flatMap((sample) => [sample, `{"value":"${sample}"}`, `export X=${sample}\n`]),
      negative: [
        prefix,
        `${prefix}...`,
        `${prefix}xxxxxxxxxxxx`,
        `${prefix}<your-token>`,
        `starts with \`${prefix}\` and goes on`,
      ],
    },
  };
}

/**
 * One line of a table of tokens: name, title, the site of the vendor's documentation, the beginning or several parted
 * by blanks, the expression of the body, a sample of it, and whatever differs from what is usual.
 */
export type TokenRow = readonly [
  id: string,
  title: string,
  source: string,
  beginnings: string,
  body: string,
  sample: string,
  options?: TokenOptions,
];

/** The rules of a table. */
export function tokenTable(rows: readonly TokenRow[]): readonly Rule[] {
  return rows.map(([id, title, source, beginnings, body, sample, options]) => {
    const prefixes = beginnings.split(" ");
    return tokens(id, title, { prefixes, body, samples: [`${prefixes[0] ?? ""}${sample}`], source, ...options });
  });
}

/** A token that may begin like other words: it stands alone, and is no more than probable. */
export const LIKELY: TokenOptions = { left: "token", kind: "probable", entropyMin: 3.3 };

/**
 * Whether the beginning may also stand inside of the body. Then only the first of several in a row may begin a token,
 * or text that repeats it would be looked at again and again.
 */
function isRepeatable(prefix: string, body: string): boolean {
  const [, inside] = /\[([^\]]+)\]\{/.exec(body) ?? [];
  return inside !== undefined && new RegExp(`^[${inside}]*$`).test(prefix);
}
