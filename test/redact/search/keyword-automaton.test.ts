// Many keywords in one pass: the same as looking for each of them.
import fc from "fast-check";
import { expect, test } from "vitest";
import { buildAutomaton } from "../../../src/redact/search/keyword-automaton.ts";

function found(keywords: readonly string[], text: string): string[] {
  const { next, classes, shift, accepting, outputStarts, outputs } = buildAutomaton(keywords);
  const result: string[] = [];
  let state = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    state = next[(state << shift) | (code < 128 ? (classes[code] ?? 0) : 0)] ?? 0;
    if (state < accepting || code === 0) continue;
    const entry = state - accepting;
    for (let place = outputStarts[entry] ?? 0; place < (outputStarts[entry + 1] ?? 0); place += 1)
      result.push(`${outputs[place]}@${index}`);
  }
  return result.sort();
}

function expected(keywords: readonly string[], text: string): string[] {
  const folded = text.toLowerCase();
  return keywords
    .flatMap((keyword, number) => {
      const ends: string[] = [];
      for (let at = folded.indexOf(keyword); at !== -1; at = folded.indexOf(keyword, at + 1))
        ends.push(`${number}@${at + keyword.length - 1}`);
      return ends;
    })
    .sort();
}

test("every keyword is found wherever it ends, overlapping ones too, in both cases", () => {
  const word = fc
    .array(fc.constantFrom("a", "b", "c", "-"), { minLength: 1, maxLength: 5 })
    .map((parts) => parts.join(""));
  const text = fc
    .array(fc.constantFrom("a", "B", "b", "c", "-", " ", "é"), { maxLength: 60 })
    .map((parts) => parts.join(""));
  fc.assert(
    fc.property(fc.uniqueArray(word, { minLength: 1, maxLength: 8 }), text, (keywords, searched) => {
      expect(found(keywords, searched)).toEqual(expected(keywords, searched));
    }),
    { numRuns: 1000 },
  );
});

test("more states than 16 bits can tell apart are told apart", () => {
  const keywords = Array.from({ length: 3000 }, (_, index) => `${index.toString(36)}-abcdefghijklmnopqrstuvwxyz.`);
  const { next, depths } = buildAutomaton(keywords);
  expect([next.constructor, depths.length > 0x10000]).toEqual([Int32Array, true]);
  expect(buildAutomaton(keywords.slice(0, 1000)).next).toBeInstanceOf(Uint16Array);
  const text = ` ${keywords.at(-1)} ${keywords[7]?.toUpperCase()} ${keywords[1234]?.slice(0, -1)}`;
  expect(found(keywords, text)).toEqual(expected(keywords, text));
});

test("a null character between the characters of a keyword changes nothing", () => {
  expect(found(["abc"], "a\0b\0c\0")).toEqual(["0@4"]);
});
