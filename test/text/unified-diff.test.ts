// The diff of an edit: its exact form, its bounds, and that applying it gives the edited file.
import fc from "fast-check";
import { expect, test } from "vitest";
import { DIFF_LINE_CHARACTERS_MAX, DIFF_LINES_MAX, unifiedDiff } from "../../src/text/unified-diff.ts";
import { applyEdits, type LoomEdit } from "../../src/tools/edit/loom.ts";

const bytes = (text: string) => Buffer.from(text);
const replace = (spec: string, content: string, count = 1): LoomEdit => ({
  operation: "replace",
  spec: bytes(spec),
  content: bytes(content),
  count,
});

function diffOf(
  original: string,
  ...edits: LoomEdit[]
): { text: string; linesOmitted: number; linesCut: number; after: string } {
  const result = applyEdits(bytes(original), edits);
  if (result.kind !== "applied") throw new Error(result.kind);
  const edited = { original: bytes(original), changes: result.changes, updated: result.bytes };
  return { ...unifiedDiff("f.txt", edited), after: Buffer.from(result.bytes).toString() };
}

/** Applies a unified diff the slow way: a reader of the format that shares nothing with its writer. */
function patched(original: string, diff: string): string {
  if (diff === "") return original;
  const before = original.split(/(?<=\n)/).filter((line) => line !== "");
  const after: string[] = [];
  let next = 0;
  let last = "";
  for (const raw of diff.split("\n").slice(2, -1)) {
    const header = /^@@ -(\d+)(?:,(\d+))? /.exec(raw);
    if (header) {
      const start = Number(header[1]) - (header[2] === "0" ? 0 : 1);
      while (next < start) after.push(before[next++] ?? "");
    } else if (raw.startsWith("\\")) {
      if (last !== "-") after.push((after.pop() ?? "").replace(/\n$/, ""));
    } else if (raw.startsWith("-")) {
      if (before[next]?.replace(/\n$/, "") !== raw.slice(1)) throw new Error(`wrong line removed: ${raw}`);
      next += 1;
    } else {
      after.push(`${raw.slice(1)}\n`);
      if (raw.startsWith(" ")) next += 1;
    }
    last = raw.charAt(0);
  }
  return [...after, ...before.slice(next)].join("");
}

const NUMBERS = Array.from({ length: 20 }, (_, index) => `line ${index + 1}\n`).join("");

test("a change is shown with three lines of context, near changes in one hunk, far ones in two", () => {
  expect(diffOf(NUMBERS, replace("line 5\n", "five\nand more\n"), replace("line 18", "eighteen")).text).toBe(
    [
      "--- a/f.txt",
      "+++ b/f.txt",
      "@@ -2,7 +2,8 @@",
      " line 2",
      " line 3",
      " line 4",
      "-line 5",
      "+five",
      "+and more",
      " line 6",
      " line 7",
      " line 8",
      "@@ -15,6 +16,6 @@",
      " line 15",
      " line 16",
      " line 17",
      "-line 18",
      "+eighteen",
      " line 19",
      " line 20",
      "",
    ].join("\n"),
  );
  expect(diffOf(NUMBERS, replace("line 5\n", ""), replace("line 9", "nine")).text.match(/^@@/gm)).toHaveLength(1);
});

test("only lines that differ are shown as changed", () => {
  expect(diffOf("a\nb\n", replace("a\nb", "a\nx\nb")).text).toBe(
    "--- a/f.txt\n+++ b/f.txt\n@@ -1,2 +1,3 @@\n a\n+x\n b\n",
  );
  expect(diffOf("a\n", replace("a", "a"))).toEqual({ text: "", linesOmitted: 0, linesCut: 0, after: "a\n" });
});

test("a missing line feed at the end is told", () => {
  expect(diffOf("a\nb", replace("b", "c")).text).toBe(
    "--- a/f.txt\n+++ b/f.txt\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n",
  );
});

test("a long diff is cut and the rest counted, and so is a long line", () => {
  const long = diffOf("a\n", replace("a\n", "b\n".repeat(1000)));
  expect(long.text.split("\n")).toHaveLength(DIFF_LINES_MAX + 1);
  expect(long.linesOmitted).toBe(1000 - (DIFF_LINES_MAX - 4));
  const wide = diffOf("a\n", replace("a", "w".repeat(DIFF_LINE_CHARACTERS_MAX + 7)));
  expect(wide.text).toContain(`+${"w".repeat(DIFF_LINE_CHARACTERS_MAX)}… (7 more bytes)\n`);
});

test("the diff, applied to the original, gives the result", () => {
  const text = fc.string({ unit: fc.constantFrom("a", "b", "c", "\n", "\n"), maxLength: 80 });
  const spec = fc.string({ unit: fc.constantFrom("a", "b", "\n"), minLength: 1, maxLength: 3 });
  const operation = fc.constantFrom("replace", "delete", "append_after", "prepend_before");
  fc.assert(
    fc.property(
      text,
      fc.array(fc.record({ operation, spec, content: text }), { minLength: 1, maxLength: 3 }),
      (original, wishes) => {
        const edits = wishes.map((wish) => ({
          operation: wish.operation,
          spec: bytes(wish.spec),
          content: bytes(wish.operation === "delete" ? "" : wish.content),
          count: original.split(wish.spec).length - 1,
        }));
        const result = applyEdits(bytes(original), edits);
        fc.pre(result.kind === "applied" && result.changes.length > 0);
        if (result.kind !== "applied") return;
        const diff = unifiedDiff("f.txt", {
          original: bytes(original),
          changes: result.changes,
          updated: result.bytes,
        });
        expect(diff.linesOmitted).toBe(0);
        expect(patched(original, diff.text)).toBe(Buffer.from(result.bytes).toString());
      },
    ),
    { numRuns: 2000 },
  );
});
