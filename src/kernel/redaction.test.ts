// What is remembered as clean is so for one redactor and for secrets that are longer than what is remembered.
import { expect, test } from "vitest";
import { createRedactor } from "../redact/redact.ts";
import { CallRedaction } from "./redaction.ts";

const facts = { path: "zebra-1234", list: ["zebra-1234"] };
const HIDDEN = { path: "[REDACTED:animal]", list: ["[REDACTED:animal]"] };
const animal = { rule: "animal", value: "zebra-1234" };

test("a text that one redactor found clean is looked at again by another one", () => {
  const before = createRedactor();
  for (let time = 0; time < 3; time += 1) expect(new CallRedaction(before).facts(facts)).toBe(facts);
  expect(new CallRedaction(createRedactor({ known: [animal] })).facts(facts)).toEqual(HIDDEN);
});

test("a text that was clean is hidden from a call whose own short secret it is", () => {
  const redactor = createRedactor();
  expect(new CallRedaction(redactor).facts(facts)).toBe(facts);
  expect(new CallRedaction(redactor, [animal]).facts(facts)).toEqual(HIDDEN);
  expect(new CallRedaction(redactor).facts(facts)).toBe(facts);
});

test("more short texts than are remembered are all judged", () => {
  const redaction = new CallRedaction(createRedactor({ known: [animal] }));
  const names = Array.from({ length: 5000 }, (_, index) => `name-${index}`);
  const shown = redaction.facts({ names: [...names, "zebra-1234", ...names] });
  expect(shown["names"]).toEqual([...names, "[REDACTED:animal]", ...names]);
});
