/**
 * Compares two lists of lines with Myers' greedy search for the fewest edits.
 *
 * INVARIANT: time and memory are bounded by the number of edits and of looks at a line; whoever asks for more gets no
 * answer. The same lists always get the same answer.
 */

/** Lines in a row that are kept, removed or added. */
export interface Run {
  readonly kind: "kept" | "removed" | "added";
  readonly count: number;
}

/** How far the search goes. */
export interface ComparisonBounds {
  /** Lines removed and added. */
  readonly editsMax: number;
  /** Looks at a pair of lines, those again that it comes back to. */
  readonly looksMax: number;
}

/**
 * The fewest lines removed and added; `undefined` where that takes more than the bounds. One step is one more edit.
 * Equal lines have equal numbers.
 */
export function* comparedLines(
  before: Int32Array,
  after: Int32Array,
  { editsMax, looksMax }: ComparisonBounds,
): Generator<void, readonly Run[] | undefined> {
  let reached: Reached = new Int32Array(0);
  const rounds: Reached[] = [];
  const lengths = { before: before.length, after: after.length };
  let looks = 0;
  for (let edits = 0; edits <= editsMax; edits += 1) {
    const next = new Int32Array(edits + 1).fill(NOWHERE);
    for (let index = 0; index <= edits; index += 1) {
      const shift = 2 * index - edits;
      let line = edits === 0 ? 0 : movedTo(reached, { index, shift }, lengths).line;
      if (line === NOWHERE) continue;
      const from = line;
      while (line < before.length && line - shift < after.length && before[line] === after[line - shift]) line += 1;
      looks += line - from + 1;
      if (looks > looksMax) return undefined;
      next[index] = line;
      if (line === before.length && line - shift === after.length) return runsOf(rounds, lengths);
    }
    rounds.push(next);
    reached = next;
    yield;
  }
  return undefined;
}

/**
 * How many lines of the first list are behind the furthest way with so many edits, for each number of lines by which
 * the way is further in the first list than in the second: `-edits`, `-edits + 2` and so on to `edits`.
 */
type Reached = Int32Array;

/** No way leads there. */
const NOWHERE = -1;

/** Lines of both lists. */
interface Lengths {
  readonly before: number;
  readonly after: number;
}

/** A way of the next round: its place in the list, and how much further it is in the first list than in the second. */
interface Way {
  readonly index: number;
  readonly shift: number;
}

/** Where one more edit leads: whichever of removing and adding comes further, adding last. */
function movedTo(
  reached: Reached,
  { index, shift }: Way,
  lengths: Lengths,
): { readonly line: number; readonly isAdded: boolean } {
  const adding = reached[index] ?? NOWHERE;
  const removing = reached[index - 1] ?? NOWHERE;
  const canAdd = adding !== NOWHERE && adding - shift <= lengths.after;
  const canRemove = removing !== NOWHERE && removing < lengths.before;
  if (!canAdd && !canRemove) return { line: NOWHERE, isAdded: false };
  const isAdded = !canRemove || (canAdd && removing < adding);
  return { line: isAdded ? adding : removing + 1, isAdded };
}

/** The way that reached the end in the round after `rounds`, from its end to its beginning and turned round. */
function runsOf(rounds: readonly Reached[], lengths: Lengths): readonly Run[] {
  const runs: { kind: Run["kind"]; count: number }[] = [];
  const put = (kind: Run["kind"], count: number): void => {
    const last = runs.at(-1);
    if (last?.kind === kind) last.count += count;
    else if (count > 0) runs.push({ kind, count });
  };
  let line = lengths.before;
  let shift = lengths.before - lengths.after;
  for (let edits = rounds.length; edits > 0; edits -= 1) {
    const index = (shift + edits) / 2;
    const moved = movedTo(rounds[edits - 1] ?? NONE, { index, shift }, lengths);
    put("kept", line - moved.line);
    put(moved.isAdded ? "added" : "removed", 1);
    line = moved.isAdded ? moved.line : moved.line - 1;
    shift += moved.isAdded ? 1 : -1;
  }
  put("kept", line);
  return runs.reverse();
}

const NONE: Reached = new Int32Array(0);
