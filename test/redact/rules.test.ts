// Every rule against its own examples, one by one, and what must hold for all of them.
import { describe, expect, test } from "vitest";
import { compileRule, type Rule } from "../../src/redact/kinds/rule.ts";
import { fillTemplate, seededRandom } from "../../src/redact/kinds/samples.ts";
import { createRedactor } from "../../src/redact/redact.ts";
import { BUILT_IN_RULES, builtInRules } from "../../src/redact/rule-set.ts";

const redactor = createRedactor();
const rules = BUILT_IN_RULES;

describe.each(rules.map((rule) => [rule.id, rule] as const))("%s", (id, { examples }) => {
  test("finds each positive example and leaves nothing of the secret", () => {
    for (const template of examples.positive) {
      for (const seed of [1, 2, 3]) {
        const { text, random } = fillTemplate(template, seededRandom(seed));
        const redacted = redactor.redact(text);
        expect({ template, rules: redacted.findings.map(({ rule }) => rule) }).toEqual({
          template,
          rules: expect.arrayContaining([id]),
        });
        expect(redacted.text).toContain(`[REDACTED:${id}]`);
        expect({ template, left: random.filter((part) => redacted.text.includes(part)) }).toEqual({
          template,
          left: [],
        });
        expect(redactor.redact(redacted.text)).toEqual({ text: redacted.text, findings: [] });
      }
    }
  });

  test("finds nothing in its negative examples", () => {
    for (const template of examples.negative) {
      const { text } = fillTemplate(template, seededRandom(1));
      expect({ text, findings: redactor.find(text) }).toEqual({ text, findings: [] });
    }
  });
});

test("there are rules for far more than the hundred and twenty formats that are public, each with a name of its own", () => {
  expect(rules.length).toBeGreaterThan(500);
  expect(new Set(rules.map(({ id }) => id)).size).toBe(rules.length);
  expect(builtInRules().titles.size).toBe(rules.length);
});

test("every rule has positive and negative examples", () => {
  expect(
    rules
      .filter(({ examples }) => examples.positive.length === 0 || examples.negative.length === 0)
      .map(({ id }) => id),
  ).toEqual([]);
});

const rule = (change: Partial<Rule>): Rule => ({
  id: "acme-key",
  kind: "definite",
  title: "an Acme key",
  keywords: ["acme_"],
  expression: "acme_[a-z0-9]{20}",
  examples: { positive: [], negative: [] },
  ...change,
});

test("a rule in order is compiled", () => {
  expect(compileRule(rule({}))).toMatchObject({ cost: { lengthMin: 25, lengthMax: 25 } });
});

test.each([
  ["a name that fits no marker", { id: "Acme Key" }, /the name/],
  ["no keyword", { keywords: [] }, /the keyword/],
  ["a keyword of one character", { keywords: ["a"] }, /the keyword/],
  ["a keyword that is not ASCII", { keywords: ["schlüssel"] }, /the keyword/],
  ["an expression without bound", { expression: "acme_.*" }, /without bound/],
  ["a slow expression", { expression: "acme_(?:[a-z]{1,20}){1,20}!" }, /steps at one place/],
  ["an expression that matches nothing", { expression: "a?" }, /empty text/],
])("a rule with %s is refused", (_, change, problem) => {
  expect(compileRule(rule(change))).toMatch(problem);
});
