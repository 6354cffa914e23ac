// What is shown of a long output: the right lines, in order, never more than asked, and a count of all others.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ExecOutput } from "../../../src/model/work/exec.ts";
import { OUTPUT_SHOWN_CHARACTERS_MAX } from "../../../src/tools/kit/shown-output.ts";
import { looksLikeFailure } from "../../../src/tools/toolchain/failure-lines.ts";
import {
  OUTPUT_LINE_CHARACTERS_MAX,
  strategyOf,
  type TruncationStrategy,
  truncated,
  truncationStrategy,
} from "../../../src/tools/toolchain/truncation.ts";
import { piecesOf } from "../../support/turns.ts";

const output = (head: string, tail = "", omittedBytes = 0): ExecOutput => ({
  head,
  tail,
  omittedBytes,
  totalBytes: head.length + tail.length + omittedBytes,
});
const numbered = (count: number) => Array.from({ length: count }, (_, index) => `line ${index + 1}`).join("\n");
const shown = (text: string, strategy: string) => truncated(output(text), strategyOf(strategy, true)).text.split("\n");

describe("the argument", () => {
  test.each(["HEAD:1", "TAIL:50", "HEAD_TAIL:5", "ERRORS:5000"])("%s is taken", (text) => {
    expect(truncationStrategy.safeParse(text).success).toBe(true);
  });

  test.each([
    "",
    "HEAD",
    "HEAD:",
    "HEAD:0",
    "HEAD:-1",
    "HEAD:5001",
    "HEAD:1.5",
    "HEAD:1e3",
    "head:5",
    "HEAD: 5",
    "HEAD:5\n",
    "ALL:5",
    "HEAD:99999",
  ])("%j is refused", (text) => {
    expect(truncationStrategy.safeParse(text).success).toBe(false);
  });

  test("without it, what failed shows its failures, and what passed its end", () => {
    expect(strategyOf(undefined, false)).toEqual({ kind: "ERRORS", lines: 200 });
    expect(strategyOf(undefined, true)).toEqual({ kind: "TAIL", lines: 40 });
    expect(strategyOf("HEAD_TAIL:7", false)).toEqual({ kind: "HEAD_TAIL", lines: 7 });
  });
});

describe("lines", () => {
  test("HEAD, TAIL and both ends", () => {
    const text = `${numbered(10)}\n`;
    expect(shown(text, "HEAD:2")).toEqual(["line 1", "line 2", "… (8 lines left out) …"]);
    expect(shown(text, "TAIL:2")).toEqual(["… (8 lines left out) …", "line 9", "line 10"]);
    expect(shown(text, "HEAD_TAIL:2")).toEqual(["line 1", "line 2", "… (6 lines left out) …", "line 9", "line 10"]);
    expect(shown(text, "HEAD_TAIL:5")).toEqual(numbered(10).split("\n"));
    expect(shown(text, "HEAD:9")).toEqual([...numbered(9).split("\n"), "… (1 line left out) …"]);
  });

  test("ERRORS shows failures with what stands around them, and the end", () => {
    const lines = Array.from({ length: 100 }, (_, index) => `ok ${index}`);
    lines[50] = "not ok 50 - adds up";
    expect(shown(lines.join("\n"), "ERRORS:20")).toEqual([
      "… (48 lines left out) …",
      ...[
        "ok 48",
        "ok 49",
        "not ok 50 - adds up",
        "ok 51",
        "ok 52",
        "ok 53",
        "ok 54",
        "ok 55",
        "ok 56",
        "ok 57",
        "ok 58",
      ],
      "… (36 lines left out) …",
      ...["ok 95", "ok 96", "ok 97", "ok 98", "ok 99"],
    ]);
  });

  test("ERRORS of an output without failures shows its end", () => {
    expect(shown(numbered(10), "ERRORS:3")).toEqual(["… (7 lines left out) …", "line 8", "line 9", "line 10"]);
  });

  test("an empty output, and one without a line break at its end", () => {
    expect(truncated(output(""), strategyOf("HEAD:5", true))).toEqual({ text: "", omittedLines: 0, omittedBytes: 0 });
    expect(truncated(output("a"), strategyOf("TAIL:5", true))).toEqual({ text: "a", omittedLines: 0, omittedBytes: 0 });
  });

  test("what was not even kept is said where it is missing", () => {
    expect(truncated(output("a\nb", "c\nd\n", 99), strategyOf("HEAD_TAIL:1", true))).toEqual({
      text: "a\n… (1 line left out) …\n… (99 bytes left out) …\n… (1 line left out) …\nd",
      omittedLines: 2,
      omittedBytes: 99,
    });
  });

  test("a line that is too long is cut, and says so", () => {
    const { text } = truncated(output("x".repeat(OUTPUT_LINE_CHARACTERS_MAX + 5)), strategyOf("HEAD:1", true));
    expect(text).toBe(`${"x".repeat(OUTPUT_LINE_CHARACTERS_MAX)}… (5 characters left out)`);
  });
});

test("any output, any strategy: no more lines than asked, in order, as they were, and all others counted", () => {
  const line = fc.oneof(fc.constantFrom("ok", "FAIL a", "", "Error: x", "y".repeat(3000)), fc.string());
  const text = fc
    .array(line, { maxLength: 200 })
    .map((lines) => lines.map((one) => one.replaceAll("\n", "")).join("\n"));
  const kind = fc.constantFrom<TruncationStrategy["kind"]>("HEAD", "TAIL", "HEAD_TAIL", "ERRORS");
  fc.assert(
    fc.property(text, kind, fc.integer({ min: 1, max: 60 }), (whole, kindOf, count) => {
      const lines = whole.split("\n");
      if (lines.at(-1) === "") lines.pop();
      const result = truncated(output(whole), { kind: kindOf, lines: count });
      const most = kindOf === "HEAD_TAIL" ? 2 * count : count;
      expect(lines.length - result.omittedLines).toBeLessThanOrEqual(most);
      expect(result.text.length).toBeLessThanOrEqual(OUTPUT_SHOWN_CHARACTERS_MAX + 100 * (lines.length + 1));
      let at = 0;
      let left = 0;
      const parts = result.text === "" && lines.length === result.omittedLines ? [] : result.text.split("\n");
      if (lines.length === 0) return;
      for (const part of parts) {
        const gap = /^… \((\d+) lines? left out\) …$/.exec(part);
        if (gap) {
          left += Number(gap[1]);
          at += Number(gap[1]);
        } else {
          expect(part.slice(0, OUTPUT_LINE_CHARACTERS_MAX)).toBe(
            (lines[at] ?? "").slice(0, OUTPUT_LINE_CHARACTERS_MAX).toWellFormed(),
          );
          at += 1;
        }
      }
      expect({ at, left }).toEqual({ at: lines.length, left: result.omittedLines });
    }),
    { numRuns: 300 },
  );
});

test("the room for characters bounds what is shown, whatever was asked", () => {
  const { text, omittedLines } = truncated(
    output(Array.from({ length: 1000 }, () => "z".repeat(1000)).join("\n")),
    strategyOf("HEAD:5000", true),
  );
  expect(text.length).toBeLessThan(OUTPUT_SHOWN_CHARACTERS_MAX + 100);
  expect(omittedLines).toBe(1000 - 99);
});

test.each([
  "not ok 1 - adds",
  "✖ adds (1.2ms)",
  "\u001b[31mFAIL\u001b[39m src/a.test.ts",
  "AssertionError [ERR_ASSERTION]: 1 !== 2",
  "E   assert 1 == 2",
  "FAILED tests/test_a.py::test_b - assert 1 == 2",
  "--- FAIL: TestA (0.00s)",
  "error[E0308]: mismatched types",
  "src/a.ts(1,2): error TS2322: x",
  "src/a.c:1:2: warning: unused",
  "  12:5  error  'x' is not defined  no-undef",
  "src/a.py:1:1: F401 unused",
  "thread 'main' panicked at src/main.rs:1:2: PANIC",
  "make: *** [Makefile:2: test] Error 1",
  "Traceback (most recent call last):",
  "sh: 1: eslint: command not found",
])("looks like a failure: %j", (line) => {
  expect(looksLikeFailure(line)).toBe(true);
});

test.each([
  "ok 1 - adds",
  "# fail 0",
  "ℹ fail 0",
  "0 errors",
  "test result: ok. 2 passed; 0 failed; 0 ignored",
  "",
  "PASS src/a.test.ts",
  "terror",
  "Failover works",
])("looks like none: %j", (line) => {
  expect(looksLikeFailure(line)).toBe(false);
});

test("lines of any text are looked at in linear time", () => {
  for (const line of [
    "a".repeat(1_000_000),
    " ".repeat(1_000_000),
    "\u001b[".repeat(500_000),
    "A".repeat(1_000_000),
    ":1".repeat(500_000),
  ]) {
    expect(looksLikeFailure(line)).toBe(false);
  }
});

test.each(["\n", "x\n", `${"assert ".repeat(140)}\n`, `${" ".repeat(999)}\n`, `${"\u001b[".repeat(499)}\n`])(
  "a megabyte of %j is searched for failures in passing",
  (piece) => {
    const text = piece.repeat((1024 * 1024) / piece.length);
    expect(piecesOf(() => truncated(output(text), { kind: "ERRORS", lines: 5000 }))).toBeLessThan(500);
  },
);

test("short lines and failed assertions are still seen", () => {
  for (const line of ["✖ a", "✗", "FAIL", "assertion `a == b` failed", "an assert has failed"])
    expect([line, looksLikeFailure(line)]).toEqual([line, true]);
  for (const line of ["", "ok", "assert x", "failed to assert", "reassert failed"])
    expect([line, looksLikeFailure(line)]).toEqual([line, false]);
});
