/**
 * The operator's own rules and allowances, checked before they count.
 *
 * Each rule proves itself: its expression must be bounded, and its own examples must come out as they say. INVARIANT:
 * one problem refuses all of them, each named by where it stands in the configuration; a protection that is half loaded
 * would look like one.
 */

import { parseExpression } from "./expressions/expression.ts";
import { costOf } from "./expressions/expression-cost.ts";
import { ATTEMPT_STEPS_MAX, type CompiledRule, compileRule } from "./kinds/rule.ts";
import { fillTemplate, seededRandom } from "./kinds/samples.ts";
import { builtInRules, type RuleSet, triggersOf, withRules } from "./rule-set.ts";
import type { Finding, FindingKind } from "./search/finding.ts";
import { buildTable, scanText } from "./search/scan.ts";
import type { Allowance } from "./tables.ts";

/** A rule as it is written in `redaction.rules`. */
export interface CustomRule {
  readonly id: string;
  readonly kind: FindingKind;
  readonly title?: string | undefined;
  readonly keywords: readonly string[];
  readonly expression: string;
  readonly case_insensitive: boolean;
  /** `secret`: texts in which it finds one; `clean`: texts in which it finds none. */
  readonly examples: { readonly secret: readonly string[]; readonly clean: readonly string[] };
}

/** An allowance as it is written in `redaction.allow`: a value, or an expression for the whole of a secret. */
export interface CustomAllowance {
  readonly value?: string | undefined;
  readonly expression?: string | undefined;
  /** Only findings of this rule. */
  readonly rule?: string | undefined;
  /** `allowed`: secrets that pass; `hidden`: secrets that do not. */
  readonly examples: { readonly allowed: readonly string[]; readonly hidden: readonly string[] };
}

/** What is wrong, and where: `rules.0.expression`. */
export interface CustomProblem {
  readonly path: string;
  readonly problem: string;
}

/** Rules and allowances that can be given to a redactor, or everything that is wrong with them. */
export type CustomRedaction =
  | { readonly ok: true; readonly rules: RuleSet; readonly allow: Allowance | undefined }
  | { readonly ok: false; readonly problems: readonly CustomProblem[] };

/** Checks and compiles what the operator wrote. */
export function compileCustomRedaction(
  rules: readonly CustomRule[],
  allow: readonly CustomAllowance[],
): CustomRedaction {
  const problems: CustomProblem[] = [];
  const refuseAt = (path: string) => (place: string, problem: string) => {
    problems.push({ path: `${path}${place}`, problem });
    return [];
  };
  const compiled = rules.flatMap((rule, index) =>
    compileCustomRule(rule, rules.slice(0, index), refuseAt(`rules.${index}`)),
  );
  const names = new Set([...builtInRules().titles.keys(), ...rules.map(({ id }) => id)]);
  const allowances = allow.flatMap((allowance, index) =>
    compileAllowance(allowance, names, refuseAt(`allow.${index}`)),
  );
  if (problems.length > 0) return { ok: false, problems };
  const allows = (rule: string, secret: string) => allowances.some((each) => each(rule, secret));
  return {
    ok: true,
    rules: withRules(compiled),
    allow: allowances.length === 0 ? undefined : { allows, definition: JSON.stringify(allow) },
  };
}

/** Notes what is wrong at `place` of a rule or an allowance, of which nothing comes. */
type Refuse = (place: string, problem: string) => never[];

function compileCustomRule(rule: CustomRule, before: readonly CustomRule[], refuse: Refuse): CompiledRule[] {
  if (builtInRules().titles.has(rule.id) || before.some(({ id }) => id === rule.id))
    return refuse(".id", `there is a rule \`${rule.id}\` already; choose another name`);
  const compiled = compileRule({
    id: rule.id,
    kind: rule.kind,
    title: rule.title ?? "a secret of a rule of the operator",
    keywords: rule.keywords,
    expression: rule.expression,
    caseInsensitive: rule.case_insensitive,
    examples: { positive: rule.examples.secret, negative: rule.examples.clean },
  });
  if (typeof compiled === "string") return refuse("", compiled);
  const missed = rule.examples.secret.findIndex((text) => findAlone(compiled, text).length === 0);
  if (missed !== -1)
    return refuse(
      `.examples.secret.${missed}`,
      "the rule finds no secret in this example; the expression must match from a keyword on",
    );
  const wrong = rule.examples.clean.findIndex((text) => findAlone(compiled, text).length > 0);
  if (wrong !== -1)
    return refuse(`.examples.clean.${wrong}`, "the rule finds a secret in this example; narrow the expression");
  const everywhere = ORDINARY.filter((text) => findAlone(compiled, text).length > 0);
  if (everywhere.length >= ORDINARY_LINES_MAX)
    return refuse(
      "",
      `the rule finds secrets in ordinary text, such as \`${everywhere[0] ?? ""}\`; narrow the expression, or take keywords that only secrets have`,
    );
  return [compiled];
}

/** Lines of ordinary text in which a rule that finds secrets in them would hide what is none everywhere. */
const ORDINARY_LINES_MAX = 3;

/** Ordinary text without secrets: prose, code, logs, data, paths, what programs print. */
const ORDINARY: readonly string[] = [
  "The server reads its configuration from a file when it starts, and again when it is told to.",
  "See the documentation for details; the default value is usually the right one.",
  "export function add(left: number, right: number): number { return left + right; }",
  "  for (let index = 0; index < lines.length; index += 1) total += lines[index].length;",
  "def main(args): print(args, file=sys.stderr)",
  'if err != nil { return fmt.Errorf("cannot open the file: %w", err) }',
  "2026-01-31T12:34:56.789Z INFO [http] GET /api/v1/users/42 200 17 ms",
  "Jan 31 12:34:56 host-1 systemd[1]: Started Daily Cleanup of Temporary Directories.",
  '{"name": "example", "version": "1.2.3", "files": ["dist", "src"], "private": true}',
  "apiVersion: apps/v1",
  "  image: registry.example.org/team/service:1.4.0",
  "commit 3f786850e387550fdab836ed7e6dc881de23001b",
  "-rw-r--r-- 1 user group 4096 Jan 31 12:34 README.md",
  "/usr/local/lib/node_modules/typescript/lib/typescript.js:12:34",
  "https://www.example.org/path/to/page.html?query=value&page=2",
  '<div class="row"><a href="/index.html">Home</a></div>',
  "SELECT id, name FROM users WHERE created_at > now() ORDER BY name;",
  "Tests: 12 passed, 12 total. Time: 3.456 s",
  "id,name,amount,date",
  "550e8400-e29b-41d4-a716-446655440000",
];

function findAlone(compiled: CompiledRule, text: string): readonly Finding[] {
  const found: Finding[] = [];
  scanText(buildTable(triggersOf(compiled)), text, found);
  return found;
}

function compileAllowance(
  { value, expression, rule, examples }: CustomAllowance,
  names: ReadonlySet<string>,
  refuse: Refuse,
): Allowance["allows"][] {
  if ((value === undefined) === (expression === undefined)) return refuse("", "give either `value` or `expression`");
  if (rule !== undefined && !names.has(rule))
    return refuse(".rule", `there is no rule \`${rule}\`; \`handrail redact --explain\` names the rule of a finding`);
  const matches = value === undefined ? wholeMatcher(expression ?? "") : (secret: string) => secret === value;
  if (typeof matches === "string") return refuse(".expression", matches);
  const missed = examples.allowed.findIndex((secret) => !matches(secret));
  if (missed !== -1)
    return refuse(
      `.examples.allowed.${missed}`,
      "this example is not allowed by it; it must be the whole of the secret",
    );
  if (rule === undefined && value === undefined && CHANCE.filter((secret) => matches(secret)).length > 1)
    return refuse(".expression", "it lets secrets drawn by chance pass; narrow it, or name the `rule` that it is for");
  const wrong = examples.hidden.findIndex((secret) => matches(secret));
  if (wrong !== -1) return refuse(`.examples.hidden.${wrong}`, "this example is allowed by it; narrow it");
  return [(found, secret) => (rule === undefined || rule === found) && matches(secret)];
}

/** Values of several kinds drawn by chance: an expression that allows two of them allows secrets as such. */
const CHANCE: readonly string[] = ["{a40}", "{h32}", "{u64}", "{b44}", "ghp_{a36}", "{a12}", "AKIA{t16}"].map(
  (template, seed) => fillTemplate(template, seededRandom(seed)).text,
);

function wholeMatcher(expression: string): ((secret: string) => boolean) | string {
  const parsed = parseExpression(expression, false);
  if (!parsed.ok) return `the expression cannot be used: ${parsed.problem}`;
  // What follows can fail: the end of the secret is asked for.
  const cost = costOf({ kind: "sequence", parts: [parsed.tree, { kind: "edge", negative: false }] });
  if (cost.steps > ATTEMPT_STEPS_MAX)
    return `the expression may take ${cost.steps} steps; lower the bounds of its repetitions`;
  const whole = new RegExp(`^(?:${expression})$`);
  return (secret) => whole.test(secret);
}
