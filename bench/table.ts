/** The report: the machine, and one line per figure with its peer, its ratio and how much that varied. */
import { cpus, loadavg, totalmem } from "node:os";
import { goalOf, goalText } from "./goals.ts";
import type { Row } from "./measure.ts";

/** Where the figures come from. */
export interface Machine {
  readonly processor: string;
  readonly cores: number;
  readonly memoryGiB: number;
  readonly node: string;
  readonly platform: string;
  readonly load: readonly number[];
}

/** This machine, now. */
export function thisMachine(): Machine {
  return {
    processor: cpus()[0]?.model.trim() || "unknown processor",
    cores: cpus().length,
    memoryGiB: Math.round((totalmem() / 2 ** 30) * 10) / 10,
    node: process.version,
    platform: `${process.platform}-${process.arch}`,
    load: loadavg().map((value) => Math.round(value * 100) / 100),
  };
}

/** The whole report as text. */
export function formatReport(machine: Machine, rows: readonly Row[]): string {
  const { processor, cores, memoryGiB, node, platform, load } = machine;
  const head = `${processor}, ${cores} cores, ${memoryGiB} GiB, Node ${node} on ${platform}; load at the start ${load.join(" ")}`;
  const cells = rows.map((row) => [
    row.what,
    figure(row.ours.median),
    figure(row.theirs.median),
    row.unit,
    `×${figure(row.ratio.median)} (${figure(row.ratio.min)}–${figure(row.ratio.max)})`,
    row.better,
    goalCell(row),
    row.peer,
    String(row.rounds),
    row.load.toFixed(1),
  ]);
  const titles = [
    "figure",
    "handrail",
    "peer",
    "unit",
    "ratio (min–max)",
    "better",
    "goal",
    "the peer is",
    "n",
    "load",
  ];
  return `${head}\nratio = handrail ÷ peer, both measured in turns in this run; medians\n\n${layOut([titles, ...cells])}`;
}

function goalCell({ id, unit }: Row): string {
  const goal = goalOf(id);
  return goal === undefined ? "" : goalText(goal, unit);
}

function layOut(lines: readonly (readonly string[])[]): string {
  const widths = (lines[0] ?? []).map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  const right = new Set([1, 2, 8, 9]);
  const padded = lines.map((line) =>
    line
      .map((cell, column) =>
        right.has(column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
      )
      .join("  ")
      .trimEnd(),
  );
  return padded.join("\n");
}

/** A value with as many digits as say something; a dash where it is endless. */
export function figure(value: number): string {
  if (!Number.isFinite(value)) return "–"; // a ratio to nothing
  if (value >= 1000) return String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, ",");
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}
