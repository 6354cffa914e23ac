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
  /** Whether it looks no further than the end of the keyword's line. */
  readonly endsWithLine?: boolean;
  /**
   * What begins in the line of that keyword and goes on below it, for as long as lines belong to it. Whether anything
   * does depends on no more of the text than `match`.
   */
  readonly opens?: (memo: ScanMemo, start: number, end: number) => OpenedText | undefined;
  /** The secret at the keyword that stands from `start` up to `end` of the text of `memo`, if there is one. */
  readonly match: (memo: ScanMemo, start: number, end: number) => Found;
}

/** A part of a text without a bound, such as a table, that is read line by line. */
export interface OpenedText {
  /** Where its first line begins. */
  readonly from: number;
  /**
   * Reads what begins from `from` up to before `until`, as far as it has come.
   * @returns what is secret in it, and where to go on; it is over without
   */
  readonly read: (
    text: string,
    part: { readonly from: number; readonly until: number; readonly isWhole: boolean },
  ) => { readonly found: readonly Finding[]; readonly from?: number };
}

/** What a matcher has found: nothing, a secret, or what a view of the text holds. */
export type Found = Finding | readonly Finding[] | undefined;

/** Appends what a matcher has found to `all`. */
export function addFound(all: Finding[], found: Found): void {
  if (found === undefined) return;
  if ("start" in found) all.push(found);
  else all.push(...found);
}

/** What a matcher has found, each finding changed by `change`; `undefined` drops it. */
export function mapFound(found: Found, change: (finding: Finding) => Finding | undefined): Found {
  if (found === undefined) return undefined;
  return "start" in found ? change(found) : found.flatMap((finding) => change(finding) ?? []);
}

/**
 * The text that is scanned, and what was decoded and walked over last in it, so that base64 or a name with many
 * keywords is not gone over once for each. That changes nothing but the time, and lives no longer than the scan.
 */
export interface ScanMemo {
  readonly text: string;
  /** Whether the text is a view of another one. */
  readonly isView: boolean;
  /** By alignment: base64 has four, and keywords of all of them may stand in one run. */
  decoded: readonly [DecodedRun, DecodedRun, DecodedRun, DecodedRun] | undefined;
  /** By the first character's place, even or odd: text in UTF-16 that is seen as bytes. */
  plain: [PlainRun | undefined, PlainRun | undefined] | undefined;
  /** From here to there, everything belongs to a name. */
  nameFrom: number;
  nameTo: number;
  /** From here to there, everything belongs to one value without quotes; the last `:` or `=` in it. */
  valueFrom: number;
  valueTo: number;
  separator: number;
}

/** What a run of base64 holds. */
export interface DecodedRun {
  /** Where the decoded characters begin and end in the text. */
  from: number;
  to: number;
  /** Characters of base64 in it, without what stands between wrapped lines. */
  length: number;
  /** Where a wrapped line begins: among those characters, and in the text. */
  breaks: readonly { readonly at: number; readonly place: number }[];
  /** Whether the base64 ends there. */
  ended: boolean;
  bytes: string;
}

/** Characters that have null characters between them, without those. */
export interface PlainRun {
  /** Where they begin and end in the text. */
  readonly from: number;
  readonly to: number;
  /** Whether they begin and end there, or go on. */
  readonly isBegun: boolean;
  readonly isEnded: boolean;
  readonly memo: ScanMemo;
}

/** A memory of nothing in `text`. */
export function emptyMemo(text: string, isView = false): ScanMemo {
  return {
    text,
    isView,
    decoded: undefined,
    plain: undefined,
    nameFrom: 0,
    nameTo: -1,
    valueFrom: 0,
    valueTo: -1,
    separator: -1,
  };
}

/** A keyword and who looks when it is met. */
export interface Trigger {
  readonly keyword: string;
  readonly matcher: Matcher;
}
