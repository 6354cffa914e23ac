/**
 * The rules with which a redactor works, compiled: those that are built in, and those of the operator.
 *
 * The built-in ones are compiled once per process, when the first redactor is made.
 */
import { KernelError } from "../base/errors.ts";
import { BLOCK_RULES, blockTriggers } from "./kinds/key-block.ts";
import { GENERAL_NAMED, type NamedJudges, namedJudges, namedTriggers } from "./kinds/named-rule.ts";
import { type CompiledRule, compileRule, type Rule } from "./kinds/rule.ts";
import { wrappedTriggers } from "./kinds/wrapped.ts";
import { FORMAT_RULES } from "./rules/all.ts";
import { NAMED_RULES } from "./rules/named.ts";
import { emptyMemo, type Matcher, type Trigger } from "./search/matcher.ts";

/** Compiled rules. */
export interface RuleSet {
  readonly triggers: readonly Trigger[];
  /** What each rule finds, in words, by its name. */
  readonly titles: ReadonlyMap<string, string>;
  /** Judge values whose name stands apart from them. */
  readonly named: NamedJudges;
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
  builtIn ??= assemble(FORMAT_RULES.map(requireCompiled));
  return builtIn;
}

/** The built-in rules and `custom` ones, which `compileCustomRules` has accepted. */
export function withRules(custom: readonly CompiledRule[]): RuleSet {
  const own = builtInRules();
  if (custom.length === 0) return own;
  return {
    triggers: [...own.triggers, ...custom.flatMap(triggersOf)],
    titles: new Map([...own.titles, ...custom.map(({ rule }) => [rule.id, rule.title] as const)]),
    named: own.named,
    definition: () => own.definition() + definitionOf(custom.map(({ rule }) => rule)),
  };
}

function requireCompiled(rule: Rule): CompiledRule {
  const compiled = compileRule(rule);
  if (typeof compiled === "string")
    throw new KernelError("INTERNAL", `the rule ${rule.id} cannot be used: ${compiled}`);
  return compiled;
}

function assemble(compiled: readonly CompiledRule[]): RuleSet {
  const block = blockTriggers();
  return {
    triggers: [...compiled.flatMap(triggersOf), ...block, ...namedTriggers(NAMED_RULES), ...wrapped(compiled, block)],
    titles: new Map([
      ...[...FORMAT_RULES, ...NAMED_RULES, ...BLOCK_RULES, GENERAL_NAMED].map(({ id, title }) => [id, title] as const),
    ]),
    named: namedJudges(NAMED_RULES),
    definition: () => definitionOf([...FORMAT_RULES, ...NAMED_RULES, ...BLOCK_RULES, GENERAL_NAMED]),
  };
}

/** Rules as text; a check counts by what is written in it. */
function definitionOf(rules: readonly object[]): string {
  return JSON.stringify(rules, (_, value: unknown) => (typeof value === "function" ? String(value) : value));
}

/** The triggers of a rule: one for each of its keywords. */
export function triggersOf({ rule, matcher }: CompiledRule): readonly Trigger[] {
  return rule.keywords.map((keyword) => ({ keyword, matcher }));
}

/** Bytes of a beginning that is looked for inside base64. */
const WRAPPED_BEGINNING_MIN = 4;

/** Triggers for the formats with a distinctive beginning, inside base64. */
function wrapped(compiled: readonly CompiledRule[], block: readonly Trigger[]): readonly Trigger[] {
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
    const reach = Math.max(...matchers.map(({ matcher }) => matcher.reach));
    const memo = emptyMemo(); // matchers of formats and blocks remember nothing in it
    return wrappedTriggers(beginning, reach, (text, at) => {
      for (const { length, matcher } of matchers) {
        const found = matcher.match(text, at, at + length, memo);
        if (found) return found;
      }
      return undefined;
    });
  });
}
