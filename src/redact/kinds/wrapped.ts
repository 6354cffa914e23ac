/**
 * Secrets inside base64: a Kubernetes secret, a kubeconfig, a configuration that was encoded as a whole.
 *
 * Base64 may be wrapped at the end of a line. Distinctive beginnings are looked for in hexadecimal, too.
 *
 * The distinctive beginnings of formats are keywords in each of the three alignments that base64 has. Where one stands,
 * what follows is decoded and searched once (never again inside of what was decoded); a secret found there is replaced
 * as the groups of four characters that hold it.
 */
import { ALPHANUMERIC, codeSet } from "../search/code-set.ts";
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

/** Characters of hexadecimal that a beginning must fill. */
const HEX_KEYWORD_MIN = 8;
/** Characters of it that are looked for: more only cost memory, because what is decoded is looked at again. */
const HEX_KEYWORD_MAX = 12;

/**
 * The trigger for `beginning` in hexadecimal, which has one alignment.
 * @param reach how far `findAt` looks ahead at most
 */
export function hexTriggers(beginning: string, reach: () => number, findAt: FindAt): readonly Trigger[] {
  const keyword = Buffer.from(beginning).toString("hex").slice(0, HEX_KEYWORD_MAX);
  if (keyword.length < HEX_KEYWORD_MIN) return [];
  const characters = () => Math.min(WRAPPED_CHARACTERS_MAX, 2 * reach());
  const match: Matcher["match"] = ({ text }, start) => {
    const run = text.slice(start, start + characters());
    const decoded = Buffer.from(run, "hex").toString("latin1");
    const found = findAt(decoded, 0);
    if (!found) return undefined;
    return { rule: found.rule, kind: found.kind, start: start + 2 * found.start, end: start + 2 * found.end };
  };
  return [
    {
      keyword,
      matcher: {
        get reach() {
          return characters() + 2;
        },
        match,
      },
    },
  ];
}

function wrappedMatcher(keyword: string, shift: number, { reach, findAt }: Inside): Matcher {
  const before = Math.ceil((shift * 8) / 6);
  return {
    get reach() {
      return withLineEnds(reach()) + 4;
    },
    back: before,
    match: (memo, start) => {
      const { text } = memo;
      if (!text.startsWith(keyword, start)) return undefined;
      const first = start - before;
      if (first < 0) return undefined;
      const run = decodedAt(memo, first, reach());
      const offset = placeIn(run, first);
      const bytes = (offset / GROUP_CHARACTERS) * BYTES_KEPT;
      const found = findAt(
        run.bytes.slice(bytes, bytes + Math.floor((reach() * BYTES_KEPT) / GROUP_CHARACTERS)),
        shift,
      );
      if (!found) return undefined;
      const from = placeOf(run, offset + Math.floor(found.start / BYTES_KEPT) * GROUP_CHARACTERS);
      let to = placeOf(run, offset + Math.ceil(found.end / BYTES_KEPT) * GROUP_CHARACTERS - 1) + 1;
      while (to > from && !isBase64(text.charCodeAt(to - 1)) && text.charCodeAt(to - 1) !== PADDING) to -= 1;
      return { rule: found.rule, kind: found.kind, start: from, end: Math.min(to, text.length) };
    },
  };
}

/**
 * The run of base64 that holds what begins at `first`, with at least `reach` characters of it if there are so many.
 * More is decoded than was asked for, and kept for the next keyword of the same run.
 */
function decodedAt(memo: ScanMemo, first: number, reach: number): DecodedRun {
  const { text } = memo;
  memo.decoded ??= [nothingDecoded(), nothingDecoded(), nothingDecoded(), nothingDecoded()];
  const run = memo.decoded[(first % 4) as 0 | 1 | 2 | 3];
  const isKnown = first >= run.from && first < run.to && placeIn(run, first) % GROUP_CHARACTERS === 0;
  if (!isKnown || (placeIn(run, first) + reach > run.length && !run.ended)) {
    run.from = startBefore(text, first);
    const read = readLines(text, run.from, first + 2 * withLineEnds(reach));
    run.to = read.to;
    run.length = read.characters.length;
    run.breaks = read.breaks;
    run.ended = read.ended;
    run.bytes = Buffer.from(read.characters, "base64").toString("latin1");
  }
  return run;
}

/** Characters of base64 that a wrapped line has at least: 76 in mail, 64 in text blocks. */
const WRAPPED_LINE_MIN = 60;
/** Characters between two wrapped lines: the end of one and the indentation of the next. */
const BETWEEN_LINES_MAX = 18;

/** Characters of text in which `reach` characters of base64 stand, wrapped or not. */
function withLineEnds(reach: number): number {
  return reach + (Math.ceil(reach / WRAPPED_LINE_MIN) + 1) * BETWEEN_LINES_MAX;
}

/** Reads base64 from `start` on, over the ends of wrapped lines. */
function readLines(text: string, start: number, until: number) {
  const limit = Math.min(text.length, until);
  const breaks: { at: number; place: number }[] = [];
  let characters = "";
  let from = start;
  for (;;) {
    const end = endOfBase64(text, from, limit);
    characters += text.slice(from, end);
    const next = end < limit && isWrappedLine(text, end) ? nextLine(text, end, limit) : undefined;
    if (next === undefined) return { to: end, characters, breaks, ended: end < limit || limit === text.length };
    breaks.push({ at: characters.length, place: next });
    from = next;
  }
}

/** Whether a line of base64 ends at `end` that is as long as wrapped ones are. */
function isWrappedLine(text: string, end: number): boolean {
  const least = end - WRAPPED_LINE_MIN;
  if (least < 0) return false;
  for (let at = end - 1; at >= least; at -= 1) if (!isBase64(text.charCodeAt(at))) return false;
  return true;
}

const LINE_END = /(?:\r?\n|\\n)[ \t]{0,16}(?=[A-Za-z0-9+/_-])/y;

function nextLine(text: string, end: number, limit: number): number | undefined {
  LINE_END.lastIndex = end;
  const [between] = LINE_END.exec(text) ?? [];
  return between === undefined || end + between.length >= limit ? undefined : end + between.length;
}

/** How many characters of base64 stand in a run before the place `at` of the text. */
function placeIn({ from, breaks }: DecodedRun, at: number): number {
  let known = at - from;
  for (const each of breaks) {
    if (each.place > at) break;
    known = each.at + at - each.place;
  }
  return known;
}

/** The place in the text of a character of a run. */
function placeOf({ from, breaks }: DecodedRun, at: number): number {
  let known = from + at;
  for (const each of breaks) {
    if (each.at > at) break;
    known = each.place + at - each.at;
  }
  return known;
}

function nothingDecoded(): DecodedRun {
  return { from: 0, to: 0, length: 0, breaks: [], ended: false, bytes: "" };
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
export const isBase64 = codeSet(`${ALPHANUMERIC}+/-_`);
