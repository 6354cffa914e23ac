/**
 * Runs the keyword automaton over a text and lets the matchers look at what it meets.
 *
 * The same steps serve a whole text and one that comes in pieces: candidates are found in the order of their last
 * character and verified in that order, each once. INVARIANT: no candidate is left out, whatever was found before it.
 */
import { type Finding, Merging } from "./finding.ts";
import { matchInterleaved } from "./interleaved.ts";
import { AUTOMATON_KEYWORD_MAX, buildAutomaton, type KeywordAutomaton } from "./keyword-automaton.ts";
import { BLOCK_CHARACTERS, scanBlock, scanInLanes } from "./lanes.ts";
import { emptyMemo, MATCHER_BEHIND_MAX, type Matcher, type ScanMemo, type Trigger } from "./matcher.ts";

/** Keywords with their automaton. */
export interface TriggerTable {
  readonly automaton: KeywordAutomaton;
  readonly keywords: readonly string[];
  readonly lengths: Uint16Array;
  readonly matchers: readonly Matcher[];
  /** Characters of the same line before a keyword at which a secret may begin … */
  readonly backInLine: number;
  /** … and before a keyword, in any line. */
  readonly backAnywhere: number;
}

/** Builds the table of `triggers`. */
export function buildTable(triggers: readonly Trigger[]): TriggerTable {
  return {
    automaton: buildAutomaton(triggers.map(({ keyword }) => keyword)),
    keywords: triggers.map(({ keyword }) => keyword),
    lengths: Uint16Array.from(triggers.map(({ keyword }) => keyword.length)),
    matchers: triggers.map(({ matcher }) => matcher),
    backInLine: triggers.reduce(
      (most, { matcher }) => Math.max(most, matcher.backCrossesLines ? 0 : (matcher.back ?? 0)),
      0,
    ),
    backAnywhere: triggers.reduce(
      (most, { matcher }) => Math.max(most, matcher.backCrossesLines ? (matcher.back ?? 0) : 0),
      0,
    ),
  };
}

const ASCII = 128;
/** Shorter texts gain nothing from being read in four places at once. */
const LANES_CHARACTERS_MIN = 256;

/** Everything found in `text`, findings that overlap included, appended to `found`. */
export function scanText(table: TriggerTable, text: string, found: Finding[]): void {
  const memo = emptyMemo();
  const look = (state: number, index: number) => verifyPlain(table, state, text, index, found, memo);
  if (text.length >= LANES_CHARACTERS_MIN && scanInLanes(table.automaton, text, look)) return;
  scanOnce(table, text, found, memo);
}

/**
 * Everything that `tables` find in `text`, sorted and without overlaps, in steps between which whoever runs them may do
 * something else.
 */
export function* findInSteps(tables: readonly TriggerTable[], text: string): Generator<void, readonly Finding[]> {
  const found: Finding[] = [];
  const scans = tables.map((table) => scanInSteps(table, text, found));
  const merging = new Merging();
  for (let to = BLOCK_CHARACTERS; ; to += BLOCK_CHARACTERS) {
    const ended = scans.map((scan) => scan.next().done === true);
    merging.add(found.splice(0), to - STARTS_BEFORE_MAX);
    if (ended.every(Boolean)) return merging.end();
    yield;
  }
}

/** Characters before the end of a keyword at which a finding can begin; text in UTF-16 takes twice the room. */
const STARTS_BEFORE_MAX = 2 * (MATCHER_BEHIND_MAX + AUTOMATON_KEYWORD_MAX);

/** The same in steps of one block. */
function* scanInSteps(table: TriggerTable, text: string, found: Finding[]): Generator<void, void> {
  const memo = emptyMemo();
  if (!text.includes("\0")) {
    const look = (state: number, index: number) => verifyPlain(table, state, text, index, found, memo);
    for (let from = 0; from < text.length; from += BLOCK_CHARACTERS) {
      scanBlock(table.automaton, text, from, look);
      yield;
    }
    return;
  }
  let state = 0;
  for (let from = 0; from < text.length; from += BLOCK_CHARACTERS) {
    state = scanOnce(table, text, found, memo, { state, from, to: Math.min(text.length, from + BLOCK_CHARACTERS) });
    yield;
  }
}

/** Verifies the keywords that end in `state` at `index` of a text without null characters. */
function verifyPlain(
  table: TriggerTable,
  state: number,
  text: string,
  index: number,
  found: Finding[],
  memo: ScanMemo,
): void {
  const { automaton, lengths, matchers } = table;
  const { accepting, outputStarts, outputs } = automaton;
  const entry = state - accepting;
  const last = outputStarts[entry + 1] ?? 0;
  for (let place = outputStarts[entry] ?? 0; place < last; place += 1) {
    const keyword = outputs[place] ?? 0;
    const finding = matchers[keyword]?.match(text, index + 1 - (lengths[keyword] ?? 0), index + 1, memo);
    if (finding) found.push(finding);
  }
}

/** Character by character: short texts, and those with null characters. Returns the state in which a part ends. */
function scanOnce(
  table: TriggerTable,
  text: string,
  found: Finding[],
  memo: ScanMemo,
  part = { state: 0, from: 0, to: text.length },
): number {
  const { next, classes, shift, accepting } = table.automaton;
  let { state } = part;
  for (let index = part.from; index < part.to; index += 1) {
    const code = text.charCodeAt(index);
    state = next[(state << shift) | (code < ASCII ? (classes[code] ?? 0) : 0)] ?? 0;
    if (state >= accepting) verifyAt(table, state, text, index, found, memo);
  }
  return state;
}

/** Verifies the keywords that end in `state` at `index`. */
function verifyAt(
  table: TriggerTable,
  state: number,
  text: string,
  index: number,
  found: Finding[],
  memo: ScanMemo,
): void {
  if (text.charCodeAt(index) === 0) return; // a null character keeps the state of the keyword before it
  const { accepting, outputStarts, outputs } = table.automaton;
  const entry = state - accepting;
  const last = outputStarts[entry + 1] ?? 0;
  for (let place = outputStarts[entry] ?? 0; place < last; place += 1) {
    const finding = verify(table, outputs[place] ?? 0, text, index, memo);
    if (finding) found.push(finding);
  }
}

/** Verifies that `keyword`, which ends at `index`, belongs to a secret. */
export function verify(
  table: TriggerTable,
  keyword: number,
  text: string,
  index: number,
  memo: ScanMemo,
): Finding | undefined {
  const matcher = table.matchers[keyword];
  const length = table.lengths[keyword] ?? 0;
  if (!matcher) return undefined;
  const start = index + 1 - length;
  if (length > 1 && text.charCodeAt(index - 1) === 0) return matchInterleaved(matcher, text, index, length, memo);
  return matcher.match(text, start, index + 1, memo);
}
