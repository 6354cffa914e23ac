/**
 * Runs the keyword automaton over a text and lets the matchers look at what it meets.
 *
 * The same steps serve a whole text and one that comes in pieces: candidates are found in the order of their last
 * character and verified in that order, each once. INVARIANT: no candidate is left out, whatever was found before it.
 */
import type { Finding } from "./finding.ts";
import { buildAutomaton, type KeywordAutomaton } from "./keyword-automaton.ts";
import type { Matcher, Trigger } from "./matcher.ts";
import { matchInterleaved } from "./interleaved.ts";

/** Keywords with their automaton. */
export interface TriggerTable {
  readonly automaton: KeywordAutomaton;
  readonly lengths: Uint16Array;
  readonly matchers: readonly Matcher[];
  /** Characters that any of the matchers looks at from the start of its keyword. */
  readonly reachMax: number;
}

/** Builds the table of `triggers`. */
export function buildTable(triggers: readonly Trigger[]): TriggerTable {
  return {
    automaton: buildAutomaton(triggers.map(({ keyword }) => keyword)),
    lengths: Uint16Array.from(triggers.map(({ keyword }) => keyword.length)),
    matchers: triggers.map(({ matcher }) => matcher),
    reachMax: triggers.reduce((reach, { matcher }) => Math.max(reach, matcher.reach), 0),
  };
}

/** Everything found in `text`, findings that overlap included, appended to `found`. */
export function scanText(table: TriggerTable, text: string, found: Finding[]): void {
  const { next, classes, accepting } = table.automaton;
  let state = 0;
  for (let index = 0; index < text.length; index += 1) {
    // Both indices are in range: a code unit has a class, and every state a row with an entry for each class.
    state = next[state + (classes[text.charCodeAt(index)] as number)] as number;
    if (state >= accepting) verifyAt(table, state, text, index, found);
  }
}

/** Verifies the keywords that end in `state` at `index`. */
function verifyAt(table: TriggerTable, state: number, text: string, index: number, found: Finding[]): void {
  const { outputStarts, outputs, accepting, stride } = table.automaton;
  const entry = (state - accepting) / stride;
  const last = outputStarts[entry + 1] ?? 0;
  for (let place = outputStarts[entry] ?? 0; place < last; place += 1) {
    const finding = verify(table, outputs[place] ?? 0, text, index);
    if (finding) found.push(finding);
  }
}

/** Verifies that `keyword`, which ends at `index`, belongs to a secret. */
export function verify(table: TriggerTable, keyword: number, text: string, index: number): Finding | undefined {
  const matcher = table.matchers[keyword];
  const length = table.lengths[keyword] ?? 0;
  if (!matcher) return undefined;
  if (text.charCodeAt(index) === 0) return undefined; // the null character after a keyword repeats its state
  const start = index + 1 - length;
  if (length > 1 && text.charCodeAt(index - 1) === 0) return matchInterleaved(matcher, text, index, length);
  return matcher.match(text, start, index + 1);
}
