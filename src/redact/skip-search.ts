/**
 * Finds the secrets of one call: a few long keywords. It leaps over the text instead of reading every character (Wu and
 * Manber's search with pairs of characters), and finds exactly what the automaton finds.
 *
 * INVARIANT: every place where a keyword stands is looked at. Texts with null characters and tables with short keywords
 * are left to the automaton, which knows text in UTF-16.
 */
import type { Finding } from "./finding.ts";
import { emptyMemo } from "./matcher.ts";
import { scanText, type TriggerTable, verify } from "./scan.ts";

/** Keywords must have this many characters for leaps to pay. */
const KEYWORD_CHARACTERS_MIN = 8;
const PAIRS = 4096;

interface Leaps {
  /** By pair: how far the next place may lie at least; 0 where a keyword may stand. */
  readonly shifts: Uint8Array;
  /** By pair: keywords whose first `length` characters end with it. */
  readonly keywords: ReadonlyMap<number, readonly number[]>;
  readonly length: number;
}

const known = new WeakMap<TriggerTable, Leaps>();

/** Everything found in `text`, appended to `found`. */
export function searchText(table: TriggerTable, text: string, found: Finding[]): void {
  const length = Math.min(...table.lengths);
  if (length < KEYWORD_CHARACTERS_MIN || text.includes("\0")) {
    scanText(table, text, found);
    return;
  }
  const { shifts, keywords } = leapsOf(table, length);
  const memo = emptyMemo();
  let index = length - 1;
  while (index < text.length) {
    const pair = pairAt(text, index);
    const shift = shifts[pair] ?? 0;
    if (shift > 0) {
      index += shift;
      continue;
    }
    for (const keyword of keywords.get(pair) ?? []) {
      const finding = verify(table, keyword, text, index - length + (table.lengths[keyword] ?? 0), memo);
      if (finding) found.push(finding);
    }
    index += 1;
  }
}

function leapsOf(table: TriggerTable, length: number): Leaps {
  const kept = known.get(table);
  if (kept) return kept;
  const shifts = new Uint8Array(PAIRS).fill(length - 1);
  const keywords = new Map<number, number[]>();
  for (const [keyword, text] of table.keywords.entries()) {
    for (let index = 1; index < length; index += 1) {
      const pair = pairAt(text, index);
      shifts[pair] = Math.min(shifts[pair] ?? 0, length - 1 - index);
    }
    const last = pairAt(text, length - 1);
    keywords.set(last, [...(keywords.get(last) ?? []), keyword]);
  }
  const leaps = { shifts, keywords, length };
  known.set(table, leaps);
  return leaps;
}

/** The pair that ends at `index`, the same for letters of both cases. */
function pairAt(text: string, index: number): number {
  return (fold(text.charCodeAt(index - 1)) << 6) | fold(text.charCodeAt(index));
}

function fold(code: number): number {
  return (code & 31) | ((code & 64) >> 1);
}
