/**
 * Merges two versions of a text by what it was before both.
 *
 * Changes of one version alone are taken. Where both changed the same lines, or lines beside each other, they have to
 * have come to the same. Pure, and bounded as the comparison of two versions is.
 */
import { lineChanges } from "./line-changes.ts";
import type { Change } from "./unified-diff.ts";

/** The text with both changes; `undefined` where they are in conflict. */
export function* threeWayMerge(
  base: Uint8Array,
  one: Uint8Array,
  other: Uint8Array,
): Generator<void, Uint8Array | undefined> {
  const left = [yield* lineChanges(base, one), yield* lineChanges(base, other)].map((changes) => [...changes]) as Sides;
  const pieces: Uint8Array[] = [];
  let at = 0;
  for (let region = nextRegion(left); region !== undefined; region = nextRegion(left)) {
    const { from, to } = region;
    const [own, its] = region.sides.map((changes) => applied(base, { from, to }, changes)) as [Buffer, Buffer];
    const isOfBoth = region.sides.every((changes) => changes.length > 0);
    if (isOfBoth && !own.equals(its)) return undefined;
    pieces.push(base.subarray(at, from), region.sides[0].length > 0 ? own : its);
    at = to;
    yield;
  }
  return Buffer.concat([...pieces, base.subarray(at)]);
}

/** What each version changed, in order. */
type Sides = [Change[], Change[]];

/** Bytes of the text before, with all changes in them and at their ends. */
interface Region {
  readonly from: number;
  readonly to: number;
  readonly sides: Sides;
}

/** Takes the next region out of what is left. */
function nextRegion(left: Sides): Region | undefined {
  const firsts = left.flatMap(([first]) => (first === undefined ? [] : [first.start]));
  if (firsts.length === 0) return undefined;
  const from = Math.min(...firsts);
  const sides: Sides = [[], []];
  let to = from;
  for (let isGrowing = true; isGrowing; ) {
    isGrowing = false;
    for (const [index, changes] of left.entries()) {
      const [next] = changes;
      if (next === undefined || next.start > to) continue;
      sides[index as 0 | 1].push(next);
      changes.shift();
      to = Math.max(to, next.end);
      isGrowing = true;
    }
  }
  return { from, to, sides };
}

/** The bytes from `from` to `to` with one version's changes. */
function applied(base: Uint8Array, { from, to }: Pick<Region, "from" | "to">, changes: readonly Change[]): Buffer {
  const pieces: Uint8Array[] = [];
  let at = from;
  for (const { start, end, content } of changes) {
    pieces.push(base.subarray(at, start), content);
    at = end;
  }
  return Buffer.concat([...pieces, base.subarray(at, to)]);
}
