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
/** Characters between a name and its value where the value has a member, an element or a line of its own. */
const APART_MAX = 160;
/** Characters of a value: longer ones are data, not secrets. */
export const VALUE_CHARACTERS_MAX = 512;
/** Characters of a value without quotes that has a `:` or `=` inside: after those, another name may begin. */
const COMPOUND_CHARACTERS_MAX = 96;
/** Characters from a keyword's start that are looked at. */
export const NAMED_REACH =
  32 + NAME_AFTER_MAX + 3 * SPACES_MAX + 3 * BACKSLASHES_MAX + APART_MAX + VALUE_CHARACTERS_MAX + 16;

/** The name around the keyword from `keywordStart` up to `keywordEnd`, and its value. */
export function readNamedValue(memo: ScanMemo, keywordStart: number, keywordEnd: number): NamedValue | undefined {
  const { text } = memo;
  const nameEnd = endOfName(memo, keywordEnd);
  if (nameEnd - keywordEnd > NAME_AFTER_MAX) return undefined;
  const opening = skipSeparator(text, nameEnd);
  if (opening === undefined) return undefined;
  const nameStart = startOfName(text, keywordStart);
  if (text.startsWith(MARKER_BEGINNING, nameStart - MARKER_BEGINNING.length)) return undefined; // a rule's name
  const { form } = opening;
  const isSaid = form === "flag" && !isFlag(text, nameStart, keywordStart);
  if (form === "element" && text.charCodeAt(nameStart - 1) !== LESS) return undefined;
  const isLine = form === "assigned" && text.charCodeAt(opening.at - 1) === EQUALS && beginsLine(text, nameStart);
  const found = isLine
    ? (readLine(text, opening.at) ?? readValue(memo, opening, 0))
    : readValue(memo, isSaid ? { ...opening, form: "argument" } : opening, text.charCodeAt(nameStart - 1));
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

const MARKER_BEGINNING = "[REDACTED:";
const QUOTE = 34;
const APOSTROPHE = 39;
const BACKTICK = 96;
const BACKSLASH = 92;
const LESS = 60;
const DASH = 45;
const EQUALS = 61;

/** How name and value stand together. */
type Form = "assigned" | "argument" | "flag" | "element" | "apart";

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
  if (text.charCodeAt(nameStart) !== DASH || keywordStart - nameStart >= NAME_BEFORE_MAX) return false;
  // `-storepass`: programs of Java and of Microsoft have one dash before a word
  return text.charCodeAt(nameStart + 1) === DASH || !isNameCode(text.charCodeAt(nameStart - 1));
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
  if (code === EQUALS) return afterEquals(text, at);
  if (code === 58) return afterColon(text, at);
  if (code === 63 && text.charCodeAt(at + 1) === 58) return afterColon(text, at + 1); // `password?: string = …`
  // `?=` and `+=` of makefiles, `.=` of scripts
  if ((code === 63 || code === 43 || code === 46) && text.charCodeAt(at + 1) === EQUALS)
    return { at: skipSpaces(text, at + 2), form: "assigned" };
  if (code === 124 && at > afterName) return { at: skipSpaces(text, at + 1), form: "assigned" }; // a cell beside a cell
  const apart = apartFrom(text, afterName) ?? (quoted ? apartFrom(text, nameEnd) : undefined);
  if (apart) return apart;
  if (code === 37 && /^%3d/i.test(text.slice(at, at + 3))) return { at: at + 3, form: "assigned" };
  if (code === 44 && quoted) return { at: skipSpaces(text, at + 1), form: "argument" };
  if (code === 40 && !quoted) return { at: skipSpaces(text, at + 1), form: "argument" };
  if (code === 62 && at === afterName && !quoted) return { at: at + 1, form: "element" };
  if (quoted && text.startsWith("value=", at)) return { at: at + 6, form: "assigned" };
  if (at > afterName && !quoted) return { at, form: "flag" };
  return undefined;
}

/** What stands between a name and a value that has a place of its own. */
const APART =
  /\s{0,4}(?:(?:string|String|\*string|\[\]byte|(?:\[\w{0,8}\]){1,2})\s{0,4}=|(?:is|was|equals)(?=\s)|(?:->|→)|["'`]?,?\s{0,40}["'`]?(?:value|Value|VALUE|defaultValue|content)["'`]?\s{0,4}[:=]|["'`]\s{0,4}\{[^{}]{0,100}?\bdefault\s{0,8}=|["'`]?[^<>\n]{0,40}>\s{0,40}<(?:string|value|data)>|<\/\w{1,16}>\s{0,40}<(?:string|value|data)>)\s{0,8}/y;

/** What it begins with. */
const APART_BEGINS = new Uint8Array(128);
for (const character of " \t\r\n[\"'`,><-") APART_BEGINS[character.charCodeAt(0)] = 1;
const ARROW = 0x2192;

function apartFrom(text: string, at: number): Opening | undefined {
  const code = text.charCodeAt(at);
  if (code < 128 ? APART_BEGINS[code] !== 1 : code !== ARROW) return undefined;
  APART.lastIndex = at;
  const [between] = APART.exec(text) ?? [];
  if (between === undefined || between.length > APART_MAX) return undefined;
  return { at: at + between.length, form: between.endsWith(">") ? "apart" : "assigned" };
}

function afterEquals(text: string, at: number): Opening | undefined {
  const next = text.charCodeAt(at + 1);
  if (next === 126) return undefined; // a pattern
  if (next === EQUALS)
    return { at: skipSpaces(text, at + (text.charCodeAt(at + 2) === EQUALS ? 3 : 2)), form: "argument" };
  return { at: skipSpaces(text, next === 62 ? at + 2 : at + 1), form: "assigned" };
}

function afterColon(text: string, at: number): Opening | undefined {
  const next = text.charCodeAt(at + 1);
  if (next === 58)
    return text.charCodeAt(at + 2) === EQUALS ? { at: skipSpaces(text, at + 3), form: "assigned" } : undefined;
  if (next === 61) return { at: skipSpaces(text, at + 2), form: "assigned" };
  const value = skipSpaces(text, at + 1);
  const annotation =
    /^(?:string|str|String|Option(?:al)?[<[](?:str|String)[>\]]|&'?[a-z]{0,8}\s?str)(?:\s?\|\s?(?:None|null|undefined))?\s{0,4}=\s{0,4}(?!=)/.exec(
      text.slice(value, value + 40),
    );
  if (annotation) return { at: value + annotation[0].length, form: "assigned" };
  // YAML folds a value into the lines below: `password: >-`
  const [below] =
    /^(?:[>|][+-]?)?[ \t]{0,8}\r?\n[ \t]{1,40}(?=[^\s:#{}[\]]{6,512}(?:[\r\n]|$))/.exec(
      text.slice(value, value + APART_MAX),
    ) ?? [];
  return { at: value + (below?.length ?? 0), form: "assigned" };
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
  if (form === "element" || form === "apart") {
    const [indent = ""] = /^\s{0,64}/.exec(text.slice(at, at + 64)) ?? [];
    start = at + indent.length;
    const last = endOfBareValue(memo, start, "element");
    return last > start ? { value: text.slice(start, last), start, end: last } : undefined;
  }
  const end = endOfBareValue(memo, at, beforeName === 63 || beforeName === 38 ? "address" : form);
  return end > at ? { value: text.slice(at, end), start: at, end } : undefined;
}

function readQuoted(text: string, start: number, quote: number): FoundValue | undefined {
  const limit = Math.min(text.length, start + VALUE_CHARACTERS_MAX + 1);
  // Where the quotes are escaped themselves, a backslash ends the value; else it belongs to it.
  const isEscaped = text.charCodeAt(start - 2) === BACKSLASH;
  let end = start;
  while (end < limit) {
    const code = text.charCodeAt(end);
    if (code === quote || code === 10 || code === 13 || (code === BACKSLASH && isEscaped)) break;
    end += code === BACKSLASH ? 2 : 1;
  }
  end = Math.min(end, limit);
  if (end === limit && end < text.length) return undefined;
  return end > start ? { value: text.slice(start, end), start, end } : undefined;
}

/** Whether nothing but a word of a shell stands before a name in its line. */
function beginsLine(text: string, nameStart: number): boolean {
  return (
    nameStart === 0 ||
    /(?:^|\n)[ \t]{0,16}(?:(?:export|set|ENV|ARG|setenv|-e|--env) )?$/.test(
      text.slice(Math.max(0, nameStart - 32), nameStart),
    )
  );
}

/** The value of a line `NAME=value`, as files of an environment have it: any characters up to white space. */
function readLine(text: string, at: number): FoundValue | undefined {
  const [value] = /^[^\s"'`;,][^\s"'`]{5,255}(?=\r?\n|$|\s#)/.exec(text.slice(at, at + 260)) ?? [];
  if (value === undefined || CODE.test(value)) return undefined;
  return { value, start: at, end: at + value.length };
}

/** A call, a member, a list: code, not a value. */
const CODE = /^(?:[A-Za-z_$][\w$.]*[([]|[([{])|[;,]$/;

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
  const inElement = within === "element" || within === "apart";
  const end = inElement ? text.indexOf("<", start) : walkBareValue(memo, start, within === "address");
  const compound = !inElement && memo.separator >= start && memo.separator < end;
  if (end === -1 || end - start > (compound ? COMPOUND_CHARACTERS_MAX : VALUE_CHARACTERS_MAX)) return start;
  let last = end;
  while (last > start && (TRAILERS.has(text.charCodeAt(last - 1)) || (inElement && text.charCodeAt(last - 1) <= 32)))
    last -= 1;
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
