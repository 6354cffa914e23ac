// All changes of a branch are sorted and named step by step, as at once.
import { expect, test } from "vitest";
import type { BranchChange } from "../../../src/sandbox/branches/branch-changes.ts";
import { digestOf, sortedByPath } from "../../../src/sandbox/branches/whole-changes.ts";

function done<Result>(steps: Generator<void, Result>): { readonly result: Result; readonly steps: number } {
  for (let count = 0; ; count += 1) {
    const next = steps.next();
    if (next.done === true) return { result: next.value, steps: count };
  }
}

/** In no order: the factor has nothing in common with the count. */
function changes(count: number): BranchChange[] {
  return Array.from({ length: count }, (_, index) => ({ path: `d/${(index * 7919) % count}`, is: "file", stamp: "1" }));
}

test.each([0, 1, 999, 1000, 1001, 5500])("%i changes are sorted by their paths, each once", (count) => {
  const given = changes(count);
  const { result, steps } = done(sortedByPath(given));
  expect(result.map(({ path }) => path)).toEqual(given.map(({ path }) => path).sort());
  expect(steps).toBeGreaterThanOrEqual(Math.floor(count / 1000));
});

test("a digest names what was looked at, wherever among many it is", () => {
  const given = changes(2500);
  const { result, steps } = done(digestOf(given));
  expect(steps).toBe(3);
  expect(done(digestOf([...given])).result).toBe(result);
  for (const index of [0, 999, 1000, 2499])
    for (const other of [{ stamp: "2" }, { mode: 0o755 }, { path: "e" }]) {
      const changed = given.map((change, at) => (at === index ? { ...change, ...other } : change));
      expect(done(digestOf(changed)).result).not.toBe(result);
    }
  expect(done(digestOf(given.slice(1))).result).not.toBe(result);
});

test("the time of a directory is no part of it", () => {
  const of = (stamp: string, is: "directory" | "file") =>
    done(digestOf([{ path: "d", is, mode: 0o755, stamp }])).result;
  expect(of("1", "directory")).toBe(of("2", "directory"));
  expect(of("1", "file")).not.toBe(of("2", "file"));
});
