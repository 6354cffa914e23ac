/**
 * Defines the matchers that the engine runs, each with the keywords that trigger it.
 *
 * INVARIANT: whether a matcher finds something at a keyword, and what, depends on nothing but the text from
 * `MATCHER_BEHIND_MAX` characters before the keyword to `reach` characters from its start. That is why a text in
 * pieces, or a part of a text with enough around it, gives the same findings as the whole.
 */
import type { Finding } from "./finding.ts";

/** Characters before a keyword that a matcher may look at, and a finding may begin. */
export const MATCHER_BEHIND_MAX = 128;

/** Verifies candidates. */
export interface Matcher {
  /** Characters from the start of a keyword that it may look at. */
  readonly reach: number;
  /** Characters before a keyword at which a finding may begin; none if absent. */
  readonly back?: number;
  /** Whether those characters may include the end of a line. */
  readonly backCrossesLines?: boolean;
  /** The secret at the keyword that stands from `start` up to `end` of `text`, if there is one. */
  readonly match: (text: string, start: number, end: number, memo: ScanMemo) => Finding | undefined;
}

/**
 * What was decoded and walked over last while one text is scanned, so that base64 or a name with many keywords is not
 * gone over once for each. It changes nothing but the time, and lives no longer than the scan.
 */
export interface ScanMemo {
  /** By alignment: base64 has four, and keywords of all of them may stand in one run. */
  decoded: readonly [DecodedRun, DecodedRun, DecodedRun, DecodedRun] | undefined;
  /** By the first character's place, even or odd: text in UTF-16 that is seen as bytes. */
  plain: [PlainRun | undefined, PlainRun | undefined] | undefined;
  /** From here to there, everything in `nameText` belongs to a name. */
  nameText: string;
  nameFrom: number;
  nameTo: number;
  /** From here to there, everything in `valueText` belongs to one value without quotes; the last `:` or `=` in it. */
  valueText: string;
  valueFrom: number;
  valueTo: number;
  separator: number;
}

/** What a run of base64 holds. */
export interface DecodedRun {
  text: string;
  /** Where the decoded characters begin and end in `text`. */
  from: number;
  to: number;
  /** Whether the base64 ends there. */
  ended: boolean;
  bytes: string;
}

/** Characters that have null characters between them, without those. */
export interface PlainRun {
  readonly text: string;
  /** Where they begin and end in `text`. */
  readonly from: number;
  readonly to: number;
  /** Whether they begin and end there, or go on. */
  readonly isBegun: boolean;
  readonly isEnded: boolean;
  readonly plain: string;
  readonly memo: ScanMemo;
}

/** A memory of nothing. */
export function emptyMemo(): ScanMemo {
  const nothing = { nameFrom: 0, nameTo: 0, valueFrom: 0, valueTo: 0, separator: -1 };
  return { ...nothing, decoded: undefined, plain: undefined, nameText: "", valueText: "" };
}

/** A keyword and who looks when it is met. */
export interface Trigger {
  readonly keyword: string;
  readonly matcher: Matcher;
}
