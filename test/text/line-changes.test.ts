// What changed between two versions: the changes give the new version, they are the fewest, and effort is bounded.
import fc from "fast-check";
import { expect, test } from "vitest";
import { lineChanges as changeSteps } from "../../src/text/line-changes.ts";
import { type Change, unifiedDiff } from "../../src/text/unified-diff.ts";

const bytes = (text: string) => Buffer.from(text);

function lineChanges(...versions: Parameters<typeof changeSteps>): readonly Change[] {
  const steps = changeSteps(...versions);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

function applied(before: Uint8Array, changes: readonly Change[]): string {
  const pieces: Uint8Array[] = [];
  let at = 0;
  for (const { start, end, content } of changes) {
    pieces.push(before.subarray(at, start), content);
    at = end;
  }
  return Buffer.concat([...pieces, before.subarray(at)]).toString();
}

function diffOf(before: string, after: string): string {
  const [original, updated] = [bytes(before), bytes(after)];
  return unifiedDiff("f", { original, changes: lineChanges(original, updated), updated }).text;
}

/** The fewest lines deleted and inserted, found by the table of all common subsequences. */
function fewest(before: readonly string[], after: readonly string[]): number {
  let row = new Array<number>(after.length + 1).fill(0);
  for (const line of before) {
    const next = [0];
    for (const [index, other] of after.entries())
      next.push(line === other ? (row[index] ?? 0) + 1 : Math.max(next[index] ?? 0, row[index + 1] ?? 0));
    row = next;
  }
  return before.length + after.length - 2 * (row[after.length] ?? 0);
}

const text = fc
  .array(fc.constantFrom("a\n", "b\n", "c\n", "\n", "long line\n"), { maxLength: 24 })
  .chain((lines) => fc.constantFrom(lines.join(""), lines.join("").replace(/\n$/, "")));

test("the changes give the new version, also when the comparison gives up at once", () => {
  fc.assert(
    fc.property(text, text, fc.constantFrom(0, 1, 3, 1000), (before, after, editsMax) => {
      expect(applied(bytes(before), lineChanges(bytes(before), bytes(after), editsMax))).toBe(after);
    }),
    { numRuns: 500 },
  );
});

test("as few lines are deleted and inserted as possible", () => {
  const lines = fc.array(fc.constantFrom("a\n", "b\n", "c\n"), { maxLength: 16 });
  fc.assert(
    fc.property(lines, lines, (before, after) => {
      const changes = lineChanges(bytes(before.join("")), bytes(after.join("")));
      const counted = changes.reduce(
        (sum, { start, end, content }) => sum + (end - start) / 2 + content.byteLength / 2,
        0,
      );
      expect(counted).toBe(fewest(before, after));
    }),
    { numRuns: 500 },
  );
});

test("equal versions have no changes, an empty one is all new, and a missing line feed counts", () => {
  expect(lineChanges(bytes("a\nb\n"), bytes("a\nb\n"))).toEqual([]);
  expect(diffOf("", "a\nb")).toBe("--- a/f\n+++ b/f\n@@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file\n");
  expect(diffOf("a\nb\n", "")).toBe("--- a/f\n+++ b/f\n@@ -1,2 +0,0 @@\n-a\n-b\n");
  expect(diffOf("a\n", "a")).toBe("--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+a\n\\ No newline at end of file\n");
});

test("hostile versions are compared within the bound: two lines that alternate against the other way round", () => {
  const before = bytes("a\nb\n".repeat(100_000));
  const after = bytes("b\na\n".repeat(100_000));
  expect(applied(before, lineChanges(before, after))).toBe(after.toString());
  const other = bytes("x\n\n".repeat(150_000));
  expect(applied(before, lineChanges(before, other))).toBe(other.toString());
});

test("few edits in lines that look alike everywhere are one change, because finding them takes too many steps", () => {
  const changesIn = (turns: number) => {
    const before = "a\nb\n".repeat(turns);
    const after = `a\nb\na\na\na\n${`${"a\nb\n".repeat(turns / 400 - 1)}x\nb\n`.repeat(400)}`;
    const changes = lineChanges(bytes(before), bytes(after));
    expect(applied(bytes(before), changes)).toBe(after);
    return changes.length;
  };
  expect(changesIn(4_000)).toBe(403);
  expect(changesIn(200_000)).toBe(1);
});

test.each([
  ["turned round", (lines: readonly string[]) => lines.toReversed()],
  ["all other", (lines: readonly string[]) => lines.map((line) => `x${line}`)],
])("a mebibyte of lines, %s, is compared in many steps and is one change", (_, change) => {
  const lines = Array.from({ length: 150_000 }, (__, index) => `${index.toString().padStart(6, "0")}\n`);
  const [before, after] = [bytes(lines.join("")), bytes(change(lines).join(""))];
  expect([...changeSteps(before, after)].length).toBeGreaterThan(1000); // others have their turn between two
  expect(lineChanges(before, after)).toEqual([{ start: 0, end: before.length, content: after }]);
});
