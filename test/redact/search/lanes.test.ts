// Four passes at once meet exactly the keywords that one pass meets, in the same order, wherever their parts meet.
import fc from "fast-check";
import { expect, test } from "vitest";
import { AUTOMATON_KEYWORD_MAX, buildAutomaton } from "../../../src/redact/search/keyword-automaton.ts";
import { scanInLanes } from "../../../src/redact/search/lanes.ts";

const LONG = "cabd".repeat(12);
const KEYWORDS = ["ab", "abcab", "b.", LONG, "password"];
const automaton = buildAutomaton(KEYWORDS);

type Met = readonly [keyword: number, index: number];

function met(text: string): readonly Met[] {
  const { accepting, outputs, outputStarts } = automaton;
  const found: Met[] = [];
  scanInLanes(automaton, text, (state, index) => {
    const entry = state - accepting;
    for (const keyword of outputs.slice(outputStarts[entry], outputStarts[entry + 1])) found.push([keyword, index]);
  });
  return found;
}

/** By looking at every place for every keyword. */
function standing(text: string): readonly Met[] {
  const found: Met[] = [];
  for (let index = 0; index < text.length; index += 1) {
    for (const [keyword, word] of KEYWORDS.entries()) {
      if (text.slice(Math.max(0, index + 1 - word.length), index + 1).toLowerCase() === word)
        found.push([keyword, index]);
    }
  }
  return found;
}

// `ł`, `š` and `Ā` have the low bytes of `B`, `a` and of a null character: none of them is one. `é` fits into a byte.
const narrow = fc.constantFrom("a", "b", "c", "d", ".", "abcab", "PassWord", "cabdcabdcabd", "é", "-", "pass", "word");
const piece = fc.constantFrom(
  "a",
  "b",
  "c",
  "d",
  ".",
  "abcab",
  "PassWord",
  "cabdcabdcabd",
  "š",
  "ł",
  "Ā",
  "é",
  "-",
  "pass",
  "word",
);

test("the same keywords in the same order as by looking at every place", () => {
  fc.assert(
    fc.property(
      fc
        .oneof(fc.array(piece, { maxLength: 200 }), fc.array(narrow, { maxLength: 200 }))
        .map((pieces) => pieces.join("")),
      (text) => {
        expect(met(text)).toEqual(standing(text));
      },
    ),
    { numRuns: 500 },
  );
});

test("the longest keyword is met around every border of parts", () => {
  expect(LONG.length).toBe(AUTOMATON_KEYWORD_MAX);
  const length = 4099;
  for (const border of [0, 1024, 2048, 3072, 4096 - LONG.length]) {
    for (let shift = -50; shift <= 50; shift += 1) {
      const at = border + shift;
      if (at < 0 || at + LONG.length > length) continue;
      const text = `${"-".repeat(at)}${LONG}`.padEnd(length, "-");
      expect(met(text).filter(([keyword]) => keyword === 3)).toEqual([[3, at + LONG.length - 1]]);
    }
  }
});

test("keywords around the border of two blocks are met once", () => {
  const border = 16_384;
  for (const [index, keyword] of KEYWORDS.entries()) {
    for (let at = border - 60; at <= border + 10; at += 1) {
      for (const filler of ["-", "ł"]) {
        const text = `${filler.repeat(at)}${keyword}${filler.repeat(60)}`;
        expect(met(text).filter(([found]) => found === index)).toEqual(
          standing(text.slice(border - 200))
            .filter(([found]) => found === index)
            .map(([found, end]) => [found, end + border - 200]),
        );
      }
    }
  }
});
