// Four passes at once meet exactly the keywords that one pass meets, in the same order, wherever their parts meet.
import fc from "fast-check";
import { expect, test } from "vitest";
import { AUTOMATON_KEYWORD_MAX, buildAutomaton } from "../../../src/redact/search/keyword-automaton.ts";
import { scanLanes } from "../../../src/redact/search/lanes.ts";

const LONG = "cabd".repeat(12);
const KEYWORDS = ["ab", "abcab", "b.", LONG, "password"];
const automaton = buildAutomaton(KEYWORDS);

type Met = readonly [keyword: number, index: number];

function met(text: string): readonly Met[] {
  const { accepting, outputs, outputStarts } = automaton;
  const found: Met[] = [];
  const codes = Uint16Array.from(text, (character) => character.charCodeAt(0));
  for (const part of scanLanes(automaton, codes, codes.length)) {
    for (let at = 0; at < part.length; at += 2) {
      const entry = (part[at] ?? 0) - accepting;
      for (const keyword of outputs.slice(outputStarts[entry], outputStarts[entry + 1])) found.push([keyword, part[at + 1] ?? 0]);
    }
  }
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
const piece = fc.constantFrom("a", "b", "c", "d", ".", "abcab", "PassWord", "cabdcabdcabd", "š", "ł", "Ā", "é", "-", "pass", "word");

test("the same keywords in the same order as by looking at every place", () => {
  fc.assert(
    fc.property(
      fc.array(piece, { maxLength: 200 }).map((pieces) => pieces.join("")),
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
