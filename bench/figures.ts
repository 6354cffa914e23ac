/**
 * The figures that `docs/internals/performance.md` shows: kept in `bench/figures.json`, printed as the page's table.
 *
 * `npm run bench -- SUITE --table` keeps what it measured and writes the table anew. INVARIANT: the table holds nothing
 * that is not kept.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { goalOf, goalText, meetsGoal } from "./goals.ts";
import type { Row } from "./measure.ts";
import { figure, type Machine } from "./table.ts";

const FILE = fileURLToPath(new URL("figures.json", import.meta.url));
const PAGE = fileURLToPath(new URL("../docs/internals/performance.md", import.meta.url));

/** A figure as it is kept; `null` where a value is unknown or endless. */
export interface KeptRow {
  readonly id: string;
  readonly what: string;
  readonly peer: string;
  readonly unit: string;
  readonly better: Row["better"];
  readonly ours: { readonly median: number | null };
  readonly theirs: { readonly median: number | null };
  readonly ratio: { readonly median: number | null; readonly min: number | null; readonly max: number | null };
  readonly load: number | null;
}

/** The figures of a suite, from its latest run. */
export interface KeptSuite {
  readonly suite: string;
  /** The day, as `2026-01-31`. */
  readonly takenAt: string;
  readonly machine: string;
  readonly rows: readonly KeptRow[];
}

/** The kept figures. */
export function readFigures(): readonly KeptSuite[] {
  return JSON.parse(readFileSync(FILE, "utf8")) as KeptSuite[];
}

/** Keeps the rows of a run, in place of those with the same ids, and writes the page's table. */
export function keepFigures(run: {
  readonly suite: string;
  readonly takenAt: Date;
  readonly machine: Machine;
  readonly rows: readonly Row[];
}) {
  const { processor, cores, memoryGiB, node } = run.machine;
  const latest = {
    suite: run.suite,
    takenAt: run.takenAt.toISOString().slice(0, 10),
    machine: `${processor}, ${cores} cores, ${memoryGiB} GiB, Node ${node}`,
  };
  const kept = withRun(readFigures(), { ...latest, rows: run.rows });
  writeFileSync(FILE, `${JSON.stringify(kept, undefined, 2)}\n`);
  writeFileSync(PAGE, withTable(readFileSync(PAGE, "utf8"), figuresTable(readFigures())));
}

/** `kept` with the rows of `run`; rows of its suite that it did not take stay. */
export function withRun(kept: readonly KeptSuite[], run: KeptSuite): readonly KeptSuite[] {
  const before = kept.find(({ suite }) => suite === run.suite)?.rows ?? [];
  const taken = new Map(run.rows.map((row) => [row.id, row]));
  const known = new Set(before.map(({ id }) => id));
  const rows = [...before.map((row) => taken.get(row.id) ?? row), ...run.rows.filter(({ id }) => !known.has(id))];
  const all = kept.map((suite) => (suite.suite === run.suite ? { ...run, rows } : suite));
  return all.some(({ suite }) => suite === run.suite) ? all : [...all, run];
}

/** The page's table, and above it where each suite was taken. */
export function figuresTable(suites: readonly KeptSuite[]): string {
  const places = suites.map(({ suite, takenAt, machine }) => `| \`${suite}\` | ${takenAt} | ${machine} |`);
  const rows = suites.flatMap(({ suite, rows: taken }) => [`| **${suite}** | | | | | | |`, ...taken.map(tableRow)]);
  return [
    ["| suite | taken | on |", "|---|---|---|", ...places].join("\n"),
    [
      "| figure | peer | Handrail | the peer's | ratio (min–max) | goal | met |",
      "|---|---|---:|---:|---|---|---|",
      ...rows,
    ].join("\n"),
  ].join("\n\n");
}

function tableRow({ id, what, peer, unit, ours, theirs, ratio }: KeptRow): string {
  const goal = goalOf(id);
  const met = goal && meetsGoal(goal, { ours: ours.median, ratio: ratio.median });
  const spread = ratio.min === null || ratio.max === null ? "" : ` (${figure(ratio.min)}–${figure(ratio.max)})`;
  const cells = [
    what,
    peer,
    ours.median === null ? "–" : `${figure(ours.median)} ${unit}`,
    theirs.median === null ? "–" : figure(theirs.median),
    ratio.median === null ? "–" : `×${figure(ratio.median)}${spread}`,
    goal === undefined ? "" : goalText(goal, unit),
    met === undefined ? "" : met ? "yes" : "**no**",
  ];
  return `| ${cells.join(" | ")} |`.replaceAll("|  |", "| |").replaceAll("|  |", "| |");
}

/** The page with `table` between its markers. @throws Error when they are gone */
export function withTable(page: string, table: string): string {
  const marked = /(<!-- figures: begin[^>]*-->\n)[\s\S]*?(<!-- figures: end -->)/;
  if (!marked.test(page)) throw new Error("docs/internals/performance.md has lost the markers of its table");
  return page.replace(marked, (_, begin: string, end: string) => `${begin}\n${table}\n\n${end}`);
}
