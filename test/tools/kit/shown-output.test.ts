/** How much of a command's output is shown: 100,000 characters, both streams together. */
import { expect, test } from "vitest";
import type { ExecOutput } from "../../../src/model/work/exec.ts";
import { OUTPUT_SHOWN_CHARACTERS_MAX, shownStreams } from "../../../src/tools/kit/shown-output.ts";
import { truncatedStreams } from "../../../src/tools/toolchain/truncation.ts";

const MAX = 100_000;

function whole(text: string): ExecOutput {
  return { head: text, tail: "", omittedBytes: 0, totalBytes: Buffer.byteLength(text) };
}

function lengths({ head, tail, omittedBytes }: ExecOutput) {
  return [[...head].length, [...tail].length, omittedBytes];
}

test("the room is 100,000 characters, as meao's", () => {
  expect(OUTPUT_SHOWN_CHARACTERS_MAX).toBe(MAX);
});

test("one stream alone is shown up to 100,000 characters; of one more, beginning and end", () => {
  const fits = shownStreams({ stdout: whole("x".repeat(MAX)), stderr: whole("") });
  expect(lengths(fits.stdout)).toEqual([MAX, 0, 0]);
  const cut = shownStreams({ stdout: whole(`a${"x".repeat(MAX - 1)}z`), stderr: whole("") });
  expect(lengths(cut.stdout)).toEqual([MAX / 2, MAX / 2, 1]);
  expect([cut.stdout.head[0], cut.stdout.tail.at(-1)]).toEqual(["a", "z"]);
});

test.each([
  ["both are long", 200_000, 200_000, 50_000, 50_000],
  ["one is short", 200_000, 10, 99_990, 10],
  ["the other is short", 10, 200_000, 10, 99_990],
  ["both fit together", 60_000, 40_000, 60_000, 40_000],
  ["one more than fits", 60_000, 40_001, 59_999, 40_001],
])("%s: the streams share the room", (_, stdout, stderr, out, err) => {
  const shown = shownStreams({ stdout: whole("o".repeat(stdout)), stderr: whole("e".repeat(stderr)) });
  const sums = [shown.stdout, shown.stderr].map(({ head, tail }) => head.length + tail.length);
  expect(sums).toEqual([out, err]);
  expect(shown.stdout.omittedBytes + shown.stderr.omittedBytes).toBe(stdout + stderr - out - err);
});

test("characters are code points, and none is cut in two", () => {
  const shown = shownStreams({ stdout: whole("😀".repeat(MAX + 1)), stderr: whole("") });
  expect(lengths(shown.stdout)).toEqual([MAX / 2, MAX / 2, 4]);
  expect((shown.stdout.head + shown.stdout.tail).isWellFormed()).toBe(true);
});

test("what was not kept is counted with what is not shown", () => {
  const kept: ExecOutput = { head: "h".repeat(80_000), tail: "t".repeat(80_000), omittedBytes: 7, totalBytes: 160_007 };
  expect(lengths(shownStreams({ stdout: kept, stderr: whole("") }).stdout)).toEqual([50_000, 50_000, 60_007]);
});

test("lines that a strategy picks share the same room", () => {
  const lines = whole("0123456789abcdefghi\n".repeat(5000));
  const alone = truncatedStreams({ stdout: lines, stderr: whole("") }, { kind: "HEAD", lines: 5000 });
  expect([alone.stdout.omittedLines, alone.stdout.text.length]).toEqual([0, MAX - 1]);
  const both = truncatedStreams({ stdout: lines, stderr: lines }, { kind: "HEAD", lines: 5000 });
  for (const { omittedLines, text } of [both.stdout, both.stderr]) {
    expect(omittedLines).toBe(2500);
    expect(text.length).toBeLessThan(MAX / 2 + 100);
  }
});
