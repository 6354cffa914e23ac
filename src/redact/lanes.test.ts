// Four passes at once meet exactly the keywords that one pass meets, in the same order, wherever parts and blocks meet.
import fc from "fast-check";
import { expect, test } from "vitest";
import { buildAutomaton, type KeywordAutomaton } from "./keyword-automaton.ts";
import { scanLanes, suitsLanes } from "./lanes.ts";

const KEYWORDS = ["ab", "abcab", "b.", "cabcabcabcabcabcabcabcabcabcabca", "password"];
const automaton = buildAutomaton(KEYWORDS);

type Met = readonly [keyword: number, index: number];

function keywordsOf({ outputs, outputStarts, accepting, stride }: KeywordAutomaton, state: number): readonly number[] {
  const entry = (state - accepting) / stride;
  return [...outputs.slice(outputStarts[entry], outputStarts[entry + 1])];
}

function met(text: string): readonly Met[] {
  const found: Met[] = [];
  scanLanes(automaton, text, (state, index) => {
    for (const keyword of keywordsOf(automaton, state)) found.push([keyword, index]);
  });
  return found;
}

/** By looking at every place for every keyword. */
function standing(text: string): readonly Met[] {
  const found: Met[] = [];
  for (let index = 0; index < text.length; index += 1) {
    for (const [keyword, word] of KEYWORDS.entries()) {
      if (text.slice(Math.max(0, index + 1 - word.length), index + 1).toLowerCase() === word) found.push([keyword, index]);
    }
  }
  return found;
}

// `ł`, `š` and `Ā` have the low bytes of `B`, `a` and of a null character: none of them is one.
const piece = fc.constantFrom("a", "b", "c", ".", "abcab", "PassWord", "cabcabcabcab", "š", "ł", "Ā", "é", "🙂", "-", "pass", "word");
const texts = fc.array(piece, { minLength: 300, maxLength: 700 }).map((pieces) => pieces.join(""));

test("the same keywords in the same order as by looking at every place", () => {
  fc.assert(
    fc.property(texts, (text) => {
      expect(met(text)).toEqual(standing(text));
    }),
    { numRuns: 300 },
  );
});

test("keywords around every border of parts and blocks are met", () => {
  const length = 2 * 64 * 1024 + 4099;
  const borders = [...Array.from({ length: 4 }, (_, part) => part * 16_384), 65_536, 65_536 + 16_384, 131_072, 131_072 + 1024, length - 40];
  for (const border of borders) {
    for (let shift = -34; shift <= 34; shift += 1) {
      const at = border + shift;
      if (at < 0 || at + 32 > length) continue;
      const text = `${"-".repeat(at)}${KEYWORDS[3]}${"-".repeat(length - at - 32)}`;
      expect(met(text).filter(([keyword]) => keyword === 3)).toEqual([[3, at + 31]]);
    }
  }
});

test("short texts and those with null characters are left to one pass", () => {
  expect(suitsLanes("a".repeat(512))).toBe(true);
  expect(suitsLanes("a".repeat(511))).toBe(false);
  expect(suitsLanes(`${"a".repeat(600)}\0`)).toBe(false);
});
