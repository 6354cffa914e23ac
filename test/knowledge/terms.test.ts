/** Index terms: what a text is found by. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { questionTerms, termsOf } from "../../src/knowledge/terms.ts";

test.each([
  ["readFileSync", "readfilesync read file sync"],
  ["HTTPServer", "httpserver http server"],
  ["snake_case_name", "snakecasename snake case name"],
  ["utf8", "utf8 utf 8"],
  ["Größe übergeben", "größe übergeben"],
  ["$scope", "scope"],
  ["a.b(c)", "a b c"],
  ["x".repeat(65), ""],
])("%s", (text, terms) => {
  expect(termsOf(text).join(" ")).toBe(terms);
});

test("a question is its telling words, each once; one of nothing else keeps all", () => {
  expect(questionTerms("How are the retries of a retries queue bounded?")).toEqual(["retries", "queue", "bounded"]);
  expect(questionTerms("what is this")).toEqual(["what", "is", "this"]);
  expect(questionTerms("…")).toEqual([]);
  expect(questionTerms(Array.from({ length: 100 }, (_, index) => `word${index}x`).join(" "))).toHaveLength(32);
});

test("terms are in lower case, hold no operator of a query, and are not longer than words are", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 300 }), (text) => {
      for (const term of termsOf(text)) {
        expect(term).toMatch(/^[\p{L}\p{M}\p{N}]+$/u);
        expect(term).toBe(term.toLowerCase());
      }
    }),
  );
});
