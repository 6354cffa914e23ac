/**
 * Runs the keyword automaton where something may be found, and nowhere else.
 *
 * From each place that the prefilter names, the automaton runs for as long as a keyword that began there may still go on, over places that
 * follow as well. INVARIANT: every keyword at which a matcher finds something is met; those that begin just behind the border of two blocks
 * may be met twice. Texts with null characters are left to one pass over everything, because those make keywords longer.
 */
import type { KeywordAutomaton } from "./keyword-automaton.ts";
import { scanLanes } from "./lanes.ts";
import { BLOCK_BEHIND_MAX, BLOCK_CHARACTERS, blockCodes, blockPlaces, searchBlock } from "./prefilter.ts";

const ASCII = 128;
/** Characters between two places that are gone over: starting anew costs as much. */
const GAP = 8;
/** Where one of so many characters is a place, all of them are gone over, four at a time. */
const DENSE = 8;

/** What is called for each state in which a keyword may end, with the index of its last character. It may not search itself. */
export type OnCandidate = (state: number, index: number) => void;

/** Calls `onCandidate` wherever something may be found. `false` if the text has null characters: then nothing was called. */
export function scanPlaces(automaton: KeywordAutomaton, prefilter: Uint8Array, text: string, onCandidate: OnCandidate): boolean {
  if (text.length > BLOCK_CHARACTERS && text.includes("\0")) return false;
  for (let from = 0; from < text.length; from += BLOCK_CHARACTERS) {
    const block = text.slice(from, from + BLOCK_CHARACTERS + BLOCK_BEHIND_MAX);
    const count = searchBlock(prefilter, block);
    if (count === -1) return false;
    if (count * DENSE > block.length) {
      for (const met of scanLanes(automaton, blockCodes, block.length)) {
        for (let at = 0; at < met.length; at += 2) onCandidate(met[at] ?? 0, from + (met[at + 1] ?? 0));
      }
    } else if (count > 0) follow(automaton, count, block.length, from, onCandidate);
  }
  return true;
}

/** Runs the automaton from the first `found` places of a block of `length` characters that begins at `base`. */
function follow(automaton: KeywordAutomaton, found: number, length: number, base: number, onCandidate: OnCandidate): void {
  const { next, classes, shift, accepting, depths } = automaton;
  const codes = blockCodes;
  const places = blockPlaces;
  const end = Math.min(length, BLOCK_CHARACTERS); // the next block has those behind it
  let count = found;
  while (count > 0 && (places[count - 1] ?? 0) >= end) count -= 1;
  let at = 0;
  let state = 0;
  for (let index = 0; index < count; index += 1) {
    const place = places[index] ?? 0;
    if (place > at + GAP) {
      at = place;
      state = 0;
    }
    const isLast = index + 1 === count || (places[index + 1] ?? 0) > place + GAP;
    while (at <= place || (isLast && at < length && at - (depths[state] ?? 0) <= place)) {
      const code = codes[at] ?? 0;
      state = next[(state << shift) | (code < ASCII ? (classes[code] ?? 0) : 0)] ?? 0;
      if (state >= accepting) onCandidate(state, base + at);
      at += 1;
    }
  }
}
