/**
 * The rules with which a redactor works, compiled: those that are built in, and those of the operator.
 *
 * The keywords of the built-in ones are gathered once per process, when the first redactor is made; their expressions
 * are compiled when they are first needed.
 */
import { COMMAND_PASSWORD, commandTriggers, inputTriggers } from "./kinds/command-line.ts";
import { type EntropyBar, FREE_STANDING, USUAL_BAR } from "./kinds/free-standing.ts";
import { BLOCK_RULES, blockTriggers } from "./kinds/key-block.ts";
import {
  GENERAL_NAMED,
  type NamedJudges,
  type NamedKnowledge,
  namedJudges,
  namedTriggers,
  VENDOR_KEY,
} from "./kinds/named-rule.ts";
import { type CompiledRule, compileLater, type RunnableRule } from "./kinds/rule.ts";
import { type FindAt, hexTriggers, wrappedTriggers } from "./kinds/wrapped.ts";
import { FORMAT_RULES } from "./rules/all.ts";
import { PASSWORD_OPTIONS } from "./rules/commands.ts";
import { NAMED_RULES } from "./rules/named.ts";
import { MORE_NAMED_RULES } from "./rules/named-more.ts";
import { VENDOR_NAMES } from "./rules/vendors.ts";
import { emptyMemo, type Matcher, type Trigger } from "./search/matcher.ts";

const NAMES: NamedKnowledge = { rules: [...MORE_NAMED_RULES, ...NAMED_RULES], vendors: VENDOR_NAMES };
/** Everything that is built in and has a name of its own. */
export const BUILT_IN_RULES = [
  ...FORMAT_RULES,
  ...NAMES.rules,
  ...BLOCK_RULES,
  GENERAL_NAMED,
  VENDOR_KEY,
  COMMAND_PASSWORD,
  FREE_STANDING,
];

/** Compiled rules. */
export interface RuleSet {
  readonly triggers: readonly Trigger[];
  /** What each rule finds, in words, by its name. */
  readonly titles: ReadonlyMap<string, string>;
  /** Judge values whose name stands apart from them. */
  readonly named: NamedJudges;
  /** What a token without a name must have; none is looked for if absent. */
  readonly bar?: EntropyBar;
  /** Everything that the rules were compiled from, for a digest: two sets with the same find the same. */
  readonly definition: () => string;
}

/** No rules: only known secrets are found. */
export const NO_RULES: RuleSet = {
  triggers: [],
  titles: new Map(),
  named: () => undefined,
  definition: () => "",
};

let builtIn: RuleSet | undefined;

/** The rules that are built in. */
export function builtInRules(): RuleSet {
  builtIn ??= assemble(FORMAT_RULES.map(compileLater));
  return builtIn;
}

/** `rules` with another bar for tokens without a name; `undefined` looks for none. */
export function withBar({ bar: _, ...rules }: RuleSet, bar: EntropyBar | undefined): RuleSet {
  return { ...rules, ...(bar && { bar }), definition: () => `${rules.definition()}${JSON.stringify(bar ?? "")}` };
}

/** The built-in rules and `custom` ones, which `compileCustomRules` has accepted. */
export function withRules(custom: readonly CompiledRule[]): RuleSet {
  const own = builtInRules();
  if (custom.length === 0) return own;
  return {
    triggers: [...own.triggers, ...custom.flatMap(triggersOf)],
    titles: new Map([...own.titles, ...custom.map(({ rule }) => [rule.id, rule.title] as const)]),
    named: own.named,
    ...(own.bar && { bar: own.bar }),
    definition: () => own.definition() + definitionOf(custom.map(({ rule }) => rule)),
  };
}

function assemble(compiled: readonly RunnableRule[]): RuleSet {
  const block = blockTriggers();
  return {
    triggers: [
      ...compiled.flatMap(triggersOf),
      ...block,
      ...namedTriggers(NAMES),
      ...commandTriggers(PASSWORD_OPTIONS),
      ...inputTriggers(),
      ...wrapped(compiled, block),
    ],
    titles: new Map(BUILT_IN_RULES.map(({ id, title }) => [id, title] as const)),
    named: namedJudges(NAMES),
    bar: USUAL_BAR,
    definition: () => definitionOf(BUILT_IN_RULES) + VENDOR_NAMES.join(" "),
  };
}

/** Rules as text; a check counts by what is written in it. */
function definitionOf(rules: readonly object[]): string {
  return JSON.stringify(rules, (_, value: unknown) => (typeof value === "function" ? String(value) : value));
}

/** The triggers of a rule: one for each of its keywords. */
export function triggersOf({ rule, matcher }: RunnableRule): readonly Trigger[] {
  return rule.keywords.map((keyword) => ({ keyword, matcher }));
}

/** Bytes of a beginning that is looked for inside base64. */
const WRAPPED_BEGINNING_MIN = 4;

/** Triggers for the formats with a distinctive beginning, inside base64. */
function wrapped(compiled: readonly RunnableRule[], block: readonly Trigger[]): readonly Trigger[] {
  const inside = new Map<string, { readonly length: number; readonly matcher: Matcher }[]>();
  const add = (beginning: string, length: number, matcher: Matcher) => {
    inside.set(beginning, [...(inside.get(beginning) ?? []), { length, matcher }]);
  };
  for (const { rule, matcher } of compiled) {
    if (rule.kind !== "definite" || rule.caseInsensitive || rule.offset !== undefined) continue;
    for (const keyword of rule.keywords)
      if (keyword.length >= WRAPPED_BEGINNING_MIN) add(keyword, keyword.length, matcher);
    if (rule.id === "jwt") add("eyJhbGci", 3, matcher);
  }
  const [pem] = block;
  if (pem) add("-----BEGIN ", pem.keyword.length, pem.matcher);
  return [...inside].flatMap(([beginning, matchers]) => {
    const reach = () => Math.max(...matchers.map(({ matcher }) => matcher.reach));
    const findAt: FindAt = (text, at) => {
      const memo = emptyMemo(text);
      for (const { length, matcher } of matchers) {
        const found = matcher.match(memo, at, at + length);
        if (found && "start" in found) return found;
      }
      return undefined;
    };
    return [...wrappedTriggers(beginning, reach, findAt), ...hexTriggers(beginning, reach, findAt)];
  });
}
