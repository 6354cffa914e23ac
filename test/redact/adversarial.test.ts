// Text made to be slow: the work is counted, in characters looked at, and stays in proportion to the text.
import { describe, expect, test } from "vitest";
import { type CompiledRule, compileRule } from "../../src/redact/kinds/rule.ts";
import { fillTemplate, seededRandom } from "../../src/redact/kinds/samples.ts";
import { createRedactor } from "../../src/redact/redact.ts";
import { FORMAT_RULES } from "../../src/redact/rules/all.ts";
import { emptyMemo } from "../../src/redact/search/matcher.ts";
import { countSteps } from "../support/counting-engine.ts";

const TEXT_CHARACTERS = 1500;
/** Steps per character of text: what is reached only by text that is made of nothing but almost-secrets. */
const STEPS_PER_CHARACTER_MAX = 64;

function repeat(part: string, characters: number): string {
  return part.repeat(Math.ceil(characters / part.length)).slice(0, characters);
}

/** Steps of the engine on all candidates of one rule in `text`. */
function stepsOf({ rule, matcher }: CompiledRule, text: string): number {
  let steps = 0;
  const exec = RegExp.prototype.exec;
  const native: { calls: number[] } = { calls: [] };
  RegExp.prototype.exec = function (this: RegExp, searched: string) {
    if (this.source === new RegExp(rule.expression).source) native.calls.push(this.lastIndex);
    return exec.call(this, searched);
  };
  try {
    for (const keyword of rule.keywords) {
      const folded = keyword.toLowerCase();
      const lower = text.toLowerCase();
      for (let at = lower.indexOf(folded); at !== -1; at = lower.indexOf(folded, at + 1)) {
        matcher.match(emptyMemo(text), at, at + keyword.length);
      }
    }
  } finally {
    RegExp.prototype.exec = exec;
  }
  for (const start of native.calls)
    steps += countSteps(rule.expression, rule.caseInsensitive ?? false, text, start).steps;
  return steps;
}

const compiled = FORMAT_RULES.map(compileRule).filter((rule): rule is CompiledRule => typeof rule !== "string");

describe("expressions", () => {
  test("all rules are compiled", () => expect(compiled.length).toBe(FORMAT_RULES.length));

  test.each(compiled.map((rule) => [rule.rule.id, rule] as const))(
    "%s takes a bounded number of steps per character",
    (_, rule) => {
      const [keyword = ""] = rule.rule.keywords;
      const [template = ""] = rule.rule.examples.positive;
      const example = fillTemplate(template, seededRandom(1)).text;
      const parts = [
        keyword,
        `${keyword} `,
        ` ${keyword}`,
        `${keyword}a`,
        `=${keyword}`,
        `${example.slice(0, -1)}~`,
        `${example.slice(0, Math.ceil(example.length / 2))} `,
      ];
      for (const part of parts) {
        const text = repeat(part, TEXT_CHARACTERS);
        expect({ part, few: stepsOf(rule, text) <= STEPS_PER_CHARACTER_MAX * TEXT_CHARACTERS }).toEqual({
          part,
          few: true,
        });
      }
    },
  );
});

/** Characters that are read one by one or copied while `work` runs. */
function charactersRead(work: () => void): number {
  const { charCodeAt, slice } = String.prototype;
  let read = 0;
  String.prototype.charCodeAt = function (this: string, index: number) {
    read += 1;
    return charCodeAt.call(this, index);
  };
  String.prototype.slice = function (this: string, start?: number, end?: number) {
    const part = slice.call(this, start, end);
    read += part.length;
    return part;
  };
  try {
    work();
  } finally {
    Object.assign(String.prototype, { charCodeAt, slice });
  }
  return read;
}

const redactor = createRedactor({ known: [{ rule: "env-x", value: "abababababababab1" }] });
const encoded = (text: string) => Buffer.from(text).toString("base64").replace(/=+$/, "");

test.each([
  ["a name", "token"],
  ["a name and a colon", "token:"],
  ["a name and an equals sign", "secret="],
  ["a name and a quote", 'password="'],
  ["a name and blanks", "api_key        "],
  ["an opening line", "-----BEGIN PRIVATE KEY-----"],
  ["an opening line and a line of key", `-----BEGIN PRIVATE KEY-----\n${"A".repeat(64)}\n`],
  ["the beginning of a key", "-----BEGIN RSA PRIVATE KEY-----\n"],
  ["a wrapped beginning", encoded("ghp_ghp_ghp_")],
  ["a wrapped opening line", encoded("-----BEGIN PRIVATE KEY-----\n".repeat(3))],
  ["the beginning of a web token", "eyJ"],
  ["the beginning of an address", "://a:"],
  ["a known value but for its end", "ab"],
  ["a keyword seen as UTF-16", "g\0h\0p\0_\0"],
  ["null characters", "\0"],
])("text that repeats %s is looked at a bounded number of times", (_, part) => {
  const text = repeat(part, 40_000);
  const read = charactersRead(() => redactor.find(text));
  expect(read).toBeGreaterThanOrEqual(text.length);
  expect(read / text.length).toBeLessThan(200);
});
