// The operator's rules: they work when they prove themselves, and are refused with their place when they do not.
import { describe, expect, test } from "vitest";
import { type CustomAllowance, type CustomRule, compileCustomRedaction } from "../../src/redact/custom-rules.ts";
import { createRedactor } from "../../src/redact/redact.ts";

const rule = (change: Partial<CustomRule> = {}): CustomRule => ({
  id: "acme-key",
  kind: "definite",
  keywords: ["acme_"],
  expression: "acme_([a-z0-9]{12,40})",
  case_insensitive: false,
  examples: { secret: ["key acme_0123456789ab"], clean: ["the acme_ prefix"] },
  ...change,
});
const allowance = (change: Partial<CustomAllowance>): CustomAllowance => ({
  examples: { allowed: [], hidden: [] },
  ...change,
});

test("a rule that proves itself finds its secrets beside the built-in ones", () => {
  const custom = compileCustomRedaction([rule()], []);
  if (!custom.ok) throw new Error("the rule was refused");
  const redactor = createRedactor({ rules: custom.rules });
  expect(redactor.redact("x acme_k3j4h5g6f7d8 y").text).toBe("x acme_[REDACTED:acme-key] y");
  expect(redactor.titleOf("acme-key")).toBe("a secret of a rule of the operator");
  expect(createRedactor().find("x acme_k3j4h5g6f7d8 y")).toEqual([]); // control
});

test("an allowance lets exactly its value, or its expression, pass", () => {
  const allow = [
    allowance({ value: "acme_0123456789ab".slice(5) }),
    allowance({ expression: "fixture[0-9]{6}", rule: "acme-key" }),
  ];
  const custom = compileCustomRedaction([rule()], allow);
  if (!custom.ok) throw new Error("the rule was refused");
  const redactor = createRedactor({ rules: custom.rules, ...(custom.allow && { allow: custom.allow }) });
  expect(redactor.find("acme_0123456789ab acme_fixture123456")).toEqual([]);
  expect(redactor.find("acme_fixture1234567")).toHaveLength(1);
});

test("a rule for a common word in one kind of text, and an allowance for one kind of value, are not refused", () => {
  const some = rule({ keywords: ["id-"], expression: "id-([0-9]{6})", examples: { secret: ["id-123456"], clean: [] } });
  expect(compileCustomRedaction([some], [allowance({ expression: "[0-9a-f]{32}" })]).ok).toBe(true);
  const forRule = allowance({ expression: "[A-Za-z0-9]{1,64}", rule: "named-secret" });
  expect(compileCustomRedaction([], [forRule]).ok).toBe(true);
});

describe("refused with its place", () => {
  test.each<[string, Partial<CustomRule>, string, RegExp]>([
    ["a slow expression", { expression: "acme_(?:[a-z]{1,50}){1,50}!" }, "rules.0", /steps at one place/],
    ["an expression without bound", { expression: "acme_.*" }, "rules.0", /without bound/],
    ["a built-in name", { id: "github-token" }, "rules.0.id", /already/],
    [
      "an example that is not found",
      { examples: { secret: ["acme_short"], clean: [] } },
      "rules.0.examples.secret.0",
      /finds no secret/,
    ],
    [
      "an example that should be clean",
      { examples: { secret: [], clean: ["x", "acme_0123456789abcdef"] } },
      "rules.0.examples.clean.1",
      /finds a secret/,
    ],
    [
      "a keyword that the expression does not begin with",
      { keywords: ["other"] },
      "rules.0.examples.secret.0",
      /from a keyword on/,
    ],
    [
      "an expression for every text",
      { keywords: ["e ", "er", "on", " a"], expression: "[ -~]{2,200}", examples: { secret: ["e x"], clean: [] } },
      "rules.0",
      /ordinary text/,
    ],
    [
      "an expression for every number",
      {
        keywords: ["1", "2", "3"].flatMap((digit) => [
          `${digit}0`,
          `${digit}1`,
          `${digit}2`,
          `${digit}3`,
          `${digit}4`,
          ` ${digit}`,
          `${digit}.`,
          `${digit}:`,
        ]),
        expression: "[0-9 .:]{2,40}",
        examples: { secret: ["12"], clean: [] },
      },
      "rules.0",
      /keywords that only secrets have/,
    ],
  ])("a rule with %s", (_, change, path, problem) => {
    expect(compileCustomRedaction([rule(change)], [])).toEqual({
      ok: false,
      problems: [{ path, problem: expect.stringMatching(problem) }],
    });
  });

  test("the second rule of a name", () => {
    expect(compileCustomRedaction([rule(), rule()], [])).toMatchObject({
      ok: false,
      problems: [{ path: "rules.1.id" }],
    });
  });

  test.each<[string, Partial<CustomAllowance>, string, RegExp]>([
    ["neither value nor expression", {}, "allow.0", /either/],
    ["both", { value: "a", expression: "b" }, "allow.0", /either/],
    ["an unknown rule", { value: "a", rule: "nobody" }, "allow.0.rule", /no rule/],
    ["an expression without bound", { expression: ".*" }, "allow.0.expression", /without bound/],
    [
      "an example that is not allowed",
      { value: "a", examples: { allowed: ["b"], hidden: [] } },
      "allow.0.examples.allowed.0",
      /not allowed/,
    ],
    [
      "an example that is allowed",
      { expression: "[a-z]{1,9}", examples: { allowed: [], hidden: ["b"] } },
      "allow.0.examples.hidden.0",
      /is allowed/,
    ],
    [
      "an expression for every secret",
      { expression: "[A-Za-z0-9_+/=-]{1,200}", examples: { allowed: ["a"], hidden: [] } },
      "allow.0.expression",
      /by chance/,
    ],
  ])("an allowance with %s", (_, change, path, problem) => {
    expect(compileCustomRedaction([], [allowance(change)])).toEqual({
      ok: false,
      problems: [{ path, problem: expect.stringMatching(problem) }],
    });
  });
});
