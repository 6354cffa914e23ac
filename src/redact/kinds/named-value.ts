/**
 * Reads the name and the value around a word such as `password` or `token`.
 *
 * It understands an assignment, a member of JSON or YAML, a property, a flag, a header, a parameter of an address, and
 * an element or attribute of XML.
 *
 * It is pure and bounded: it looks at most `NAMED_REACH` characters ahead and 64 back, each once.
 */
import type { ScanMemo } from "../search/matcher.ts";

/** A name and the value it is given. */
export interface NamedValue {
  readonly name: string;
  readonly value: string;
  readonly start: number;
  readonly end: number;
}

const NAME_BEFORE_MAX = 64;
const NAME_AFTER_MAX = 24;
const SPACES_MAX = 8;
const BACKSLASHES_MAX = 3;
const ANNOTATION_MAX = 24;
/** Characters of a value: longer ones are data, not secrets. */
export const VALUE_CHARACTERS_MAX = 512;
/** Characters of a value without quotes that has a `:` or `=` inside: after those, another name may begin. */
const COMPOUND_CHARACTERS_MAX = 96;
/** Characters from a keyword's start that are looked at. */
export const NAMED_REACH =
  32 + NAME_AFTER_MAX + 3 * SPACES_MAX + 3 * BACKSLASHES_MAX + ANNOTATION_MAX + VALUE_CHARACTERS_MAX + 16;

/** The name around the keyword from `keywordStart` up to `keywordEnd`, and its value. */
export function readNamedValue(memo: ScanMemo, keywordStart: number, keywordEnd: number): NamedValue | undefined {
  const { text } = memo;
  const nameEnd = endOfName(memo, keywordEnd);
  if (nameEnd - keywordEnd > NAME_AFTER_MAX) return undefined;
  const opening = skipSeparator(text, nameEnd);
  if (opening === undefined) return undefined;
  const nameStart = startOfName(text, keywordStart);
  const { form } = opening;
  if (form === "flag" && !isFlag(text, nameStart, keywordStart)) return undefined;
  if (form === "element" && text.charCodeAt(nameStart - 1) !== LESS) return undefined;
  const found = readValue(memo, opening, text.charCodeAt(nameStart - 1));
  return found && { name: text.slice(nameStart, nameEnd), ...found };
}

/** Where the name goes on to, or that it is too long; a name with many keywords is walked once. */
function endOfName(memo: ScanMemo, keywordEnd: number): number {
  const walked = keywordEnd >= memo.nameFrom && keywordEnd <= memo.nameTo;
  const limit = keywordEnd + NAME_AFTER_MAX + 1;
  let end = walked ? Math.min(memo.nameTo, limit) : keywordEnd;
  while (end < limit && isNameCode(memo.text.charCodeAt(end))) end += 1;
  if (!walked) memo.nameFrom = keywordEnd;
  memo.nameTo = walked ? Math.max(memo.nameTo, end) : end;
  return end;
}

const QUOTE = 34;
const APOSTROPHE = 39;
const BACKTICK = 96;
const BACKSLASH = 92;
const LESS = 60;
const DASH = 45;

/** How name and value stand together. */
type Form = "assigned" | "argument" | "flag" | "element";

interface Opening {
  readonly at: number;
  readonly form: Form;
}

function startOfName(text: string, keywordStart: number): number {
  let start = keywordStart;
  while (start > 0 && keywordStart - start < NAME_BEFORE_MAX) {
    const code = text.charCodeAt(start - 1);
    if (!isNameCode(code) && code !== 46) break;
    start -= 1;
  }
  return start;
}

function isFlag(text: string, nameStart: number, keywordStart: number): boolean {
  return (
    text.charCodeAt(nameStart) === DASH &&
    text.charCodeAt(nameStart + 1) === DASH &&
    keywordStart - nameStart < NAME_BEFORE_MAX
  );
}

/** Where the value begins behind the name that ends at `nameEnd`. */
function skipSeparator(text: string, nameEnd: number): Opening | undefined {
  let at = skipBackslashes(text, nameEnd);
  const quoted = isQuote(text.charCodeAt(at));
  if (quoted) at += 1;
  else at = nameEnd;
  if (text.charCodeAt(at) === 93) at += 1; // `config["password"]`
  const afterName = at;
  at = skipSpaces(text, at);
  const code = text.charCodeAt(at);
  if (code === 61) return afterEquals(text, at);
  if (code === 58) return afterColon(text, at);
  if (code === 63 && text.charCodeAt(at + 1) === 58) return afterColon(text, at + 1); // `password?: string = …`
  if (code === 37 && /^%3d/i.test(text.slice(at, at + 3))) return { at: at + 3, form: "assigned" };
  if (code === 44 && quoted) return { at: skipSpaces(text, at + 1), form: "argument" };
  if (code === 40 && !quoted) return { at: skipSpaces(text, at + 1), form: "argument" };
  if (code === 62 && at === afterName && !quoted) return { at: at + 1, form: "element" };
  if (quoted && text.startsWith("value=", at)) return { at: at + 6, form: "assigned" };
  if (at > afterName && !quoted) return { at, form: "flag" };
  return undefined;
}

function afterEquals(text: string, at: number): Opening | undefined {
  const next = text.charCodeAt(at + 1);
  if (next === 61 || next === 126) return undefined; // a comparison
  return { at: skipSpaces(text, next === 62 ? at + 2 : at + 1), form: "assigned" };
}

function afterColon(text: string, at: number): Opening | undefined {
  const next = text.charCodeAt(at + 1);
  if (next === 58) return undefined;
  if (next === 61) return { at: skipSpaces(text, at + 2), form: "assigned" };
  const value = skipSpaces(text, at + 1);
  const annotation =
    /^(?:string|str|String|Option(?:al)?[<[](?:str|String)[>\]]|&'?[a-z]{0,8}\s?str)(?:\s?\|\s?(?:None|null|undefined))?\s{0,4}=\s{0,4}(?!=)/.exec(
      text.slice(value, value + ANNOTATION_MAX + 16),
    );
  return { at: annotation ? value + annotation[0].length : value, form: "assigned" };
}

type FoundValue = Pick<NamedValue, "value" | "start" | "end">;

function readValue(memo: ScanMemo, { at, form }: Opening, beforeName: number): FoundValue | undefined {
  const { text } = memo;
  let start = skipBackslashes(text, at);
  // A literal may bear a prefix: `b"…"`, `r'…'`, `@"…"`.
  if (isQuote(text.charCodeAt(start + 1)) && /[bru@]/.test(text[start] ?? "")) start += 1;
  const quote = text.charCodeAt(start);
  if (isQuote(quote)) return readQuoted(text, start + 1, quote);
  if (form === "argument") return undefined;
  const end = endOfBareValue(memo, at, beforeName === 63 || beforeName === 38 ? "address" : form);
  return end > at ? { value: text.slice(at, end), start: at, end } : undefined;
}

function readQuoted(text: string, start: number, quote: number): FoundValue | undefined {
  const limit = Math.min(text.length, start + VALUE_CHARACTERS_MAX + 1);
  let end = start;
  while (end < limit) {
    const code = text.charCodeAt(end);
    if (code === quote || code === 10 || code === 13 || code === BACKSLASH) break;
    end += 1;
  }
  if (end === limit && end < text.length) return undefined;
  return end > start ? { value: text.slice(start, end), start, end } : undefined;
}

/** Characters that end a value without quotes: white space, quotes, brackets, what separates. */
const BARE_ENDS = new Uint8Array(128);
for (const character of " \t\r\n\v\f\0\"'`<>,;(){}[]|\\^") BARE_ENDS[character.charCodeAt(0)] = 1;

function endsBareValue(code: number): boolean {
  return code < 128 ? BARE_ENDS[code] === 1 : code === 0xa0 || code === 0x2028 || code === 0x2029;
}

/** What may trail a value in a sentence. */
const TRAILERS = new Set([..."., :"].map((character) => character.charCodeAt(0)));

function endOfBareValue(memo: ScanMemo, start: number, within: Form | "address"): number {
  const { text } = memo;
  const inElement = within === "element";
  const end = inElement ? text.indexOf("<", start) : walkBareValue(memo, start, within === "address");
  const compound = !inElement && memo.separator >= start && memo.separator < end;
  if (end === -1 || end - start > (compound ? COMPOUND_CHARACTERS_MAX : VALUE_CHARACTERS_MAX)) return start;
  let last = end;
  while (last > start && TRAILERS.has(text.charCodeAt(last - 1))) last -= 1;
  // A call or an index is code, not a value: `token = read(…)`.
  const after = text.charCodeAt(last);
  return after === 40 || after === 91 ? start : last;
}

/** Walks to the end of a value, at most one character further than it may be long; remembers what was walked. */
function walkBareValue(memo: ScanMemo, start: number, inAddress: boolean): number {
  const { text } = memo;
  const walked = !inAddress && start >= memo.valueFrom && start <= memo.valueTo;
  const limit = Math.min(text.length, start + VALUE_CHARACTERS_MAX + 1);
  if (!walked) {
    memo.valueFrom = start;
    memo.separator = -1;
  }
  let end = walked ? Math.min(memo.valueTo, limit) : start;
  for (; end < limit; end += 1) {
    const code = text.charCodeAt(end);
    if (endsBareValue(code) || (inAddress && (code === 38 || code === 35))) break;
    if ((code === 58 || code === 61) && isInside(text.charCodeAt(end + 1))) memo.separator = end;
  }
  memo.valueTo = inAddress ? -1 : Math.max(end, walked ? memo.valueTo : end);
  return end;
}

/** Whether a `:` or `=` before this character separates something: padding at the end of base64 does not. */
function isInside(next: number): boolean {
  return next >= 0 && next !== 61 && !endsBareValue(next);
}

function skipSpaces(text: string, at: number): number {
  let place = at;
  while (place - at < SPACES_MAX && (text.charCodeAt(place) === 32 || text.charCodeAt(place) === 9)) place += 1;
  return place;
}

function skipBackslashes(text: string, at: number): number {
  let place = at;
  while (place - at < BACKSLASHES_MAX && text.charCodeAt(place) === BACKSLASH) place += 1;
  return isQuote(text.charCodeAt(place)) ? place : at;
}

function isQuote(code: number): boolean {
  return code === QUOTE || code === APOSTROPHE || code === BACKTICK;
}

/** A character of a name: letter, digit, `_` or `-`. */
function isNameCode(code: number): boolean {
  return (
    (code >= 97 && code <= 122) ||
    (code >= 65 && code <= 90) ||
    (code >= 48 && code <= 57) ||
    code === 95 ||
    code === DASH
  );
}
