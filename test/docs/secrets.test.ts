/** docs/reference/secrets.md lists every rule of the redactor, and no other. */
import { expect, test } from "vitest";
import { secretReference, shownRules, withReference } from "../../scripts/secret-reference.mjs";
import { BUILT_IN_RULES } from "../../src/redact/rule-set.ts";
import { readPage } from "./pages.ts";

const page = readPage("docs/reference/secrets.md").text;

test("the page is what the rules are; if not, run `node scripts/secret-reference.mjs`", async () => {
  const classes = await shownRules();
  expect(withReference(page, secretReference(classes))).toBe(page);
  expect(classes.flatMap(([, rules]) => rules.map(({ id }) => id)).toSorted()).toEqual(
    [...new Set(BUILT_IN_RULES.map(({ id }) => id))].toSorted(),
  );
});

test("a new rule and another meaning are noticed", async () => {
  const [[title, rules], ...rest] = (await shownRules()) as [[string, { id: string; kind: string; title: string }[]]];
  const isCurrent = (changed: typeof rules) =>
    withReference(page, secretReference([[title, changed], ...rest])) === page;
  const [first] = rules;
  if (first === undefined) throw new Error("there is no rule");
  expect(isCurrent(rules)).toBe(true);
  expect(isCurrent([...rules, { ...first, id: "planted" }])).toBe(false);
  expect(isCurrent([{ ...first, title: "something else" }, ...rules.slice(1)])).toBe(false);
});
