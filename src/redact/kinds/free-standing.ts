/**
 * Finds random-looking tokens that no name announces.
 *
 * A token is a run of letters, digits and `_-+/` of a bounded length that stands alone. It counts when its characters
 * are drawn by chance (all three kinds of them, in turns, with enough bits), and nothing in its line says that it is a
 * digest, an identifier, a public key, or part of data.
 *
 * INVARIANT: the verdict depends on nothing but the run, `MATCHER_BEHIND_MAX` characters before it and `BELOW_MAX`
 * behind it: a text in pieces gives the same as the whole.
 */
import { isId } from "../../base/ids.ts";
import { ALPHANUMERIC, codeSet } from "../search/code-set.ts";
import type { Finding } from "../search/finding.ts";
import { MATCHER_BEHIND_MAX } from "../search/matcher.ts";
import { entropyOf, isCalledStandIn, isFiller } from "./entropy.ts";

/** The rule of tokens without a name. */
export const FREE_STANDING = {
  id: "random-token",
  kind: "probable",
  title: "a random token that no name announces",
  examples: {
    positive: ["the value is {u43}", "got {a48}\n", "'{a64}'", "{a32}", "{u86}"],
    negative: [
      "commit {h40}",
      "{uuid}",
      "sha512-{b86}==",
      "{h64}  file.tar.gz",
      'etag: "{u43}"',
      "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{b43} a@b",
      "const CallToolAsTaskRequestV1Schema = 1",
      "data:image/png;base64,{b40}",
      "{b64}\n{b64}\n{b40}",
      "/files/{a32}/x",
    ],
  },
} as const;

/** The bar: what a token must have. */
export interface EntropyBar {
  readonly charactersMin: number;
  readonly charactersMax: number;
  /** Bits per character; of letters and digits by chance, 24 have 4.0 and 64 have 5.1. */
  readonly bitsMin: number;
}

/** The bar unless configured otherwise. */
export const USUAL_BAR: EntropyBar = { charactersMin: 24, charactersMax: 256, bitsMin: 3.9 };

const isTokenCode = codeSet(`${ALPHANUMERIC}_-+/`);

/** Characters behind a token in which another line of data begins, or the rest of a name. */
const BELOW_MAX = 80;

/** How far a search has come. */
export interface Searched {
  readonly found: readonly Finding[];
  /** What begins here or later is undecided until more text has come. */
  readonly from: number;
  /** Whether `from` stands inside of a run that is too long for a token. */
  readonly isInside: boolean;
}

/** Where a search goes on, and whether no more text will come. */
export type SearchFrom = Pick<Searched, "from" | "isInside"> & { readonly isWhole: boolean };

/** Searches a text from where the last search of it has come to. */
export type FreeStandingSearch = (text: string, from: SearchFrom) => Searched;

/** Everything found in `text`. */
export function findFreeStanding(text: string, bar: EntropyBar): readonly Finding[] {
  return searchFreeStanding(text, bar, { from: 0, isInside: false, isWhole: true }).found;
}

/**
 * Searches `text` from where the last search has come to; it leaps from one place to the next at which a token of the
 * least length could end.
 */
export function searchFreeStanding(text: string, bar: EntropyBar, { from, isInside, isWhole }: SearchFrom): Searched {
  const { length } = text;
  const found: Finding[] = [];
  let start = isInside ? endOfRun(text, from) : from;
  if (isInside && start === length) return { found, from: start, isInside: true };
  const { charactersMin, charactersMax } = bar;
  for (let at = start + charactersMin - 1; at < length; at = start + charactersMin - 1) {
    const other = lastOther(text, start, at);
    if (other >= start) {
      start = other + 1;
      continue;
    }
    const run = { start, end: endOfRun(text, at + 1) };
    const isLong = run.end - start > charactersMax;
    if (run.end === length && !isWhole) return { found, from: isLong ? length : start, isInside: isLong };
    if (!isLong && mayBeToken(text, start) && isRandomToken(text, run, bar)) {
      if (run.end + PADDING_MAX + BELOW_MAX > length && !isWhole) return { found, from: start, isInside: false };
      const end = endOfPadding(text, run.end);
      if (standsAlone(text, { start, end }))
        found.push({ rule: FREE_STANDING.id, kind: FREE_STANDING.kind, start, end });
    }
    start = run.end + 1;
  }
  // the run with which the text ends may go on
  const rest = isWhole ? length : lastOther(text, start, length - 1) + 1;
  return { found, from: Math.min(length, Math.max(start, rest)), isInside: false };
}

/** What may stand before a token: white space, quotes, what separates. */
const maySeparate = codeSet(" \t\r\n\"'`=:,(>|");

/** Whether what stands before a run and begins it lets it be a token. */
function mayBeToken(text: string, start: number): boolean {
  // lock files are full of `sha512-…`
  return (
    (start === 0 || maySeparate(text.charCodeAt(start - 1))) &&
    !text.startsWith("sha", start) &&
    text.charCodeAt(start) !== SLASH
  );
}

/** The last place from `start` to `at` that is no character of a token; before `start` if there is none. */
function lastOther(text: string, start: number, at: number): number {
  let back = at;
  while (back >= start && isTokenCode(text.charCodeAt(back))) back -= 1;
  return back;
}

function endOfRun(text: string, start: number): number {
  let end = start;
  while (end < text.length && isTokenCode(text.charCodeAt(end))) end += 1;
  return end;
}

/** Shares of a token's characters: those that differ in kind from the one before, digits, those in words. */
const CHANGES_MIN = 0.4;
const CHANGES_MAX = 0.85;
const DIGITS_MAX = 0.4;
const WORDS_MAX = 0.45;
/** Groups of digits at least: names have one at most. */
const DIGIT_GROUPS_MIN = 2;

/** A run of a token's characters. */
interface Run {
  readonly start: number;
  readonly end: number;
}

/** Lower case, upper case and digits in turns, as chance has them and neither names nor paths nor numbers do. */
function isRandomToken(text: string, run: Run, bar: EntropyBar): boolean {
  const { start, end } = run;
  const length = end - start;
  if (!isInTurns(text, run)) return false;
  const token = text.slice(start, end);
  if (PUBLIC.test(token) || isId(token) || entropyOf(token) < bar.bitsMin || isFiller(token) || isCalledStandIn(token))
    return false;
  return !isText(token) && lettersInWords(token) <= length * WORDS_MAX;
}

/** Whether its kinds of characters change as chance has it; most runs are names, which do not. */
function isInTurns(text: string, { start, end }: Run): boolean {
  let lower = 0;
  let upper = 0;
  let digits = 0;
  let groups = 0;
  let changes = 0;
  let before = 0;
  for (let index = start; index < end; index += 1) {
    const kind = KINDS[text.charCodeAt(index)] ?? 0;
    if (kind === LOWER) lower += 1;
    else if (kind === UPPER) upper += 1;
    else if (kind === DIGIT) digits += 1;
    // words that are joined change at the joints alone
    if (kind === 0 || kind === before) {
      before = kind;
      continue;
    }
    if (kind === DIGIT) groups += 1;
    if (before !== 0) changes += 1;
    before = kind;
  }
  const length = end - start;
  if (lower === 0 || upper === 0 || digits > length * DIGITS_MAX) return false;
  if (groups < DIGIT_GROUPS_MIN) return false;
  return changes >= length * CHANGES_MIN && changes <= length * CHANGES_MAX;
}

const PADDING = 61;
const SLASH = 47;
/** Characters with which base64 may be filled up. */
const PADDING_MAX = 2;

function endOfPadding(text: string, at: number): number {
  let end = at;
  while (end < at + PADDING_MAX && text.charCodeAt(end) === PADDING) end += 1;
  return end;
}

const LOWER = 1;
const UPPER = 2;
const DIGIT = 3;
/** Kinds of ASCII characters; 0 is anything else. */
const KINDS = Uint8Array.from({ length: 128 }, (_, code) =>
  code >= 97 && code <= 122 ? LOWER : code >= 65 && code <= 90 ? UPPER : code >= 48 && code <= 57 ? DIGIT : 0,
);

function lettersInWords(token: string): number {
  return (token.match(/[A-Z][a-z]{3,}|[a-z]{4,}/g) ?? []).reduce((sum, { length }) => sum + length, 0);
}

/** What begins like an image, a font, a program, a certificate, a public key, a name of content, a mangled symbol. */
const PUBLIC =
  /^(?:iVBOR|R0lGOD|\/9j\/|UklGR|d09GR|AGFzbQ|H4sI|PHN2|PD94|MI[A-Z]|MF[kw]w|MCow|MHYw|MDYw|AAAA[BCE]|Qm[1-9A-HJ-NP-Za-km-z]{44}$|__|_Z|_R|ssh-|sha\d|eyJ|AQAB)/;

/** Whether it is text in base64: what is random bytes has characters that no text has. */
function isText(token: string): boolean {
  const bytes = Buffer.from(token, "base64");
  let printable = 0;
  for (const byte of bytes) if ((byte >= 32 && byte < 127) || byte === 10 || byte === 9 || byte === 13) printable += 1;
  return printable >= bytes.length * TEXT_MIN;
}

/** Of random bytes four in ten are text. */
const TEXT_MIN = 0.75;

/** Whether it is no piece of an address, a path, a member or data, and nothing before it says that it is no secret. */
function standsAlone(text: string, { start, end }: Run): boolean {
  const above = text.slice(Math.max(0, start - MATCHER_BEHIND_MAX), start);
  const below = text.slice(end, end + BELOW_MAX);
  if (!AFTER.test(below) || DATA_ABOVE.test(above) || DATA_BELOW.test(below)) return false;
  const line = above.slice(above.lastIndexOf("\n") + 1);
  return !SAID_IN_LINE.test(line) && !SAID.test(line) && !SAID_ID.test(line);
}

/** Whether the name of a member says that its value is an id, a digest, a cursor or the like. */
export function isCalledPublic(name: string): boolean {
  const line = `${name}: `;
  return SAID_IN_LINE.test(line) || SAID.test(line) || SAID_ID.test(line);
}

const AFTER = /^(?:$|[\s"'`,;)<|]|[.:](?:\s|$)|\\[nrt"'])/;
/** A line of data, or the marker of a secret, with nothing but what separates lines between. */
const DATA_ABOVE =
  /(?:[A-Za-z0-9+/]{40}={0,2}|-----|\[REDACTED:[a-z0-9-]{1,64}\][A-Za-z0-9+/=_-]{0,40})["'\\nr,+\s]{1,40}$/;
const DATA_BELOW = /^["'\\nr,+\s]{1,32}(?:[A-Za-z0-9+/]{40}|[A-Za-z0-9+/_-]{0,40}\[REDACTED:)/;

/** Words in the line of a token that say what it is. */
const SAID_IN_LINE =
  /hash|digest|sha-?\d|integrity|checksum|fingerprint|thumbprint|signature|uuid|ulid|ksuid|cuid|challenge|nonce|etag|base64|certificate|public|pub_?key|commit|cipher|modulus|(?:next|page|continuation|cursor|sync|idempotency|cache)[A-Za-z_-]{0,12}["']?\s{0,4}[:=]|expect|toBe|assert|example|sample/i;
/** The same right before a token. */
const SAID =
  /(?:^|[^A-Za-z])(?:[A-Za-z]{0,12}(?:guid|md5|trace|span|request|rev|revision|version|pub|cert|sig|serial|key[-_ ]?id|h1|src|href|path|file|data|mappings|cursor|anchor|ref|salt|iv|exponent|test)|[nexy])["'`]?\]?\s{0,4}(?:[:=(,>-]|=>|is)?\s{0,4}["'`(<]{0,2}$/i;
/** A word or the last part of a name that says id, but no word that ends with these letters. */
const SAID_ID = /(?:(?:^|[^A-Za-z])(?:id|Id|ID)|[a-z]I[dD])s?["'`]?\]?\s{0,4}(?:[:=(,>-]|=>|is)?\s{0,4}["'`(<]{0,2}$/;
