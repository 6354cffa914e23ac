/**
 * Secrets in UTF-16 that is seen as bytes: every character has a null character beside it.
 *
 * A candidate whose keyword is interleaved so is verified on a copy of its surroundings without those null characters,
 * and what is found is brought back to where it stands. Two null characters in a row end a text, as they do in binary
 * files. Big and little endian look alike from the second character on.
 */
import { AUTOMATON_KEYWORD_MAX } from "./keyword-automaton.ts";
import {
  emptyMemo,
  type Found,
  MATCHER_BEHIND_MAX,
  mapFound,
  type PlainRun,
  type ScanMemo,
  type Trigger,
} from "./matcher.ts";

/** Verifies the keyword whose last character stands at `index` of the text, a null character before it. */
export function matchInterleaved({ keyword, matcher }: Trigger, memo: ScanMemo, index: number): Found {
  const { length } = keyword;
  const { text } = memo;
  const start = index - 2 * (length - 1);
  if (start < 0) return undefined;
  for (let place = start; place < index; place += 2)
    if (text.charCodeAt(place) === 0 || text.charCodeAt(place + 1) !== 0) return undefined;
  const run = runAround(memo, start, matcher.reach);
  const at = (start - run.from) / 2;
  // The null character between the last character of the secret and the next one is not part of it.
  return mapFound(matcher.match(run.memo, at, at + length), ({ start: from, end, ...found }) => ({
    ...found,
    start: run.from + 2 * from,
    end: run.from + 2 * end - 1,
  }));
}

/**
 * The characters around `start` without the null characters between them: those that a matcher may look at, and more,
 * which serve the keywords that follow.
 */
function runAround(memo: ScanMemo, start: number, reach: number): PlainRun {
  const known = memo.plain?.[(start % 2) as 0 | 1];
  const serves =
    known !== undefined &&
    start < known.to &&
    (start - known.from >= 2 * MATCHER_BEHIND_MAX || (known.isBegun && start >= known.from)) &&
    (start + 2 * reach <= known.to || known.isEnded);
  if (known !== undefined && serves) return known;
  const run = readRun(memo.text, start, reach);
  memo.plain ??= [undefined, undefined];
  memo.plain[(start % 2) as 0 | 1] = run;
  return run;
}

/** Characters before a keyword that are read: keywords that begin before it may end after it. */
const BEHIND_MAX = MATCHER_BEHIND_MAX + AUTOMATON_KEYWORD_MAX;

function readRun(text: string, start: number, reach: number): PlainRun {
  let from = start;
  while (start - from < 2 * BEHIND_MAX && isPair(text, from - 2)) from -= 2;
  const characters: string[] = [];
  const limit = start + 4 * reach;
  let isEnded = false;
  let to = from;
  while (to < limit && !isEnded) {
    const character = text[to];
    if (character === undefined || character === "\0") isEnded = true;
    else {
      characters.push(character);
      isEnded = text.charCodeAt(to + 1) !== 0;
      to += 2;
    }
  }
  return { from, to, isBegun: !isPair(text, from - 2), isEnded, memo: emptyMemo(characters.join("")) };
}

function isPair(text: string, place: number): boolean {
  return place >= 0 && text.charCodeAt(place) !== 0 && text.charCodeAt(place + 1) === 0;
}
