// Expressions of rules: what is read, what is refused, and that the bound of an attempt holds against an engine that
// counts.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type CharacterSet, hasCode } from "../../../src/redact/expressions/character-set.ts";
import { firstOf, type Node, parseExpression } from "../../../src/redact/expressions/expression.ts";
import { costOf } from "../../../src/redact/expressions/expression-cost.ts";
import { countSteps } from "../../support/counting-engine.ts";

function costOfSource(source: string) {
  const parsed = parseExpression(source, false);
  if (!parsed.ok) throw new Error(parsed.problem);
  return costOf(parsed.tree);
}

test.each([
  ["an unbounded star", "a*", /repeats without bound/],
  ["an unbounded plus", "[a-z]+", /repeats without bound/],
  ["an open range", "a{3,}", /repeats without bound/],
  ["a back-reference", "(a)\\1", /not accepted/],
  ["an anchor", "^a", /where the text begins/],
  ["two groups that capture", "(a)(b)", /more than one group/],
  ["a named group", "(?<x>a)", /only/],
  ["a group with flags", "(?i:a)", /only/],
  ["a group that is not closed", "(?:a", /unterminated group at character 5/],
  ["a parenthesis too many", "a)", /unmatched '\)'/],
  ["a class that is not closed", "[a", /unterminated character class/],
  ["an empty class", "a[]", /is empty/],
  ["a range the wrong way round", "[z-a]", /range out of order/],
  ["a range beyond ASCII", "[\\x80-\\xff]", /goes beyond ASCII/],
  ["a quantifier of nothing", "?a", /nothing to repeat/],
  ["a brace that stands for itself", "a{,2}", /stands for itself/],
  ["a bracket that stands for itself", "a]", /stands for itself/],
  ["an octal escape", "\\101", /not accepted/],
  ["two quantifiers", "a{2}{3}", /nothing to repeat/],
  ["a property of characters", "\\p{L}", /not accepted/],
  ["a space that is none", "a\u00a0b", /not printable ASCII/],
  ["very many repetitions", "a{0,5000}", /at most 4096/],
])("%s is refused", (_, source, problem) => {
  expect(parseExpression(source, false)).toEqual({ ok: false, problem: expect.stringMatching(problem) });
});

test.each([
  "a{36}",
  "(?:x|y)z?",
  "[^\\s\"'-]{1,9}",
  "\\d\\w\\x41\\.",
  "(?<![A-Z])a(?=b)",
  "a{2,5}?b",
  "[a-f0-9_.-]\\-",
  "(ab)c",
  "\\bx\\B",
])("%s is read", (source) => {
  expect(parseExpression(source, false)).toMatchObject({ ok: true });
  expect(() => new RegExp(source, "y")).not.toThrow();
});

/** The sets of a sequence of characters, of which the last may be missing. */
function charactersOf(tree: Node): readonly CharacterSet[] {
  if (tree.kind === "character") return [tree.set];
  if (tree.kind === "repeat") return charactersOf(tree.body);
  return tree.kind === "sequence" ? tree.parts.flatMap(charactersOf) : [];
}

test("a class that leaves out one space beyond ASCII holds the others, and one that leaves out all holds none", () => {
  const holds = (source: string) => {
    const parsed = parseExpression(source, false);
    return parsed.ok && hasCode(firstOf(parsed.tree).set, 0x2003);
  };
  expect(["[^\\xa0]", "[^\\S]", "[^a]", "[\\s]", "[\\D]", "[^\\w]"].map(holds)).toEqual(Array(6).fill(true));
  expect(["[^\\s]", "[^\\xa0\\s]", "[^\\D]", "[^a\\W]", "[a]", "\\S"].map(holds)).toEqual(Array(6).fill(false));
});

test("what one expression reads in any case stays as it is for the others", () => {
  const setsOf = (source: string, caseInsensitive: boolean) => {
    const parsed = parseExpression(source, caseInsensitive);
    if (!parsed.ok) throw new Error(parsed.problem);
    return charactersOf(parsed.tree).map((set) => [...set]);
  };
  const source = "a\\x62\\n\\D\\-.[^c]\\Wz?";
  const [exact, inAnyCase] = [setsOf(source, false), setsOf(source, true)];
  expect(setsOf(source, false)).toEqual(exact);
  expect(setsOf(source, true)).toEqual(inAnyCase);
  expect([exact[0]?.[65], inAnyCase[0]?.[65], exact[1]?.[66], inAnyCase[1]?.[66]]).toEqual([0, 1, 0, 1]);
});

describe("the bound of an attempt", () => {
  test("grows with nested and with neighbouring repetitions", () => {
    expect(costOfSource("(?:[a-z]{0,9}){0,9}x").steps).toBeGreaterThan(1_000_000);
    expect(costOfSource("[a-z]{0,99}[a-z]{0,99}[a-z]{0,99}x").steps).toBeGreaterThan(1_000_000);
  });

  test("stays small where each repetition knows when to stop", () => {
    expect(costOfSource("://[^:@/]{0,128}:[^@]{3,255}@").steps).toBeLessThan(2000);
    expect(costOfSource("[A-Za-z0-9]{36,255}").steps).toBeLessThan(2000);
  });

  test("lengths and look-behind are known", () => {
    expect(costOfSource("(?<=ab)c{2,4}(?=d)")).toMatchObject({ lengthMin: 2, lengthMax: 5, behindMax: 2 });
  });
});

const PIECES = ["a", "b", "[ab]", "[^a]", "\\d", "(?:a|b)", "(?:ab|a)", "(?=a)", "(?<!b)", "\\b", "(?:a{1,2}|b)"];
const QUANTIFIERS = ["", "?", "{2}", "{0,3}", "{1,4}", "{1,3}?"];
const expressions = fc
  .array(fc.tuple(fc.constantFrom(...PIECES), fc.constantFrom(...QUANTIFIERS)), { minLength: 1, maxLength: 5 })
  .map((parts) =>
    parts.map(([piece, quantifier]) => (/^\(\?[=<!]|^\\b/.test(piece) ? piece : piece + quantifier)).join(""),
  );
const texts = fc.array(fc.constantFrom("a", "a", "b", "1", " "), { maxLength: 16 }).map((parts) => parts.join(""));

test("no attempt takes more steps than the bound, and both engines agree", () => {
  fc.assert(
    fc.property(expressions, texts, fc.nat(4), (source, text, start) => {
      fc.pre(start <= text.length);
      const { end, steps } = countSteps(source, false, text, start);
      // One step of the bound stands for a constant number of calls of the counting engine.
      expect(steps).toBeLessThanOrEqual(8 * costOfSource(source).steps);
      const expression = new RegExp(source, "y");
      expression.lastIndex = start;
      const match = expression.exec(text);
      expect(end).toBe(match ? start + match[0].length : undefined);
    }),
    { numRuns: 1500 },
  );
});
