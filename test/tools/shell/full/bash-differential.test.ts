/** The parsed form against bash itself: whatever bash wants to run was named, or it was said that anything may run. */
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { expect, test } from "vitest";
import { parseCommand } from "../../../../src/tools/shell/reading/parse-command.ts";
import { differences, isNamed } from "../../../support/shell-difference.ts";
import { oddCommand, oddWords } from "../../../support/shell-texts.ts";
import { readVectors } from "../../../support/shell-vectors.ts";
import { wantedBy } from "../../../support/watched-bash.ts";
import { wantedByEach } from "../../../support/watched-bash-batch.ts";

test("the watched bash tells what it would run, and what was not named is noticed", async () => {
  const text = "r\\m -rf 'a b' | x && $(y)";
  const wanted = expect.arrayContaining([["rm", "-rf", "a b"], ["x"], ["y"]]);
  expect(await wantedBy(text, 0)).toEqual(wanted);
  expect(await wantedByEach([text, "exit", "a $(", "b 'c\nd'"], { status: 0, apart: true })).toEqual([
    wanted,
    [],
    [],
    [["b", "c\nd"]],
  ]);
  const { commands } = parseCommand("rm -rf x ~/y");
  const named = (...words: [string, ...string[]]) => isNamed(commands, words);
  expect([named("rm", "-rf", "x", "~/y"), named("rm", "-rf", "x", "/home/y")]).toEqual([true, true]);
  expect([
    named("rm", "-rf"),
    named("rm", "x", "-rf", "~/y"),
    named("rm", "-rf", "/home/x", "~/y"),
    named("dd"),
  ]).not.toContain(true);
  expect(isNamed(parseCommand("rm '~/y'").commands, ["rm", "/home/y"])).toBe(false);
});

test("a text that ends, holds up or fills its shell does not touch the next ones", async () => {
  const texts = ["exit 3", "a", "while :; do b; done", "c", "d $(", "e & f", "kill -9 $$", "g", "set -e; false", "h"];
  const wanted = await wantedByEach(texts, { status: 0, apart: true });
  expect([wanted[1], wanted[3], wanted[7], wanted[9]]).toEqual([[["a"]], [["c"]], [["g"]], [["h"]]]);
  expect(wanted[2]?.[0]).toEqual(["b"]);
  expect(wanted[5]).toEqual(expect.arrayContaining([["e"], ["f"]]));
});

test.each([
  {
    name: "words are what bash makes of them",
    texts: oddWords,
    options: [{ status: 0, apart: false }] as const,
    count: 4000,
  },
  {
    name: "programs of a line are what bash looks for",
    texts: oddCommand,
    options: [{ status: 0, apart: true } as const, { status: 1, apart: true } as const],
    count: 400,
  },
])(
  "$name",
  async ({ texts, options, count }) => {
    const seen = { clear: 0, wanted: 0 };
    const batch = fc.array(texts, { minLength: count, maxLength: count, size: "max" });
    const run = async (all: readonly string[]) => {
      for (const each of options) expect(await differences(all, each, seen)).toEqual([]);
    };
    await fc.assert(fc.asyncProperty(batch, run), { numRuns: 1, endOnFailure: true });
    expect([seen.clear > count / 3, seen.wanted > count / 3]).toEqual([true, true]);
  },
  240_000,
);

test("the collected commands run nothing that was not named", async () => {
  const seen = { clear: 0, wanted: 0 };
  const texts = ["words", "lists", "wrappers", "files", "odd"].flatMap((name) =>
    readVectors(readFileSync(new URL(`../../../vectors/shell/${name}.txt`, import.meta.url), "utf8")).map(
      ({ text }) => text,
    ),
  );
  // Nothing outside the empty directory is written or run, and nothing waits.
  const harmless = texts.filter((text) => !/\/(?:dev|bin|usr|tmp|etc)|~|while|until|select|wait|kill/.test(text));
  for (const status of [0, 1] as const) expect(await differences(harmless, { status, apart: true }, seen)).toEqual([]);
  expect(seen.wanted).toBeGreaterThan(200);
});
