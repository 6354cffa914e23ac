/**
 * Reads the name and the value around a word such as `password` or `token`.
 *
 * It understands an assignment, a member of JSON or YAML, a property, a flag, a header, a parameter of an address, and
 * an element or attribute of XML.
 *
 * It is pure and bounded: it looks at most `NAMED_REACH` characters ahead and 64 back, each once.
 */
import type { ScanMemo } from "../search/matcher.ts";

/**
 * How sure a value's borders are: `whole` in quotes or up to the end of a line, `bare` up to a space or bracket, which
 * code has as well, `said` in a sentence.
 */
export type ValuePlace = "whole" | "bare" | "said";

/** A name and the value it is given. */
export interface NamedValue extends FoundValue {
  readonly name: string;
  /** Up to the end of the line or word, where that is more than the value: what people choose has any characters. */
  readonly wide?: FoundValue;
}

/** A value in its place. */
export interface FoundValue {
  readonly value: string;
  readonly start: number;
  readonly end: number;
  readonly place: ValuePlace;
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
  if (form === "element" && text.charCodeAt(nameStart - 1) !== LESS) return undefined;
  if (form === "row" && !beginsLine(text, nameStart)) return undefined;
  const name = text.slice(nameStart, nameEnd);
  if (form === "flag" && !isFlag(text, nameStart, keywordStart)) {
    const isBare = text.charCodeAt(nameEnd) === SPACE && opening.at === nameEnd + 1;
    if (/^pass$/i.test(name)) return undefined; // what one does, not what one has
    const found = setsVariable(text, nameStart) ? readLine(text, opening.at) : readSaid(text, opening.at, isBare);
    return found && { name, ...found };
  }
  const value = readValue(memo, opening, text.charCodeAt(nameStart - 1));
  // shells, and people who write their variables, leave no spaces
  const isTight = text.charCodeAt(nameEnd) === EQUALS && opening.at === nameEnd + 1;
  let wide: FoundValue | undefined;
  if (form === "assigned" && beginsLine(text, nameStart)) wide = readLine(text, opening.at);
  else if (isTight && VARIABLE.test(name)) wide = readWord(text, opening.at);
  if (wide !== undefined && wide.end !== value?.end) return { name, ...(value ?? wide), wide };
  return value && { name, ...value, ...((wide || isTight) && { place: "whole" }) };
}

/** A variable of an environment. */
const VARIABLE = /^[A-Z][A-Z0-9_]*$/;

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
const SPACE = 32;
const EQUALS = 61;

/** How name and value stand together. */
type Form = "assigned" | "argument" | "flag" | "element" | "apart" | "said" | "cell" | "row" | "block";

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
  if (code === 124 && at > afterName && text.charCodeAt(at + 1) !== 124)
    return { at: skipSpaces(text, at + 1), form: "cell" };
  const apart = apartFrom(text, afterName) ?? (quoted ? apartFrom(text, nameEnd) : undefined);
  if (apart) return apart;
  if (code === 37 && /^%3d/i.test(text.slice(at, at + 3))) return { at: at + 3, form: "assigned" };
  if (code === 44 && quoted) return { at: skipSpaces(text, at + 1), form: "argument" };
  if (code === 44 && at === afterName) return { at: at + 1, form: "row" };
  if (code === 40 && !quoted) return { at: skipSpaces(text, at + 1), form: "argument" };
  if (code === 62 && at === afterName && !quoted) return { at: at + 1, form: "element" };
  if (quoted && text.startsWith("value=", at)) return { at: at + 6, form: "assigned" };
  if (at > afterName && !quoted) return { at, form: "flag" };
  return undefined;
}

/** What stands between a name and a value that has a place of its own. */
const APART = new RegExp(
  [
    /\s{0,4}(?:string|String|\*string|\[\]byte|(?:\[\w{0,8}\]){1,2})\s{0,4}=/, // a declaration with a type
    /\s{0,4}\{[^{}\n]{0,40}\}\s{0,4}=/, // a property with accessors
    /(?: (?:for|of|on|in)(?: (?:the|our|my))? [\w.-]{1,24})? (?:is|was|equals)(?=\s)/,
    /\s{0,4}(?:->|→)/,
    /\s{0,4}(?:\|\||\?\?|or(?=\s))/, // what counts where a variable is not set
    /\s{0,4}["'`]?,?\s{0,40}["'`]?(?:value|Value|VALUE|defaultValue|content)["'`]?\s{0,4}[:=]/,
    /\s{0,4}["'`]\s{0,4}\{[^{}]{0,100}?\bdefault\s{0,8}=/,
    /\s{0,4}["'`]?[^<>\n]{0,40}>\s{0,40}<(?:string|value|data)>/,
    /\s{0,4}<\/\w{1,16}>\s{0,40}<(?:string|value|data)>/,
  ]
    .map(({ source }) => `${source}\\s{0,8}`)
    .join("|"),
  "y",
);

/** What it begins with. */
const APART_BEGINS = new Uint8Array(128);
for (const character of " \t\r\n[\"'`,><-{|?") APART_BEGINS[character.charCodeAt(0)] = 1;
const ARROW = 0x2192;

function apartFrom(text: string, at: number): Opening | undefined {
  const code = text.charCodeAt(at);
  if (code < 128 ? APART_BEGINS[code] !== 1 : code !== ARROW) return undefined;
  APART.lastIndex = at;
  const [between] = APART.exec(text) ?? [];
  if (between === undefined || between.length > APART_MAX) return undefined;
  return { at: at + between.length, form: formBehind(between) };
}

function formBehind(between: string): Form {
  if (between.endsWith(">")) return "apart";
  if (/(?:is|was|equals)\s+$/.test(between)) return "said";
  return /(?:\|\||\?\?|or)\s*$/.test(between) ? "argument" : "assigned";
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
  if (next === DASH) return { at: at + 2, form: "assigned" }; // what a shell takes where the variable is not set
  if (next === 58)
    return text.charCodeAt(at + 2) === EQUALS ? { at: skipSpaces(text, at + 3), form: "assigned" } : undefined;
  if (next === 61) return { at: skipSpaces(text, at + 2), form: "assigned" };
  const value = skipSpaces(text, at + 1);
  const annotation =
    /^(?:string|str|String|Option(?:al)?[<[](?:str|String)[>\]]|&'?[a-z]{0,8}\s?str)(?:\s?\|\s?(?:None|null|undefined))?\s{0,4}=\s{0,4}(?!=)/.exec(
      text.slice(value, value + 40),
    );
  if (annotation) return { at: value + annotation[0].length, form: "assigned" };
  const after = text.slice(value, value + APART_MAX);
  // YAML folds a value into the lines below: `password: >-`
  const [folded] = /^[>|][+-]?[ \t]{0,8}\r?\n[ \t]{1,40}(?=\S)/.exec(after) ?? [];
  if (folded !== undefined) return { at: value + folded.length, form: "block" };
  const [below = ""] = /^[ \t]{0,8}(?:\r?\n){1,2}[ \t]{0,40}(?=[^\s:#{}[\]]{6,512}(?:[\r\n]|$))/.exec(after) ?? [];
  return {
    at: value + below.length,
    form: /\S/.test(below) || below === "" || / $|\t$/.test(below) ? "assigned" : "said",
  };
}

function readValue(memo: ScanMemo, { at, form }: Opening, beforeName: number): FoundValue | undefined {
  const { text } = memo;
  if (form === "block") return readLine(text, at);
  const said = form === "said" ? readSaid(text, at, true) : undefined;
  if (form === "said") return said && { ...said, place: "bare" };
  let start = skipBackslashes(text, at);
  // A literal may bear a prefix: `b"…"`, `r'…'`, `@"…"`.
  if (isQuote(text.charCodeAt(start + 1)) && /[bru@]/.test(text[start] ?? "")) start += 1;
  const quote = text.charCodeAt(start);
  if (isQuote(quote)) return readQuoted(text, start + 1, quote);
  if (form === "argument") return undefined;
  if (form === "element" || form === "apart") {
    const [indent = ""] = /^\s{0,64}/.exec(text.slice(at, at + 64)) ?? [];
    start = at + indent.length;
    return valueIn(text, { start, end: endOfBareValue(memo, start, "element") }, "whole");
  }
  const isAddress = beforeName === 63 || beforeName === 38;
  const end = endOfBareValue(memo, at, isAddress ? "address" : form);
  return valueIn(text, { start: at, end }, isAddress || WHOLE.has(form) ? "whole" : "bare");
}

/** What has one value alone. */
const WHOLE: ReadonlySet<Form> = new Set(["flag", "cell", "row"]);

interface Range {
  readonly start: number;
  readonly end: number;
}

function valueIn(text: string, { start, end }: Range, place: ValuePlace): FoundValue | undefined {
  return end > start ? { value: text.slice(start, end), start, end, place } : undefined;
}

function readQuoted(text: string, start: number, quote: number): FoundValue | undefined {
  const limit = Math.min(text.length, start + VALUE_CHARACTERS_MAX + 1);
  // Where the quotes are escaped themselves, a backslash ends the value; else it belongs to it.
  const isEscaped = text.charCodeAt(start - 2) === BACKSLASH;
  let end = start;
  while (end < limit) {
    const code = text.charCodeAt(end);
    if (code === quote) {
      const within = end > start ? quoteWithin(text, end, quote) : 0;
      if (within === 0) break;
      end += within;
    } else if (code === 10 || code === 13 || (code === BACKSLASH && isEscaped)) break;
    else end += code === BACKSLASH ? 2 : 1;
  }
  end = Math.min(end, limit);
  if (end === limit && end < text.length) return undefined;
  return valueIn(text, { start, end }, "whole");
}

/** Characters of a quote that stands for itself: doubled as in YAML, SQL and CSV, or `'\\''` of shells; or 0. */
function quoteWithin(text: string, at: number, quote: number): number {
  if (text.charCodeAt(at + 1) === quote) return 2;
  return quote === APOSTROPHE && text.startsWith("'\\''", at) ? 4 : 0;
}

/** What stands in quotes behind a name in a sentence, or the word there if it may have none. */
function readSaid(text: string, at: number, isBare: boolean): FoundValue | undefined {
  const quote = text.charCodeAt(at);
  if (isQuote(quote)) return readQuoted(text, at + 1, quote);
  if (!isBare) return undefined;
  const [word = ""] = /^[^\s"'`<>(){}[\]]{8,128}/.exec(text.slice(at, at + 128)) ?? [];
  return valueIn(text, { start: at, end: at + word.replace(/[.,;:!?]+$/, "").length }, "said");
}

/** Whether only a word of a shell, or the sign of a list or of a difference, stands before a name in its line. */
function beginsLine(text: string, nameStart: number): boolean {
  return nameStart === 0 || LINE_BEGINNING.test(text.slice(Math.max(0, nameStart - 48), nameStart));
}

const LINE_BEGINNING = /(?:^|\n)[+-]?[ \t]{0,32}(?:- )?(?:(?:export|set|ENV|ARG|setenv|-e|--env) )?$/;

/** Whether the name and the value behind a space are those of a variable: `setenv NAME value`. */
function setsVariable(text: string, nameStart: number): boolean {
  return /(?:^|\n)[ \t]{0,32}(?:setenv|ENV)[ \t]{1,8}$/.test(text.slice(Math.max(0, nameStart - 48), nameStart));
}

/** The value of a line `NAME=value` or `name: value`: any characters up to its end or a comment. */
function readLine(text: string, at: number): FoundValue | undefined {
  const [rest = ""] = /^[^\s"'`;,][^\r\n]{5,255}/.exec(text.slice(at, at + 257)) ?? [];
  if (rest.length === 256) return undefined; // longer ones are data
  const value = rest.replace(/\s#.*$/, "").trimEnd();
  return CODE.test(value) ? undefined : valueIn(text, { start: at, end: at + value.length }, "whole");
}

/** The word of a line at `at`, with any signs within it. */
function readWord(text: string, at: number): FoundValue | undefined {
  const [word = ""] = /^[^\s"'`<>]{6,128}/.exec(text.slice(at, at + 129)) ?? [];
  if (word.length === 128) return undefined;
  return valueIn(text, { start: at, end: at + word.replace(/[),;.\]]+$/, "").length }, "whole");
}

/** A call, a member, a list, a comparison: code, not a value. */
const CODE = /^(?:[A-Za-z_$][\w$.]*[([]|[([{])|[;,]$|[!=]==|=>|&& | \|\| /;

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
    if (code === 38 && isNextParameter(text, end)) break;
    if ((code === 58 || code === 61) && isInside(text.charCodeAt(end + 1))) memo.separator = end;
  }
  memo.valueTo = inAddress ? -1 : Math.max(end, walked ? memo.valueTo : end);
  return end;
}

/** Whether another name of a query string begins at a `&`. */
function isNextParameter(text: string, at: number): boolean {
  return /^&[A-Za-z][\w.-]{0,40}=/.test(text.slice(at, at + 44));
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
