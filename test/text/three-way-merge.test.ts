// Both changes of a text: each alone is taken, both together give the same from either side, and conflicts are found.
import fc from "fast-check";
import { expect, test } from "vitest";
import { threeWayMerge } from "../../src/text/three-way-merge.ts";

function merged(base: string, one: string, other: string): string | undefined {
  const [first, second, third] = [base, one, other].map((text) => Buffer.from(text)) as [Buffer, Buffer, Buffer];
  const steps = threeWayMerge(first, second, third);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value && Buffer.from(step.value).toString();
  }
}

const BASE = "1\n2\n3\n4\n5\n6\n7\n";

test.each([
  ["changes in different lines", "one\n2\n3\n4\n5\n6\n7\n", "1\n2\n3\n4\n5\n6\nseven\n", "one\n2\n3\n4\n5\n6\nseven\n"],
  ["a line removed and one added", "1\n3\n4\n5\n6\n7\n", "1\n2\n3\n4\n5\nnew\n6\n7\n", "1\n3\n4\n5\nnew\n6\n7\n"],
  ["a last line without its end", "0\n1\n2\n3\n4\n5\n6\n7\n", "1\n2\n3\n4\n5\n6\n7", "0\n1\n2\n3\n4\n5\n6\n7"],
  ["the same on both sides, and one more", "1\n2\nx\n4\n5\n6\n7\n", "1\n2\nx\n4\n5\n6\n8\n", "1\n2\nx\n4\n5\n6\n8\n"],
])("%s: both are taken", (_, one, other, both) => {
  expect(merged(BASE, one, other)).toBe(both);
  expect(merged(BASE, other, one)).toBe(both);
});

test.each([
  ["the same line", "1\n2\nx\n4\n5\n6\n7\n", "1\n2\ny\n4\n5\n6\n7\n"],
  ["lines beside each other", "1\n2\nx\n4\n5\n6\n7\n", "1\n2\n3\ny\n5\n6\n7\n"],
  ["lines added in one place", "1\n2\nx\n3\n4\n5\n6\n7\n", "1\n2\ny\n3\n4\n5\n6\n7\n"],
  ["a line that is removed and changed", "1\n2\n4\n5\n6\n7\n", "1\n2\ny\n4\n5\n6\n7\n"],
  ["all that is removed, and a line in it", "", "1\n2\ny\n4\n5\n6\n7\n"],
  ["the end of the last line, and a line after it", "1\n2\n3\n4\n5\n6\n7", `${BASE}8\n`],
])("%s: a conflict", (_, one, other) => {
  expect(merged(BASE, one, other)).toBeUndefined();
  expect(merged(BASE, other, one)).toBeUndefined();
});

const text = fc.array(fc.constantFrom("a\n", "b\n", "c\n", "\n"), { maxLength: 16 }).map((lines) => lines.join(""));

test("a version that changed nothing, or the same, gives the other one", () => {
  fc.assert(
    fc.property(text, text, (base, other) => {
      expect([merged(base, base, other), merged(base, other, base), merged(base, other, other)]).toEqual([
        other,
        other,
        other,
      ]);
    }),
  );
});

test("both sides may be changed for each other, and every line of what comes out is of one of the three", () => {
  fc.assert(
    fc.property(text, text, text, (base, one, other) => {
      const both = merged(base, one, other);
      expect(merged(base, other, one)).toBe(both);
      const known = new Set(`${base}${one}${other}`.split("\n"));
      expect((both ?? "").split("\n").filter((line) => line !== "" && !known.has(line))).toEqual([]);
    }),
  );
});

test("lines that follow each other as often as a mebibyte holds are in conflict, and no failure", () => {
  const lines = Array.from({ length: 150_000 }, (_, index) => `${index.toString().padStart(6, "0")}\n`);
  const base = lines.join("");
  expect(merged(base, lines.toReversed().join(""), `first\n${base}`)).toBeUndefined();
  expect(merged(base, `${base}last\n`, `first\n${base}`)).toBe(`first\n${base}last\n`);
});
