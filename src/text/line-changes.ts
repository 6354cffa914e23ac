/**
 * What changed between two versions of a file, by whole lines: Myers' greedy comparison, bounded. Pure.
 *
 * INVARIANT: the changes, applied to `before`, give `after`, whatever the effort was. Versions that differ in more lines than the
 * bound are taken as one change of everything between their common beginning and end: no fewer lines are shown for it.
 */
import { LINE_COMPARISON_EDITS_MAX, LINE_COMPARISON_STEPS_MAX } from "../base/limits.ts";
import { endOfLine } from "./lines.ts";
import type { Change } from "./unified-diff.ts";

/** The changes from `before` to `after`, in order and not overlapping. */
export function lineChanges(before: Uint8Array, after: Uint8Array, editsMax = LINE_COMPARISON_EDITS_MAX): readonly Change[] {
  const names = new Map<string, number>();
  const old = linesOf(before, names);
  const updated = linesOf(after, names);
  const shorter = Math.min(old.names.length, updated.names.length);
  let head = 0;
  while (head < shorter && old.names[head] === updated.names[head]) head += 1;
  let tail = 0;
  while (tail < shorter - head && old.names.at(-1 - tail) === updated.names.at(-1 - tail)) tail += 1;
  const steps = compare(old.names.slice(head, old.names.length - tail), updated.names.slice(head, updated.names.length - tail), editsMax);
  return steps.map(({ oldFrom, oldTo, newFrom, newTo }) => ({
    start: old.starts[head + oldFrom] ?? before.byteLength,
    end: old.starts[head + oldTo] ?? before.byteLength,
    content: after.subarray(updated.starts[head + newFrom] ?? after.byteLength, updated.starts[head + newTo] ?? after.byteLength),
  }));
}

interface LinesOf {
  /** Equal lines of both versions have equal numbers. */
  readonly names: readonly number[];
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

/** Lines of the old version that become lines of the new one; either may be none. */
interface Step {
  readonly oldFrom: number;
  readonly oldTo: number;
  readonly newFrom: number;
  readonly newTo: number;
}

/** The shortest script of line insertions and deletions, or one step for all when it is longer than `editsMax`. */
function compare(old: readonly number[], updated: readonly number[], editsMax: number): readonly Step[] {
  const [oldLength, newLength] = [old.length, updated.length];
  if (oldLength === 0 && newLength === 0) return [];
  const everything = [{ oldFrom: 0, oldTo: oldLength, newFrom: 0, newTo: newLength }];
  if (oldLength === 0 || newLength === 0) return everything;
  const depthMax = Math.min(editsMax, oldLength + newLength);
  const rounds: Int32Array[] = []; // furthest old line on each diagonal, before each round
  const furthest = new Int32Array(2 * depthMax + 3);
  const middle = depthMax + 1;
  let steps = 0;
  for (let depth = 0; depth <= depthMax; depth += 1) {
    rounds.push(furthest.slice(middle - depth - 1, middle + depth + 2));
    for (let diagonal = -depth; diagonal <= depth; diagonal += 2) {
      const down = furthest[middle + diagonal + 1] ?? 0;
      const right = (furthest[middle + diagonal - 1] ?? 0) + 1;
      let x = diagonal === -depth || (diagonal !== depth && right <= down) ? down : right;
      const from = x;
      while (x < oldLength && x - diagonal < newLength && old[x] === updated[x - diagonal]) x += 1;
      steps += x - from + 1;
      furthest[middle + diagonal] = x;
      if (x >= oldLength && x - diagonal >= newLength) return stepsOf(rounds, oldLength, newLength);
    }
    if (steps > LINE_COMPARISON_STEPS_MAX) return everything;
  }
  return everything;
}

/** Walks back through the rounds, and joins neighbouring insertions and deletions to steps. */
function stepsOf(rounds: readonly Int32Array[], oldLength: number, newLength: number): readonly Step[] {
  const steps: Step[] = [];
  let [x, y] = [oldLength, newLength];
  for (let depth = rounds.length - 1; depth > 0; depth -= 1) {
    const before = rounds[depth] ?? new Int32Array();
    const at = (diagonal: number) => before[diagonal + depth + 1] ?? 0;
    const diagonal = x - y;
    const goesDown = diagonal === -depth || (diagonal !== depth && at(diagonal - 1) + 1 <= at(diagonal + 1));
    const fromX = goesDown ? at(diagonal + 1) : at(diagonal - 1);
    const fromY = fromX - (goesDown ? diagonal + 1 : diagonal - 1);
    const step = { oldFrom: fromX, oldTo: goesDown ? fromX : fromX + 1, newFrom: fromY, newTo: goesDown ? fromY + 1 : fromY };
    const next = steps.at(-1);
    if (next !== undefined && next.oldFrom === step.oldTo && next.newFrom === step.newTo)
      steps[steps.length - 1] = { oldFrom: step.oldFrom, oldTo: next.oldTo, newFrom: step.newFrom, newTo: next.newTo };
    else steps.push(step);
    [x, y] = [fromX, fromY];
  }
  return steps.reverse();
}
