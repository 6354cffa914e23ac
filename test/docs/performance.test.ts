/** The table of docs/internals/performance.md is what the benchmarks print of their kept figures. */
import { describe, expect, test } from "vitest";
import { figuresTable, type KeptRow, readFigures, withRun, withTable } from "../../bench/figures.ts";
import { goalOf, meetsGoal } from "../../bench/goals.ts";
import { readPage } from "./pages.ts";

const page = readPage("docs/internals/performance.md").text;

test("the table on the page is the generator's; if not, run `npm run bench -- SUITE --table`", () => {
  expect(withTable(page, figuresTable(readFigures()))).toBe(page);
});

test("a figure that was changed on the page alone is noticed", () => {
  const changed = page.replace(/ \d+(?:,\d+)* reads\/s/, " 1 reads/s");
  expect(changed).not.toBe(page);
  expect(withTable(changed, figuresTable(readFigures()))).not.toBe(changed);
  expect(() => withTable(page.replace("<!-- figures: end -->", ""), "")).toThrow("has lost the markers");
});

const row = (id: string, median: number): KeptRow => ({
  id,
  what: id,
  peer: "a peer",
  unit: "ms",
  better: "lower",
  ours: { median },
  theirs: { median: 2 },
  ratio: { median: median / 2, min: 0.5, max: 3 },
  load: 1,
});

describe("a run", () => {
  const suites = [{ suite: "spine", takenAt: "2026-01-01", machine: "one", rows: [row("a", 1), row("cold-start", 2)] }];

  test("takes the place of its figures and leaves the others", () => {
    const rows = [row("cold-start", 4), row("new", 1000)];
    const [spine, git] = withRun(withRun(suites, { suite: "spine", takenAt: "2026-02-01", machine: "two", rows }), {
      suite: "git",
      takenAt: "2026-02-01",
      machine: "two",
      rows: [],
    });
    expect(spine?.rows.map(({ id, ours }) => [id, ours.median])).toEqual([
      ["a", 1],
      ["cold-start", 4],
      ["new", 1000],
    ]);
    expect([spine?.machine, git?.suite]).toEqual(["two", "git"]);
  });

  test("is printed with what it was to reach", () => {
    const table = figuresTable(
      withRun(suites, { suite: "spine", takenAt: "2026-02-01", machine: "two", rows: [row("cold-start", 4)] }),
    );
    expect(table).toContain("| a | a peer | 1.00 ms | 2.00 | ×0.50 (0.50–3.00) | | |");
    expect(table).toContain("| cold-start | a peer | 4.00 ms | 2.00 | ×2.00 (0.50–3.00) | ≤ ×1.5 | **no** |");
  });
});

test("goals hold at their bounds, and not beyond", () => {
  const most = goalOf("cold-start") ?? { on: "ratio" };
  expect([1.5, 1.51].map((ratio) => meetsGoal(most, { ours: 1, ratio }))).toEqual([true, false]);
  const least = goalOf("framed-read-64") ?? { on: "ratio" };
  expect([15_000, 14_999, null].map((ours) => meetsGoal(least, { ours, ratio: 1 }))).toEqual([true, false, undefined]);
  expect([goalOf("cold-start-cached-peer"), goalOf("mcp-read-repeat-1")]).toEqual([
    undefined,
    { on: "ratio", least: 1 },
  ]);
});
