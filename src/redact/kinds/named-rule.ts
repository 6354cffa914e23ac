/**
 * Matches values that only their name makes a secret, such as `HEROKU_API_KEY=<uuid>`.
 *
 * Beside the rules for particular names stands the general one, for every name that promises a secret and every value
 * that looks like one.
 */

import { KernelError } from "../../base/errors.ts";
import { parseExpression } from "../expressions/expression.ts";
import { costOf } from "../expressions/expression-cost.ts";
import type { Finding, FindingKind, NamedJudges } from "../search/finding.ts";
import { buildAutomaton, type KeywordAutomaton, keywordsIn } from "../search/keyword-automaton.ts";
import { MATCHER_BEHIND_MAX, type Matcher, type ScanMemo, type Trigger } from "../search/matcher.ts";
import { openTable } from "./columns.ts";
import { isReference } from "./entropy.ts";
import {
  type FoundValue,
  NAMED_REACH,
  type NamedValue,
  readNamedValue,
  VALUE_CHARACTERS_MAX,
  type ValuePlace,
} from "./named-value.ts";
import { ATTEMPT_STEPS_MAX, judge, type Rule, type RuleExamples } from "./rule.ts";
import { classifyName, isKeyOfSomething, looksSecret, type NameClass } from "./secret-likeness.ts";

/** One kind of value that a name makes a secret. */
export interface NamedRule {
  readonly id: string;
  readonly kind: FindingKind;
  readonly title: string;
  /** Parts of names, lower case without separators: one must be in the name. */
  readonly names: readonly string[];
  /** The whole value. */
  readonly expression: string;
  /** Whether the names say what the value is and nothing of whose it is. */
  readonly isAnyones?: boolean;
  readonly examples: RuleExamples;
}

/** Words that make the engine look for a name and a value. */
export const NAME_KEYWORDS: readonly string[] = (
  "pass pwd secret token apikey api_key api-key api.key access_key accesskey access-key privatekey private_key private-key _key -key " +
  "masterkey signingkey encryptionkey authkey licensekey licencekey appkey servicekey credential _auth authorization _pat _session"
).split(" ");

/** The rule of every name that promises a secret. */
export const GENERAL_NAMED: Pick<NamedRule, "id" | "kind" | "title" | "examples"> = {
  id: "named-secret",
  kind: "probable",
  title: "a value whose name promises a secret and that looks like one",
  examples: {
    positive: [
      "DB_PASSWORD=kT8-vQ2mZp4x",
      '"client_secret": "{a32}"',
      "client_secret: {h40}\n",
      "--api-key {a32}",
      "X-Api-Key: {h32}",
      "?access_token={a40}&x=1",
      'const apiKey = "{a24}";',
      "<password>Zq9-xw7Lm2p</password>",
      '<add key="ApiKey" value="{a32}" />',
      "secret_key_base: {h128}",
      '{\\"password\\":\\"Zq9xw7Lm2p\\"}',
      'config["secret"] = "{a30}"',
      "DB_PASSWORD=SuperSecret2024!",
      "api_key=1234567890abcdef{h20}",
      "define('AUTH_KEY', '{a40}');",
      "token%3D{a32}",
      "password: string = 'rT5-kk2Wq9'",
      "JWT_SECRET={u43}",
    ],
    negative: [
      "password=xxxxxxxx",
      "password: <your-password>",
      "token = process.env.API_TOKEN",
      "API_KEY=\x24{API_KEY}",
      'password = "changeme"',
      'token: "string"',
      "const token = nextToken();",
      "token_url = https://example.org/oauth/token",
      "secret: my-app-tls-secret",
      'key: "0123456789abcdef0123456789abcdef"',
      '"integrity": "sha512-{b86}=="',
      '"token": "{uuid}"',
      "password = user.password2",
      "tokens: 4096",
      "nextPageToken: {a40}",
      "public_key = {a44}",
      '"cacheKey": "{h40}"',
      "password: str | None = None",
      "the secret: never give up",
    ],
  },
};

/** The rule of values beside the name of a service that gives out keys. */
export const VENDOR_KEY: Pick<NamedRule, "id" | "kind" | "title" | "examples"> = {
  id: "vendor-key",
  kind: "probable",
  title: "a key beside the name of the service that gives it out",
  examples: {
    positive: [
      "TOGGL_API_TOKEN={h32}",
      "shodan_token = '{uuid}'",
      "// the account of Wistia\nconst token = '{uuid}'",
      "[giphy]\nenabled = true\ntoken = {uuid}",
    ],
    negative: [
      '"token": "{uuid}"',
      "wistia_token = your-token",
      "GIPHY_TOKEN_LIFETIME=3600",
      "toggl_token = nextToken()",
    ],
  },
};

/** Everything by which names are judged. */
export interface NamedKnowledge {
  readonly rules: readonly NamedRule[];
  /** Names of services, lower case without separators. */
  readonly vendors: readonly string[];
}

/** Characters of a value at least. */
const VALUE_CHARACTERS_MIN = 6;

/** The matcher of all named rules; they share one reading of name and value. */
export function namedMatcher(knowledge: NamedKnowledge): Matcher {
  const compiled = compileOnce(knowledge);
  const memories = new WeakMap<ScanMemo, NamedMemory>();
  const judgeOf = namedJudges(knowledge);
  return {
    reach: NAMED_REACH,
    opens: ({ text }, start, end) => openTable(text, { start, end }, judgeOf),
    match: (memo, start, end) => {
      const found = readNamedValue(memo, start, end);
      if (!found) return undefined;
      const memory = memories.get(memo) ?? new NamedMemory(compiled());
      memories.set(memo, memory);
      const { wide } = found;
      const whole = wide && memory.verdictOf(found.name, wide);
      if (wide && whole) return { rule: whole.id, kind: whole.kind, start: wide.start, end: wide.end };
      if (found.value.length < VALUE_CHARACTERS_MIN) return undefined;
      const rule =
        memory.verdictOf(found.name, found) ??
        nearVerdict(compiled(), found, memo.text.slice(Math.max(0, start - MATCHER_BEHIND_MAX), found.start));
      return rule && { rule: rule.id, kind: rule.kind, start: found.start, end: found.end };
    },
  };
}

/** What the name of a service before the name of a value makes of it: in the same line, or some lines above. */
function nearVerdict(names: CompiledNames, { name, value }: NamedValue, before: string): Verdict {
  if (!isKeyOfSomething(value) || isReference(value) || classifyName(name) === "none") return undefined;
  return findRule({ ...promiseOf(names, before.slice(0, -name.length)), general: "key" }, value, "bare");
}

/** Names of one scan that are remembered, and values of each. */
const NAMES_MAX = 256;
const VALUES_MAX = 64;

/**
 * What names and values were judged to be in one scan: a name with several keywords is read once for each, and a text
 * with very many values has few different ones, unless it was made to have them.
 */
class NamedMemory {
  readonly #rules: CompiledNames;
  readonly #names = new Map<string, { readonly promise: Promised; readonly verdicts: Map<string, Verdict> }>();

  constructor(rules: CompiledNames) {
    this.#rules = rules;
  }

  verdictOf(name: string, { value, place }: FoundValue): Verdict {
    let known = this.#names.get(name);
    if (known === undefined) {
      if (this.#names.size >= NAMES_MAX) this.#names.clear();
      known = { promise: promiseOf(this.#rules, name), verdicts: new Map() };
      this.#names.set(name, known);
    }
    const { promise, verdicts } = known;
    if (promisesNothing(promise)) return undefined;
    const key = `${place} ${value}`;
    const verdict = verdicts.get(key);
    if (verdict !== undefined || verdicts.has(key)) return verdict;
    if (verdicts.size >= VALUES_MAX) verdicts.clear();
    const made = findRule(promise, value, place);
    verdicts.set(key, made);
    return made;
  }
}

export type { NamedJudges, ValueJudge } from "../search/finding.ts";

/** Characters at the end of a name by which it is judged: longer ones are sentences. */
const NAME_CHARACTERS_MAX = 96;
/** Characters of white space before a value. */
const INDENT_MAX = 64;

/** The judges by all named rules: the same rules as in text. */
export function namedJudges(knowledge: NamedKnowledge): NamedJudges {
  const compiled = compileOnce(knowledge);
  return (wholeName) => {
    const name = wholeName.slice(-NAME_CHARACTERS_MAX);
    const folded = name.toLowerCase();
    if (!NAME_KEYWORDS.some((keyword) => folded.includes(keyword))) return undefined;
    const promise = promiseOf(compiled(), name);
    return promisesNothing(promise) ? undefined : (value) => judgeValue(promise, value);
  };
}

function judgeValue(promise: Promised, value: string): Finding | undefined {
  const start = value.slice(0, INDENT_MAX).search(/\S/);
  if (start === -1) return undefined;
  const [line = ""] = value.slice(start, start + VALUE_CHARACTERS_MAX + 1).split(/[\r\n]/, 1);
  const secret = line.trimEnd();
  if (secret.length < VALUE_CHARACTERS_MIN || secret.length > VALUE_CHARACTERS_MAX) return undefined;
  const rule = findRule(promise, secret, "whole");
  return rule && { rule: rule.id, kind: rule.kind, start, end: start + secret.length };
}

/** A trigger for each of the words. */
export function namedTriggers(knowledge: NamedKnowledge): readonly Trigger[] {
  const matcher = namedMatcher(knowledge);
  return NAME_KEYWORDS.map((keyword) => ({ keyword, matcher }));
}

interface CompiledNamed {
  readonly rule: Rule & Pick<NamedRule, "isAnyones">;
  readonly value: RegExp;
}

/** Rules by the parts of names that they stand for. */
interface CompiledNames {
  readonly rules: readonly CompiledNamed[];
  readonly parts: KeywordAutomaton;
  /** By part: the place of its rule; that of a service's name is behind the last one. */
  readonly places: readonly number[];
}

const compiledNames = new WeakMap<NamedKnowledge, CompiledNames>();

/** Compiles the names when they are first needed: texts without names do without. */
function compileOnce(knowledge: NamedKnowledge): () => CompiledNames {
  return () => {
    const compiled = compiledNames.get(knowledge) ?? compileAll(knowledge);
    compiledNames.set(knowledge, compiled);
    return compiled;
  };
}

function compileAll({ rules, vendors }: NamedKnowledge): CompiledNames {
  return {
    rules: rules.map(compileNamed),
    parts: buildAutomaton([...rules.flatMap(({ names }) => names), ...vendors]),
    places: [...rules.flatMap(({ names }, place) => names.map(() => place)), ...vendors.map(() => rules.length)],
  };
}

function compileNamed(rule: NamedRule): CompiledNamed {
  const judged = { ...rule, keywords: [], entropyMin: 2.5 };
  let value: RegExp | undefined;
  return {
    rule: judged,
    get value() {
      value ??= expressionOf(rule);
      return value;
    },
  };
}

function expressionOf({ id, expression }: NamedRule): RegExp {
  const parsed = parseExpression(expression, false);
  if (!parsed.ok || costOf(parsed.tree).steps > ATTEMPT_STEPS_MAX)
    throw new KernelError("INTERNAL", `the rule ${id} cannot be used`);
  return new RegExp(`^(?:${expression})$`);
}

/** What a name makes of its values. */
interface Promised {
  /** The rules that name it. */
  readonly rules: readonly CompiledNamed[];
  /** Whether it holds the name of a service. */
  readonly isVendor: boolean;
  readonly general: NameClass;
}

function promiseOf({ rules, parts, places }: CompiledNames, name: string): Promised {
  const plainName = name.toLowerCase().replace(/[^a-z0-9]/g, "");
  const met = keywordsIn(parts, plainName).map((part) => places[part]);
  return {
    rules: met.length === 0 ? NO_RULES : rules.filter((_, place) => met.includes(place)),
    isVendor: met.some((place = 0) => rules[place]?.rule.isAnyones !== true),
    general: classifyName(name),
  };
}

const NO_RULES: readonly CompiledNamed[] = [];

function promisesNothing({ rules, general }: Promised): boolean {
  return rules.length === 0 && general === "none";
}

/** The rule by which a value is a secret. */
type Verdict = Pick<NamedRule, "id" | "kind"> | undefined;

function findRule({ rules, general, isVendor }: Promised, value: string, place: ValuePlace): Verdict {
  if (isReference(value)) return undefined;
  for (const { rule, value: expression } of rules) {
    if (!expression.test(value)) continue;
    const kind = judge(rule, value, value);
    if (kind) return { id: rule.id, kind };
  }
  if (isVendor && general !== "none" && isKeyOfSomething(value)) return VENDOR_KEY;
  return looksSecret(value, general, place) ? GENERAL_NAMED : undefined;
}
