// A beginning never refuses what an expression matches: compared with JavaScript's own engine on every short text.
import { expect, test } from "vitest";
import { type Beginning, exactBeginning, expressionBeginning, keywordBeginning } from "../../../src/redact/expressions/beginning.ts";
import { hasCode } from "../../../src/redact/expressions/character-set.ts";
import { parseExpression } from "../../../src/redact/expressions/expression.ts";
import { compileRule } from "../../../src/redact/kinds/rule.ts";
import { fillTemplate, seededRandom } from "../../../src/redact/kinds/samples.ts";
import { FORMAT_RULES } from "../../../src/redact/rules/all.ts";

const ALPHABET = ["a", "b", "K", "-", "é", "\u212a", " "];
const LENGTH = 5;

function beginningOf(expression: string, caseInsensitive = false, from = 0): Beginning {
  const parsed = parseExpression(expression, caseInsensitive);
  if (!parsed.ok) throw new Error(parsed.problem);
  return expressionBeginning(parsed.tree, from);
}

function allows(beginning: Beginning, text: string): boolean {
  return beginning.every((set, index) => index < text.length && hasCode(set, text.charCodeAt(index)));
}

function* texts(length: number): Generator<string> {
  yield "";
  if (length > 0) for (const rest of texts(length - 1)) for (const character of ALPHABET) yield character + rest;
}

const expressions = [
  ["ab", false, 2],
  ["ab?K", false, 2],
  ["a{2,3}b", false, 3],
  ["(?:a|bb|-K){1,2}a", false, 2],
  ["(?:a?){3}b", false, 1],
  ["(?:a?b?){0,9}K", false, 1],
  ["[^a]b", false, 2],
  ["\\sb|\\S-", false, 2],
  ["(?<=a)b(?=K)", false, 1],
  ["k{2}", true, 2],
  ["[^k]a", true, 2],
  ["(?!a)\\w-", false, 2],
  ["a(b{0,4})", false, 1],
  ["[-a]{5}", false, 5],
] as const;

test.each(expressions)("%s", (expression, caseInsensitive, length) => {
  const beginning = beginningOf(expression, caseInsensitive);
  expect(beginning.length).toBe(length);
  const exact = new RegExp(expression, caseInsensitive ? "iy" : "y");
  let [matched, refused] = [0, 0];
  for (const text of texts(LENGTH)) {
    for (const start of [0, 1]) {
      exact.lastIndex = start;
      const allowed = allows(beginning, text.slice(start));
      if (!allowed) refused += 1;
      if (!exact.test(text)) continue;
      matched += 1;
      expect({ text, start, allowed }).toEqual({ text, start, allowed: true });
    }
  }
  expect(matched).toBeGreaterThan(0);
  expect(refused).toBeGreaterThan(0);
});

test("every rule allows its own examples, from where its keyword stands", () => {
  for (const rule of FORMAT_RULES) {
    const compiled = compileRule(rule);
    if (typeof compiled === "string") throw new Error(compiled);
    const expression = new RegExp(rule.expression, rule.caseInsensitive ? "gi" : "g");
    for (const [seed, template] of rule.examples.positive.entries()) {
      const { text } = fillTemplate(template, seededRandom(seed));
      for (const match of text.matchAll(expression)) {
        const standing = text.slice(match.index + (rule.offset ?? 0));
        expect({ rule: rule.id, standing, allowed: allows(compiled.beginning(), standing) }).toEqual({
          rule: rule.id,
          standing,
          allowed: true,
        });
      }
    }
  }
});

test("what stands before the keyword is left out", () => {
  const [only, ...more] = beginningOf("[ab]{3}Kb?", false, 3);
  expect(more).toEqual([]);
  expect(only).toEqual(exactBeginning("K")[0]);
});

test("a keyword stands in the cases that the expression allows, and what follows is the expression's", () => {
  const both = keywordBeginning("ab", beginningOf("a[b-d]-"));
  expect(ALPHABET.filter((character) => allows(both, `ab${character}`))).toEqual(["-"]);
  expect(allows(both, "aB-")).toBe(false);
  const upper = keywordBeginning("ab-", beginningOf("[aA]B"));
  expect(["aB-", "AB-", "ab-", "aB_"].filter((text) => allows(upper, text))).toEqual(["aB-", "AB-"]);
  expect(keywordBeginning("ab", beginningOf("a-")).map((set) => set.includes(1))).toEqual([true, false]);
});

test("a rule's beginning is the same whenever it is asked for", async () => {
  const compiled = FORMAT_RULES.slice(0, 20).map((rule) => compileRule(rule));
  const all = () => compiled.map((rule) => (typeof rule === "string" ? rule : rule.beginning().map((set) => [...set])));
  const first = all();
  expect(first.filter((sets) => typeof sets === "string")).toEqual([]);
  await new Promise(setImmediate); // from here on, what was read for the first ones may be gone
  expect(all()).toEqual(first);
});
