// What is looked for before the engine looks never hides a match: random expressions find in random bytes what the
// engine finds in the whole of them. And it takes no more than its bounded steps at each place.
import fc from "fast-check";
import { RRegex } from "rregex";
import { expect, test } from "vitest";
import { sequencesOf } from "../../../../src/sandbox/search/pattern/byte-sequences.ts";
import { firstPlaceOf } from "../../../../src/sandbox/search/pattern/first-place.ts";
import { matchAll } from "../../../../src/sandbox/search/pattern/matching.ts";
import { readyPattern } from "../../../../src/sandbox/search/pattern/pattern.ts";
import { engineText } from "../../../../src/sandbox/search/pattern/text.ts";

function sequences(source: string): string | undefined {
  return sequencesOf(new RRegex(`(?mR)${source}`).syntax())?.source;
}

test("sequences are those of the rarest bytes that follow each other", () => {
  expect(sequences("[A-Z]{3}\\d+")).toBe("[\\x41-\\x5a][\\x41-\\x5a][\\x41-\\x5a][\\x30-\\x39\\x80-\\xff]");
  expect(sequences("ERROR|FATAL")).toBe(
    "[\\x45-\\x45][\\x52-\\x52][\\x52-\\x52][\\x4f-\\x4f]|[\\x46-\\x46][\\x41-\\x41][\\x54-\\x54][\\x41-\\x41]",
  );
  expect(sequences("(?i:val)ue")).toBe("[\\x41-\\x41\\x61-\\x61][\\x4c-\\x4c\\x6c-\\x6c][\\x75-\\x75][\\x65-\\x65]");
  expect(sequences("Q(X+)Y")).toBe("[\\x51-\\x51][\\x58-\\x58]");
  expect(sequences("\\w*é[0-9]")).toBe("[\\xc3-\\xc3][\\xa9-\\xa9][\\x30-\\x39]");
});

test("there are none where a match need not have any, or where they stand everywhere", () => {
  for (const source of ["", "a*", "(QXZ)?", "QXZ|", "[a-z]+", "\\w+", ".", "[^a]", "\\x{fffd}", "A|B|C|D|E", "\\b"]) {
    expect(sequences(source), source).toBeUndefined();
  }
});

const atom = fc.constantFrom(
  ...["Q", "X", "7", "QX", "é", "ſ", "\u{1f600}", "\\x{fffd}"],
  ...["[Q7]", "[A-Z]", "[0-9]", "[^Q]", ".", "(?i:s)", "(?i:k)", "\\d", "[é€]", "[Q€]", "^", "$", "\\b", "(?i:qx)"],
);
const { expression } = fc.letrec<{ expression: string }>((tie) => ({
  expression: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    atom,
    fc.tuple(tie("expression"), tie("expression")).map(([left, right]) => `${left}${right}`),
    fc.tuple(tie("expression"), tie("expression")).map(([left, right]) => `(?:${left}|${right})`),
    fc
      .tuple(tie("expression"), fc.constantFrom("?", "*", "+", "{2}", "{2,}", "{1,3}", "+?", "{5}"))
      .map(([one, more]) => `(?:${one})${more}`),
    tie("expression").map((one) => `(${one})`),
  ),
}));
const pieces = [
  "Q",
  "X",
  "7",
  "q",
  "x",
  "A",
  "s",
  "ſ",
  "k",
  "\u212a",
  "é",
  "€",
  "\u{1f600}",
  "٣",
  "\n",
  "\r\n",
  " ",
  "\ufffd",
];
const content = fc
  .array(
    fc.oneof(
      fc.constantFrom(...pieces.map((piece) => Buffer.from(piece))),
      fc.constantFrom(0xc3, 0xe2, 0xff, 0x80).map((byte) => Buffer.of(byte)),
    ),
    {
      maxLength: 24,
    },
  )
  .map((parts) => Buffer.concat(parts));

test("random expressions find in random bytes what the engine finds in the whole of them", async () => {
  let sought = 0;
  let matched = 0;
  await fc.assert(
    fc.asyncProperty(expression, fc.array(content, { minLength: 1, maxLength: 6 }), async (source, contents) => {
      const pattern = await readyPattern({ kind: "regex", text: source });
      if (pattern.kind !== "regex") return;
      if (sequencesOf(pattern.regex.syntax()) !== undefined) sought += 1;
      for (const bytes of contents) {
        const { text, toByte } = engineText(bytes);
        const whole = pattern.regex.findAll(text.toString()).map(({ start, end }) => [toByte(start), toByte(end)]);
        const found: [number, number][] = [];
        matchAll(bytes, { pattern, windowBytes: 4 }, (start, end) => found.push([start, end]) > 0);
        expect(found, source).toEqual(whole);
        matched += whole.length;
      }
    }),
    { numRuns: 500 },
  );
  expect(sought).toBeGreaterThan(50);
  expect(matched).toBeGreaterThan(500);
});

test("a sequence is found wherever it lies in a large file, and the looks end when they rule nothing out", () => {
  const first = firstPlaceOf(undefined, /QX7[0-9]/, Number.POSITIVE_INFINITY);
  const file = Buffer.alloc(300_000, "a");
  for (const at of [0, 65_533, 65_534, 65_535, 65_536, 131_071, 299_996]) {
    const bytes = Buffer.from(file);
    bytes.write("QX70", at);
    expect(first(bytes, 0)).toBe(at);
    expect(first(bytes, at + 1)).toBe(-1);
  }
  const everywhere = firstPlaceOf(undefined, /a/);
  for (let look = 0; look < 40; look += 1) everywhere(file, 5);
  expect(everywhere(Buffer.alloc(10, "b"), 5)).toBe(5); // it is not looked for any more
});
