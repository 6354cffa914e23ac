/**
 * Computes the line changes between two versions of a file.
 *
 * It compares their lines, bounded, and is pure.
 *
 * INVARIANT: the changes, applied to `before`, give `after`, whatever the effort was. Versions that differ in more
 * lines than the bound are taken as one change of everything between their common beginning and end: no fewer lines are
 * shown for it.
 */
import { comparedLines, type Run } from "./line-comparison.ts";
import { endOfLine } from "./lines.ts";
import type { Change } from "./unified-diff.ts";

/** Lines that are looked for as inserted or deleted one by one; versions that differ in more are one change. */
const LINE_COMPARISON_EDITS_MAX = 1_000;
/** Looks at pairs of lines in one comparison, those again that it comes back to. */
const LINE_COMPARISON_LOOKS_MAX = 20_000_000;
/** Lines that are read in one step. */
const LINES_PER_STEP = 8_192;

/** The changes from `before` to `after`, in order and not overlapping; one step takes some milliseconds at most. */
export function* lineChanges(
  before: Uint8Array,
  after: Uint8Array,
  editsMax = LINE_COMPARISON_EDITS_MAX,
): Generator<void, readonly Change[]> {
  const names = new Map<string, number>();
  const old = yield* linesOf(before, names);
  const updated = yield* linesOf(after, names);
  const shorter = Math.min(old.names.length, updated.names.length);
  let head = 0;
  while (head < shorter && old.names[head] === updated.names[head]) head += 1;
  let tail = 0;
  while (tail < shorter - head && old.names.at(-1 - tail) === updated.names.at(-1 - tail)) tail += 1;
  const runs = yield* compare(
    old.names.subarray(head, old.names.length - tail),
    updated.names.subarray(head, updated.names.length - tail),
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
  readonly names: Int32Array;
  readonly starts: readonly number[];
}

function* linesOf(bytes: Uint8Array, known: Map<string, number>): Generator<void, LinesOf> {
  const names: number[] = [];
  const starts: number[] = [];
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at < bytes.byteLength; ) {
    const end = endOfLine(bytes, at);
    const line = text.toString("latin1", at, end);
    const name = known.get(line) ?? known.size;
    known.set(line, name);
    names.push(name);
    starts.push(at);
    at = end;
    if (names.length % LINES_PER_STEP === 0) yield;
  }
  return { names: Int32Array.from(names), starts };
}

/** The fewest lines removed and added, or everything when that would take more than is allowed. */
function* compare(old: Int32Array, updated: Int32Array, editsMax: number): Generator<void, readonly Run[]> {
  const runs =
    old.length > 0 && updated.length > 0
      ? yield* comparedLines(old, updated, { editsMax, looksMax: LINE_COMPARISON_LOOKS_MAX })
      : undefined;
  return (
    runs ?? [
      { kind: "removed", count: old.length },
      { kind: "added", count: updated.length },
    ]
  );
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
  for (const { kind, count } of runs) {
    const [oldTo, newTo] = [oldLine + (kind === "added" ? 0 : count), newLine + (kind === "removed" ? 0 : count)];
    const last = steps.at(-1);
    if (kind !== "kept") {
      if (last?.oldTo === oldLine && last.newTo === newLine) steps[steps.length - 1] = { ...last, oldTo, newTo };
      else if (count > 0) steps.push({ oldFrom: oldLine, oldTo, newFrom: newLine, newTo });
    }
    [oldLine, newLine] = [oldTo, newTo];
  }
  return steps;
}
