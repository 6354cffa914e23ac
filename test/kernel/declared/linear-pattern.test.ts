// Danger patterns keep JavaScript's meaning, and what could be slow is refused.
import fc from "fast-check";
import { RRegex } from "rregex";
import { expect, test } from "vitest";
import { DANGER_PATTERN_CHARACTERS_MAX } from "../../../src/base/limits.ts";
import { DANGER_PATTERN_STATES_MAX, linearPattern } from "../../../src/kernel/declared/linear-pattern.ts";

/** Whether the engine finds `pattern` in `text`. */
function found(pattern: RegExp, text: string): boolean {
  const linear = linearPattern(pattern);
  if (!linear.ok) throw new Error(`${String(pattern)}: ${linear.problem}`);
  return new RRegex(linear.text).isMatch(text);
}

const CLASSES_OF_ALL_OR_NOTHING = ["[]a", "[^]b"].map((source) => new RegExp(source));
const PATTERNS: readonly RegExp[] = [
  ...[/rm\s+-rf/, />\s*\/dev\/sd/, /mkfs/, /dd\s+if=/, /chmod\s+777/, /curl.*\|\s*sh/, /wget.*\|\s*sh/],
  ...[/^a+b?$/, /(?:a|bc){2,3}/, /[^a-c\d]x/, /[\w-]+@[.\]]/, /a{2}/, /a{2,}b/, /(?<name>ab)+?c/, /\bab\b/, /\Bb\B/],
  ...[
    /\x41\u0062/,
    /AB/i,
    /[^A]b/i,
    /a.b/s,
    /a{,2}/,
    /x]y}z/,
    /[\b]/,
    /\cA/,
    /[a\-z]/,
    /[+-]/,
    /[\d-x]/,
    /[[&&]a/,
    /[~~-]/,
    /a|/,
  ],
  ...[/\u{61}b/u, /é+/, /\s\S\D/, /(a(b(c)?)*)+/, /\0/, /\//, /[\s\S]b/, /a{0}b/, /(?:)b/],
  // Classes that hold nothing, and everything.
  ...CLASSES_OF_ALL_OR_NOTHING,
];
const TEXTS = [
  ...[
    "",
    "a",
    "ab",
    "aab",
    "abab",
    "bcbca",
    "AB",
    "xb",
    "4x",
    "-x",
    "a\nb",
    "a\r\nb\r\nc",
    "a b",
    "a{,2}",
    "x]y}z",
    "\b",
    "\u0001",
    "a-z",
    "+",
  ],
  ...[
    "abc",
    "é",
    "éb",
    "\u00a0a1",
    "\0",
    "/",
    "a@.",
    "w-1@]",
    "[a",
    "&a",
    "~",
    "rm -rf /",
    "rm\t-rf",
    "curl x | sh",
    "curl x\n| sh",
    "chmod 777",
  ],
  ...["> /dev/sda", "dd  if=/", "ſ", "K", "k", "\u2028b", "b\u2029", "😀b", "ab ab", "b", "aaab", "aabb"],
];

test.each(PATTERNS)("%s matches what it matches in JavaScript", (pattern) => {
  const differing = TEXTS.filter(
    (text) => found(pattern, text) !== new RegExp(pattern.source, pattern.flags).test(text),
  );
  expect(differing).toEqual([]);
});

test("with the flag `m` the ends of lines are those of files", () => {
  const pattern = /^b$/m;
  const texts = ["a\nb\nc", "a\r\nb", "b", "ab", "a\nbc"];
  expect(texts.map((text) => found(pattern, text))).toEqual(texts.map((text) => pattern.test(text)));
});

test("patterns made at random match what they match in JavaScript", () => {
  const atom = fc.constantFrom(
    "a",
    "b",
    ".",
    "\\d",
    "\\w",
    "\\s",
    "[ab]",
    "[^a]",
    "\\b",
    "1",
    "-",
    "(?:a|b)",
    "\\x62",
    "[\\d-a]",
  );
  const quantifier = fc.constantFrom("", "", "*", "+", "?", "{1,2}", "{2}", "*?");
  const quantified = fc.tuple(atom, quantifier).map(([one, many]) => (one === "\\b" ? one : one + many));
  const source = fc.array(
    fc.array(quantified, { maxLength: 5 }).map((parts) => parts.join("")),
    { minLength: 1, maxLength: 3 },
  );
  const text = fc.string({ unit: fc.constantFrom("a", "b", "1", "-", " ", "\n", "c"), maxLength: 12 });
  const sample = fc.record({
    source: source.map((options) => options.join("|")),
    flags: fc.constantFrom("", "i", "s", "is"),
    text,
  });
  fc.assert(
    fc.property(sample, ({ source: given, flags, text: tried }) => {
      const pattern = new RegExp(given, flags);
      expect(found(pattern, tried)).toBe(pattern.test(tried));
    }),
    { numRuns: 500 },
  );
});

test.each<readonly [RegExp, RegExp]>([
  [/(?=a)b/, /look-around/],
  [/(?!a)b/, /look-around/],
  [/(?<=a)b/, /look-around/],
  [/(?<!a)b/, /look-around/],
  [/(a)\1/, /back-reference/],
  [/(?<x>a)\k<x>/, /back-reference/],
  [/\p{L}/u, /properties/],
  [/a/y, /flag `y`/],
  [/[a--b]/v, /flag `v`/],
  [/\ud83d/, /surrogate/],
  [/(?:a{40}){40}/, /lower their bounds/],
  [new RegExp("a".repeat(DANGER_PATTERN_CHARACTERS_MAX + 1)), /more than 1000 characters/],
  [new RegExp(`${"(".repeat(20)}a${")".repeat(20)}`), /nests groups/],
])("%s is refused", (pattern, problem) => {
  expect(linearPattern(pattern)).toEqual({ ok: false, problem: expect.stringMatching(problem) });
});

test.each([
  ["\\p{L}", /properties/],
  ["\\u{61}", /needs the flag `u`/],
  ["a\\y", /`\\y` is not accepted/],
  ["\\101", /back-reference/],
  ["(?i:a)b", /flags inside of it/],
  ["[😀]", /surrogate/],
  ["😀+", /surrogate/],
])("%s without a flag, which says something else than it seems to, is refused", (source, problem) => {
  expect(() => new RegExp(source)).not.toThrow();
  expect(linearPattern({ source, flags: "" })).toEqual({ ok: false, problem: expect.stringMatching(problem) });
});

test("a character beyond 16 bits is one with the flag `u` and without", () => {
  const patterns = [/^😀$/, /^😀$/u, /^\ud83d\ude00$/, /^[😀]+$/u];
  expect(patterns.map((pattern) => ["😀", "😁", "😀😀", "x"].map((text) => found(pattern, text)))).toEqual(
    patterns.map((pattern) => ["😀", "😁", "😀😀", "x"].map((text) => pattern.test(text))),
  );
});

test.each([
  ["a**", ""],
  ["(a", ""],
  ["a)", ""],
  ["[b-a]", ""],
  ["a{2,1}", ""],
  ["\\@", "u"],
  ["a{", "u"],
])("%s with the flags `%s`, which is no regular expression, is refused", (source, flags) => {
  expect(() => new RegExp(source, flags)).toThrow(SyntaxError);
  expect(linearPattern({ source, flags })).toEqual({
    ok: false,
    problem: expect.stringMatching(/^it is no regular expression: [a-z]/),
  });
});

test("the bound of repetitions is exact", () => {
  // A sequence, a repetition and its last turn stand for one state each.
  const most = (DANGER_PATTERN_STATES_MAX - 2) / 1 - 1;
  expect(linearPattern(new RegExp(`a{${most}}`))).toEqual({
    ok: true,
    text: `(?:a){${most}}`,
    states: DANGER_PATTERN_STATES_MAX,
  });
  expect(linearPattern(new RegExp(`a{${most + 1}}`)).ok).toBe(false);
});
