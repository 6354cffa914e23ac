/**
 * Computes the line changes between two versions of a file.
 *
 * It uses Myers' greedy comparison, bounded, and is pure.
 *
 * INVARIANT: the changes, applied to `before`, give `after`, whatever the effort was. Versions that differ in more
 * lines than the bound are taken as one change of everything between their common beginning and end: no fewer lines are
 * shown for it.
 */
import { diffArrays } from "diff/lib/diff/array.js";

import { endOfLine } from "./lines.ts";
import type { Change } from "./unified-diff.ts";

/** Lines that are looked for as inserted or deleted one by one; versions that differ in more are one change. */
const LINE_COMPARISON_EDITS_MAX = 1_000;
/** Lines that one comparison looks at, those again that it comes back to; a tenth of a second. */
const LINE_COMPARISON_STEPS_MAX = 20_000_000;

/** The changes from `before` to `after`, in order and not overlapping. */
export function lineChanges(
  before: Uint8Array,
  after: Uint8Array,
  editsMax = LINE_COMPARISON_EDITS_MAX,
): readonly Change[] {
  const names = new Map<string, number>();
  const old = linesOf(before, names);
  const updated = linesOf(after, names);
  const shorter = Math.min(old.names.length, updated.names.length);
  let head = 0;
  while (head < shorter && old.names[head] === updated.names[head]) head += 1;
  let tail = 0;
  while (tail < shorter - head && old.names.at(-1 - tail) === updated.names.at(-1 - tail)) tail += 1;
  const runs = compare(
    old.names.slice(head, old.names.length - tail),
    updated.names.slice(head, updated.names.length - tail),
    editsMax,
  );
  return stepsOf(runs).map(({ oldFrom, oldTo, newFrom, newTo }) => ({
    start: old.starts[head + oldFrom] ?? before.byteLength,
    end: old.starts[head + oldTo] ?? before.byteLength,
    content: after.subarray(
      updated.starts[head + newFrom] ?? after.byteLength,
      updated.starts[head + newTo] ?? after.byteLength,
    ),
  }));
}

interface LinesOf {
  /** Equal lines of both versions have equal numbers. */
  readonly names: number[];
  readonly starts: readonly number[];
}

function linesOf(bytes: Uint8Array, known: Map<string, number>): LinesOf {
  const names: number[] = [];
  const starts: number[] = [];
  for (let at = 0; at < bytes.byteLength; ) {
    const end = endOfLine(bytes, at);
    const text = Buffer.from(bytes.buffer, bytes.byteOffset + at, end - at).toString("latin1");
    const name = known.get(text) ?? known.size;
    known.set(text, name);
    names.push(name);
    starts.push(at);
    at = end;
  }
  return { names, starts };
}

/** The comparison takes more steps than are allowed. */
class TooLong extends Error {}

/** Lines in a row that are kept, removed or added. */
interface Run {
  readonly added: boolean;
  readonly removed: boolean;
  readonly count: number;
}

/** The fewest lines removed and added, or everything when that would take more edits or steps than are allowed. */
function compare(old: number[], updated: number[], maxEditLength: number): readonly Run[] {
  const everything = [
    { removed: true, added: false, count: old.length },
    { removed: false, added: true, count: updated.length },
  ];
  if (old.length === 0 || updated.length === 0) return everything;
  let steps = 0;
  const comparator = (left: number, right: number): boolean => {
    steps += 1;
    // the package bounds edits and time alone, and with time this would not be pure
    if (steps > LINE_COMPARISON_STEPS_MAX) throw new TooLong();
    return left === right;
  };
  try {
    return diffArrays(old, updated, { maxEditLength, comparator }) ?? everything;
  } catch (error) {
    if (error instanceof TooLong) return everything;
    throw error;
  }
}

/** Lines of the old version that become lines of the new one; either may be none. */
interface Step {
  readonly oldFrom: number;
  readonly oldTo: number;
  readonly newFrom: number;
  readonly newTo: number;
}

/** Joins runs of removed and added lines that follow each other. */
function stepsOf(runs: readonly Run[]): readonly Step[] {
  const steps: Step[] = [];
  let [oldLine, newLine] = [0, 0];
  for (const { removed, added, count } of runs) {
    const [oldTo, newTo] = [oldLine + (added ? 0 : count), newLine + (removed ? 0 : count)];
    const last = steps.at(-1);
    if (removed || added) {
      if (last?.oldTo === oldLine && last.newTo === newLine) steps[steps.length - 1] = { ...last, oldTo, newTo };
      else if (count > 0) steps.push({ oldFrom: oldLine, oldTo, newFrom: newLine, newTo });
    }
    [oldLine, newLine] = [oldTo, newTo];
  }
  return steps;
}
