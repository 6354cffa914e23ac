/** The corpus by which recall is judged: the same in every run, and nothing in it is there for the asking. */
import { expect, test } from "vitest";
import { makeCases } from "../../bench/redact/judge/judge.ts";
import { Tally } from "../../bench/redact/judge/report.ts";
import { BUILT_IN_RULES } from "../../src/redact/rule-set.ts";

const cases = [...makeCases(false)];

test("each case holds its secret, as it is spelled there, and enough of it to be missed", () => {
  expect(cases.length).toBeGreaterThan(600);
  expect(new Set(cases.map((one) => one.class)).size).toBe(4);
  expect(cases.filter(({ parts }) => parts.length === 0)).toEqual([]);
  expect(cases.filter(({ text, parts }) => !parts.every((part) => text.includes(part)))).toEqual([]);
  expect(cases.filter(({ parts }) => parts.every((part) => part.length < 6))).toEqual([]);
});

test("a second run makes the same cases, but for keys that must be real", () => {
  const isMade = ({ class: group }: (typeof cases)[number]) => group !== "key blocks";
  expect([...makeCases(false)].filter(isMade)).toEqual(cases.filter(isMade));
});

test("none of the rules' own examples stands in it", () => {
  const examples = BUILT_IN_RULES.flatMap(({ examples: { positive } }) => positive).filter(
    (text) => !/\{\w+\}/.test(text),
  );
  const texts = new Set(cases.map(({ text }) => text.trim()));
  expect(examples.filter((text) => texts.has(text.trim()))).toEqual([]);
});

test("the report counts what was hidden and what was not, and names what was worst", () => {
  const tally = new Tally();
  for (const sample of cases) tally.add(sample, sample.format !== cases[0]?.format, false);
  const missed = cases.filter(({ format }) => format === cases[0]?.format).length;
  const sum = (of: "cases" | "ours" | "theirs") => tally.classes().reduce((all, group) => all + group[of], 0);
  expect([sum("cases"), sum("ours"), sum("theirs")]).toEqual([cases.length, cases.length - missed, 0]);
  expect(tally.report()).toContain(`${cases[0]?.format} (0 of ${missed}; secretlint 0)`);
});
