/**
 * The long search for texts of which bash runs more than their analysis names: some 40,000 words and 8,000 commands,
 * from another seed in each run. What it finds is mended and kept in `test/vectors/shell/odd.txt`.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import { type Compared, differences } from "../../../support/shell-difference.ts";
import { oddCommand, oddWords } from "../../../support/shell-texts.ts";
import { sharedSearch } from "../../../support/thorough.ts";
import type { BatchOptions } from "../../../support/watched-bash-batch.ts";

/** Texts that one bash reads: more make its own list slow. */
const BATCH = 2_000;
const WORD_BATCHES = sharedSearch(20);
const COMMAND_BATCHES = sharedSearch(4);
/** Milliseconds for each search on a machine that is busy with something else. */
const SEARCH_MS_MAX = 40 * 60_000;

async function search(
  texts: fc.Arbitrary<string>,
  batches: number,
  options: readonly BatchOptions[],
): Promise<Compared> {
  const seen = { clear: 0, wanted: 0 };
  const run = async (all: readonly string[]) => {
    for (const each of options) expect(await differences(all, each, seen)).toEqual([]);
  };
  const batch = fc.array(texts, { minLength: BATCH, maxLength: BATCH, size: "max" });
  await fc.assert(fc.asyncProperty(batch, run), { numRuns: batches, endOnFailure: true });
  return seen;
}

test("words", { timeout: SEARCH_MS_MAX }, async () => {
  const { clear, wanted } = await search(oddWords, WORD_BATCHES, [{ status: 0, apart: false }]);
  expect([clear, wanted].map((count) => count > (WORD_BATCHES * BATCH) / 3)).toEqual([true, true]);
});

test("commands, whether programs succeed or fail", { timeout: SEARCH_MS_MAX }, async () => {
  const options = [0, 1].map((status) => ({ status, apart: true }) as BatchOptions);
  const { clear, wanted } = await search(oddCommand, COMMAND_BATCHES, options);
  expect([clear, wanted].map((count) => count > (COMMAND_BATCHES * BATCH) / 3)).toEqual([true, true]);
});
