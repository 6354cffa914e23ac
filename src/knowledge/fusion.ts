/** Fuses two orders of the same chunks by reciprocal rank: what is high in either is high, in both higher. */
import type { FoundChunk } from "./knowledge-store.ts";

/** Weighs first places against later ones, as in the method's paper (Cormack and others, 2009). */
const RANK_BASE = 60;

/** Both lists as one, best first, with scores that are comparable within it. */
export function fused(
  byWords: readonly FoundChunk[],
  byVectors: readonly FoundChunk[],
  count: number,
): readonly FoundChunk[] {
  const chunks = new Map<string, FoundChunk>();
  for (const list of [byWords, byVectors]) {
    for (const [rank, chunk] of list.entries()) {
      const key = `${chunk.firstLine} ${chunk.path}`;
      const score = (chunks.get(key)?.score ?? 0) + 1 / (RANK_BASE + rank + 1);
      chunks.set(key, { ...chunk, score });
    }
  }
  return [...chunks.values()].sort((left, right) => right.score - left.score).slice(0, count);
}
