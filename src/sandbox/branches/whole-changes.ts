/** Sorts all changes of a branch, and names them, step by step: there may be a hundred thousand. */
import { streamingHash } from "../../base/hash.ts";
import type { BranchChange } from "./branch-changes.ts";

/** Changes that one step looks at. */
const PIECE = 1000;

/** The changes by their paths: directories before what lies in them. Two pieces that are sorted make a longer one. */
export function* sortedByPath(changes: readonly BranchChange[]): Generator<void, readonly BranchChange[]> {
  let pieces: (readonly BranchChange[])[] = [];
  for (let from = 0; from < changes.length; from += PIECE) {
    pieces.push(changes.slice(from, from + PIECE).sort((one, other) => (one.path < other.path ? -1 : 1)));
    yield;
  }
  while (pieces.length > 1) {
    const longer: (readonly BranchChange[])[] = [];
    for (let index = 0; index < pieces.length; index += 2)
      longer.push(yield* joined(pieces[index] ?? [], pieces[index + 1] ?? []));
    pieces = longer;
  }
  return pieces[0] ?? [];
}

function* joined(one: readonly BranchChange[], other: readonly BranchChange[]): Generator<void, BranchChange[]> {
  const all: BranchChange[] = [];
  let [left, right] = [0, 0];
  while (left < one.length || right < other.length) {
    const [first, second] = [one[left], other[right]];
    if (first !== undefined && (second === undefined || first.path < second.path)) {
      all.push(first);
      left += 1;
    } else if (second !== undefined) {
      all.push(second);
      right += 1;
    }
    if (all.length % PIECE === 0) yield;
  }
  return all;
}

/** A digest of what was looked at of changes: another one, another branch. */
export function* digestOf(changes: readonly BranchChange[]): Generator<void, string> {
  const hash = streamingHash();
  for (let from = 0; from < changes.length; from += PIECE) {
    const facts = changes
      .slice(from, from + PIECE)
      .map(({ path, is, mode, stamp }) => [path, is, mode, is === "directory" ? "" : stamp]);
    hash.update(Buffer.from(`${JSON.stringify(facts)}\n`));
    yield;
  }
  return hash.hex();
}
