/**
 * Secrets inside base64: a Kubernetes secret, a kubeconfig, a configuration that was encoded as a whole.
 *
 * The distinctive beginnings of formats are keywords in each of the three alignments that base64 has. Where one stands,
 * what follows is decoded and searched once (never again inside of what was decoded); a secret found there is replaced
 * as the groups of four characters that hold it.
 */
import type { Finding } from "../search/finding.ts";
import { AUTOMATON_KEYWORD_MAX } from "../search/keyword-automaton.ts";
import type { DecodedRun, Matcher, ScanMemo, Trigger } from "../search/matcher.ts";

/** Characters of base64 that are decoded from one keyword on: a private key of 4,096 bits, wrapped. */
const WRAPPED_CHARACTERS_MAX = 8192;
const BYTES_KEPT = 3;
const GROUP_CHARACTERS = 4;
/** A beginning must fill this many characters of base64: shorter ones are met by chance. */
const KEYWORD_CHARACTERS_MIN = 4;

/** Finds what stands at `at` of a decoded text. */
export type FindAt = (text: string, at: number) => Finding | undefined;

interface Inside {
  readonly reach: () => number;
  readonly findAt: FindAt;
}

/**
 * Triggers for `beginning` in each alignment.
 * @param reach how far `findAt` looks ahead at most
 */
export function wrappedTriggers(beginning: string, reach: () => number, findAt: FindAt): readonly Trigger[] {
  const triggers: Trigger[] = [];
  let known: number | undefined;
  const characters = () => {
    // Whole groups of four, so that the piece that is decoded does not depend on where the decoding began.
    known ??= Math.min(WRAPPED_CHARACTERS_MAX, 4 * Math.ceil((reach() + BYTES_KEPT) / BYTES_KEPT));
    return known;
  };
  for (let shift = 0; shift < BYTES_KEPT; shift += 1) {
    const keyword = alignedBase64(beginning, shift);
    if (keyword.length < KEYWORD_CHARACTERS_MIN) continue;
    triggers.push({ keyword, matcher: wrappedMatcher(keyword, shift, { reach: characters, findAt }) });
  }
  return triggers;
}

/** The characters of base64 that `text` alone decides when `shift` unknown bytes precede it. */
export function alignedBase64(text: string | Uint8Array, shift: number): string {
  const bytes = typeof text === "string" ? Buffer.from(text) : text;
  const encoded = Buffer.concat([Buffer.alloc(shift), bytes]).toString("base64");
  return encoded.slice(Math.ceil((shift * 8) / 6), Math.floor(((shift + bytes.length) * 8) / 6));
}

function wrappedMatcher(keyword: string, shift: number, { reach, findAt }: Inside): Matcher {
  const before = Math.ceil((shift * 8) / 6);
  return {
    get reach() {
      return reach() + 4;
    },
    back: before,
    match: (memo, start) => {
      const { text } = memo;
      if (!text.startsWith(keyword, start)) return undefined;
      const first = start - before;
      const decoded = first < 0 ? "" : decodeAt(memo, first, reach());
      const found = decoded === "" ? undefined : findAt(decoded, shift);
      if (!found) return undefined;
      const from = first + Math.floor(found.start / BYTES_KEPT) * 4;
      let to = first + Math.ceil(found.end / BYTES_KEPT) * 4;
      while (to > from && !isBase64(text.charCodeAt(to - 1)) && text.charCodeAt(to - 1) !== PADDING) to -= 1;
      return { rule: found.rule, kind: found.kind, start: from, end: Math.min(to, text.length) };
    },
  };
}

/**
 * What the base64 from `first` on holds, up to `reach` characters of it: one character for each byte. More is decoded
 * than was asked for, and kept for the next keyword of the same run.
 */
function decodeAt(memo: ScanMemo, first: number, reach: number): string {
  const { text } = memo;
  memo.decoded ??= [nothingDecoded(), nothingDecoded(), nothingDecoded(), nothingDecoded()];
  const run = memo.decoded[(first % 4) as 0 | 1 | 2 | 3];
  const isKnown = first >= run.from && first < run.to;
  if (!isKnown || (first + reach > run.to && !run.ended)) {
    const limit = Math.min(text.length, first + 2 * reach);
    run.from = startBefore(text, first);
    run.to = endOfBase64(text, first, limit);
    run.ended = run.to < limit || limit === text.length;
    run.bytes = Buffer.from(text.slice(run.from, run.to), "base64").toString("latin1");
  }
  const at = ((first - run.from) / 4) * BYTES_KEPT;
  return run.bytes.slice(at, at + Math.floor((reach * BYTES_KEPT) / 4));
}

function nothingDecoded(): DecodedRun {
  return { from: 0, to: 0, ended: false, bytes: "" };
}

/**
 * Where decoding begins for the sake of keywords that end later than the one before `first` and begin before it: else
 * the same characters would be decoded for them again.
 */
function startBefore(text: string, first: number): number {
  const least = Math.max(0, first - AUTOMATON_KEYWORD_MAX - GROUP_CHARACTERS);
  let at = first;
  while (at > least && isBase64(text.charCodeAt(at - 1))) at -= 1;
  return at + ((first - at) % GROUP_CHARACTERS);
}

/** Where base64 or base64url ends. */
function endOfBase64(text: string, start: number, limit: number): number {
  let at = start;
  while (at < limit && isBase64(text.charCodeAt(at))) at += 1;
  return at;
}

const PADDING = 61;

/** Whether a character is one of base64 or base64url, padding apart. */
export function isBase64(code: number): boolean {
  return (
    (code >= 97 && code <= 122) ||
    (code >= 65 && code <= 90) ||
    (code >= 47 && code <= 57) ||
    code === 43 ||
    code === 45 ||
    code === 95
  );
}
