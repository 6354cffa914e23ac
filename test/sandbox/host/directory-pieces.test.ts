// A directory with very many files is read in pieces, between which others have their turn, and no further than is
// wanted.
import { closeSync, constants, mkdirSync, mkdtempSync, openSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { entriesIn, isLargeDirectory, type RawEntry } from "../../../src/sandbox/host/directory-pieces.ts";
import { workspaceTree } from "../../../src/sandbox/host/workspace-tree.ts";
import { changesIn, SANDBOX_CHANGES_MAX } from "../../../src/sandbox/landing/changes.ts";
import { SANDBOX_ENTRIES_PER_STEP } from "../../../src/sandbox/plan/workspace-mounts.ts";

/** Enough that any file system calls it large: the shortest entries have 20 bytes. */
const FILES_MAX = 30_000;

let root: string;
let large: string;
let count = 0;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "handrail-pieces-"));
  large = join(root, "large");
  mkdirSync(large);
  mkdirSync(join(root, "small"));
  writeFileSync(join(root, "small/x"), "");
  while (count < FILES_MAX && (count < 4000 || !isLargeDirectory(large))) {
    writeFileSync(join(large, String(count).padStart(200, "n")), "");
    count += 1;
  }
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** What it gives, and after how many steps. */
function stepped<T>(steps: Generator<void, T>): { readonly result: T; readonly steps: number } {
  for (let taken = 0; ; taken += 1) {
    const next = steps.next();
    if (next.done === true) return { result: next.value, steps: taken };
  }
}

const namesOf = (entries: readonly RawEntry[]) => entries.map(({ name }) => name.toString()).sort();

test("all of a large one is read, a thousand at a time", () => {
  const { result, steps } = stepped(entriesIn(large, Number.POSITIVE_INFINITY));
  expect(namesOf(result)).toEqual(readdirSync(large).sort());
  expect(steps).toBeGreaterThanOrEqual(Math.floor(count / 1024));
});

test("a large one is read in pieces also where it is named by a descriptor", () => {
  const descriptor = openSync(large, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    const { steps } = stepped(entriesIn(`/proc/self/fd/${descriptor}`, Number.POSITIVE_INFINITY));
    expect(steps).toBeGreaterThanOrEqual(Math.floor(count / 1024));
  } finally {
    closeSync(descriptor);
  }
});

test("of a large one no more is read than is wanted", () => {
  const { result } = stepped(entriesIn(large, 1500));
  expect(result.length).toBe(1501); // one more says that there are more
});

test("a small one is read at once", () => {
  const { result, steps } = stepped(entriesIn(join(root, "small"), 1500));
  expect([namesOf(result), steps]).toEqual([["x"], 0]);
});

test.each<[string, () => Generator<void, unknown>]>([
  ["listing a workspace", () => workspaceTree(root).list("large")],
  ["listing what a command changed", () => changesIn({ upper: large, pathBytesMax: 4000 })],
])("%s lets others have their turn while it reads a large one, too", (_, listing) => {
  expect(stepped(listing()).steps).toBeGreaterThanOrEqual(Math.floor(count / 1024));
});

test("of what a command changed in one no more is read once it is too much", () => {
  const before = new Array<never>(SANDBOX_CHANGES_MAX - 1500);
  const taken = changesIn({ upper: large, pathBytesMax: 4000 }, "", before);
  let steps = 0;
  expect(() => {
    for (; taken.next().done !== true; steps += 1);
  }).toThrow(expect.objectContaining({ code: "OUTPUT_LIMIT" }));
  // one step for a thousand that are read, and those of looking at each
  expect(steps).toBeLessThanOrEqual(1 + Math.ceil(1501 / SANDBOX_ENTRIES_PER_STEP));
});
