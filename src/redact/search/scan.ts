/**
 * Runs the keyword automaton over a text and lets the matchers look at what it meets.
 *
 * The same steps serve a whole text and one that comes in pieces: candidates are found in the order of their last
 * character and verified in that order, each once. INVARIANT: no candidate is left out, whatever was found before it.
 */
import { type Finding, Merging, mergeFindings } from "./finding.ts";
import { matchInterleaved } from "./interleaved.ts";
import { AUTOMATON_KEYWORD_MAX, buildAutomaton, type KeywordAutomaton } from "./keyword-automaton.ts";
import { BLOCK_CHARACTERS, scanBlock, scanInLanes } from "./lanes.ts";
import {
  addFound,
  emptyMemo,
  type Found,
  MATCHER_BEHIND_MAX,
  type OpenedText,
  type ScanMemo,
  type Trigger,
} from "./matcher.ts";

/** Triggers with the automaton of their keywords. */
export interface TriggerTable {
  readonly automaton: KeywordAutomaton;
  readonly triggers: readonly Trigger[];
  /** Characters of the same line before a keyword at which a secret may begin … */
  readonly backInLine: number;
  /** … and before a keyword, in any line. */
  readonly backAnywhere: number;
}

/** Builds the table of `triggers`. */
export function buildTable(triggers: readonly Trigger[]): TriggerTable {
  return {
    automaton: buildAutomaton(triggers.map(({ keyword }) => keyword)),
    triggers,
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

/** A text on its way through a table. */
interface Scan {
  readonly table: TriggerTable;
  readonly memo: ScanMemo;
  readonly found: Finding[];
  /** What goes on below the lines of keywords, and where to read on. */
  readonly opened: OpenedText[];
}

/** Reads on in what was opened, up to what begins at `until`. */
function readOpened({ memo: { text }, found, opened }: Scan, until: number): void {
  for (const { from, read } of opened.splice(0)) {
    const part = read(text, { from, until, isWhole: true });
    for (const each of part.found) found.push(each);
    if (part.from !== undefined) opened.push({ from: part.from, read });
  }
}

/** Everything found in `text`, findings that overlap included, appended to `found`. */
export function scanText(table: TriggerTable, text: string, found: Finding[]): void {
  const scan: Scan = { table, memo: emptyMemo(text), found, opened: [] };
  const look = (state: number, index: number) => verifyPlain(scan, state, index);
  if (text.length < LANES_CHARACTERS_MIN || !scanInLanes(table.automaton, text, look)) scanOnce(scan);
  readOpened(scan, text.length);
}

/** Everything found in a view of a text, sorted and without overlaps. It may be taken while a text is scanned. */
export function scanView(table: TriggerTable, text: string): readonly Finding[] {
  const scan: Scan = { table, memo: emptyMemo(text, true), found: [], opened: [] };
  scanOnce(scan);
  readOpened(scan, text.length);
  return mergeFindings(scan.found);
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
  const scan: Scan = { table, memo: emptyMemo(text), found, opened: [] };
  if (!text.includes("\0")) {
    const look = (state: number, index: number) => verifyPlain(scan, state, index);
    for (let from = 0; from < text.length; from += BLOCK_CHARACTERS) {
      scanBlock(table.automaton, text, from, look);
      readOpened(scan, from + BLOCK_CHARACTERS);
      yield;
    }
    return;
  }
  let state = 0;
  for (let from = 0; from < text.length; from += BLOCK_CHARACTERS) {
    state = scanOnce(scan, { state, from, to: Math.min(text.length, from + BLOCK_CHARACTERS) });
    readOpened(scan, from + BLOCK_CHARACTERS);
    yield;
  }
}

/** Verifies the keywords that end in `state` at `index` of a text without null characters. */
function verifyPlain({ table, memo, found, opened }: Scan, state: number, index: number): void {
  const { accepting, outputStarts, outputs } = table.automaton;
  const entry = state - accepting;
  const last = outputStarts[entry + 1] ?? 0;
  for (let place = outputStarts[entry] ?? 0; place < last; place += 1) {
    const trigger = table.triggers[outputs[place] ?? 0];
    if (trigger === undefined) continue;
    const met = trigger.matcher.match(memo, index + 1 - trigger.keyword.length, index + 1);
    if (met) addFound(found, met);
    const more = openAt(trigger, memo, index);
    if (more) opened.push(more);
  }
}

/** Character by character: short texts, and those with null characters. Returns the state in which a part ends. */
function scanOnce(scan: Scan, part = { state: 0, from: 0, to: scan.memo.text.length }): number {
  const { text } = scan.memo;
  const { next, classes, shift, accepting } = scan.table.automaton;
  let { state } = part;
  for (let index = part.from; index < part.to; index += 1) {
    const code = text.charCodeAt(index);
    state = next[(state << shift) | (code < ASCII ? (classes[code] ?? 0) : 0)] ?? 0;
    if (state >= accepting) verifyAt(scan, state, index);
  }
  return state;
}

/** Verifies the keywords that end in `state` at `index`. */
function verifyAt({ table, memo, found, opened }: Scan, state: number, index: number): void {
  if (memo.text.charCodeAt(index) === 0) return; // a null character keeps the state of the keyword before it
  const { accepting, outputStarts, outputs } = table.automaton;
  const entry = state - accepting;
  const last = outputStarts[entry + 1] ?? 0;
  for (let place = outputStarts[entry] ?? 0; place < last; place += 1) {
    const trigger = table.triggers[outputs[place] ?? 0];
    if (trigger === undefined) continue;
    const met = verify(trigger, memo, index);
    if (met) addFound(found, met);
    const more = openAt(trigger, memo, index);
    if (more) opened.push(more);
  }
}

/** Verifies that the keyword of `trigger`, which ends at `index`, belongs to a secret. */
export function verify(trigger: Trigger, memo: ScanMemo, index: number): Found {
  const { keyword, matcher } = trigger;
  if (keyword.length > 1 && memo.text.charCodeAt(index - 1) === 0) return matchInterleaved(trigger, memo, index);
  return matcher.match(memo, index + 1 - keyword.length, index + 1);
}

/** What the keyword of `trigger`, which ends at `index`, opens; nothing in text in UTF-16 that is seen as bytes. */
export function openAt({ keyword, matcher }: Trigger, memo: ScanMemo, index: number): OpenedText | undefined {
  return matcher.opens?.(memo, index + 1 - keyword.length, index + 1);
}
