/**
 * Finds the secrets of one call: a few long keywords. It leaps over the text instead of reading every character (Wu and
 * Manber's search with groups of three characters), and finds exactly what the automaton finds.
 *
 * INVARIANT: every place where a keyword stands is looked at. Texts with null characters and tables with short keywords
 * are left to the automaton, which knows text in UTF-16.
 */
import type { Finding } from "./finding.ts";
import { emptyMemo } from "./matcher.ts";
import { scanText, type TriggerTable, verify } from "./scan.ts";

/** Keywords must have this many characters for leaps to pay. */
const KEYWORD_CHARACTERS_MIN = 8;
/** Characters of a group. */
const GROUP = 3;
const GROUPS = 8192;

interface Leaps {
  /** By group: how far the next place may lie at least; 0 where a keyword may stand. */
  readonly shifts: Uint8Array;
  /** By group: keywords whose first `length` characters end with it. */
  readonly keywords: ReadonlyMap<number, readonly number[]>;
  /** Characters of the shortest keyword. */
  readonly length: number;
}

const known = new WeakMap<TriggerTable, Leaps>();

/** Everything found in `text`, appended to `found`. */
export function searchText(table: TriggerTable, text: string, found: Finding[]): void {
  const { shifts, keywords, length } = leapsOf(table);
  if (length < KEYWORD_CHARACTERS_MIN || text.includes("\0")) {
    scanText(table, text, found);
    return;
  }
  const memo = emptyMemo();
  let index = length - 1;
  while (index < text.length) {
    const group = groupAt(text, index);
    const shift = shifts[group] ?? 0;
    if (shift > 0) {
      index += shift;
      continue;
    }
    for (const keyword of keywords.get(group) ?? []) {
      const finding = verify(table, keyword, text, index - length + (table.lengths[keyword] ?? 0), memo);
      if (finding) found.push(finding);
    }
    index += 1;
  }
}

function leapsOf(table: TriggerTable): Leaps {
  const kept = known.get(table);
  if (kept) return kept;
  const length = Math.min(...table.lengths);
  const leaps = length < KEYWORD_CHARACTERS_MIN ? { shifts: new Uint8Array(), keywords: new Map(), length } : buildLeaps(table, length);
  known.set(table, leaps);
  return leaps;
}

function buildLeaps(table: TriggerTable, length: number): Leaps {
  const shifts = new Uint8Array(GROUPS).fill(length - GROUP + 1);
  const keywords = new Map<number, number[]>();
  for (const [keyword, text] of table.keywords.entries()) {
    for (let index = GROUP - 1; index < length; index += 1) {
      const group = groupAt(text, index);
      shifts[group] = Math.min(shifts[group] ?? 0, length - 1 - index);
    }
    const last = groupAt(text, length - 1);
    keywords.set(last, [...(keywords.get(last) ?? []), keyword]);
  }
  return { shifts, keywords, length };
}

/** The group that ends at `index`, the same for letters of both cases. */
function groupAt(text: string, index: number): number {
  return (fold(text.charCodeAt(index - 2)) << 8) ^ (fold(text.charCodeAt(index - 1)) << 4) ^ fold(text.charCodeAt(index));
}

/** Five bits that letters of both cases share. */
function fold(code: number): number {
  return code & 31;
}
