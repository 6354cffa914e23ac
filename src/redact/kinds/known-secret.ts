/**
 * Finds known secret values in every form in which they appear.
 *
 * These forms are the value as it is, in base64 and base64url (whatever stands before it), in hexadecimal, and escaped
 * for URLs and for JSON.
 *
 * INVARIANT: matches are exact. A known value is hidden wherever it stands, and allow-lists do not apply.
 */
import type { Matcher, Trigger } from "../search/matcher.ts";
import { alignedBase64, isBase64 } from "./wrapped.ts";

/** A secret and the rule under which it is hidden. */
export interface KnownSecret {
  readonly rule: string;
  readonly value: string;
}

/** Characters that a known value has at least. */
const KNOWN_CHARACTERS_MIN = 4;
/**
 * Known values of fewer characters are hidden as they are only: their other forms are too short to be told from chance.
 */
const ENCODED_CHARACTERS_MIN = 6;
/** Characters of a form of base64 or hexadecimal at least. */
const FORM_CHARACTERS_MIN = 8;
/** Characters of one known value; a longer one is known by its lines and its beginning. */
const VALUE_CHARACTERS_MAX = 8192;
const LINES_MAX = 256;
const LINE_CHARACTERS_MIN = 16;
/** Characters of a form that serve as keyword. */
const KEYWORD_CHARACTERS = 12;
/** The same where few secrets are looked for by leaping: the longer a keyword, the farther the leaps. */
const LONG_KEYWORD_CHARACTERS = 28;
/** Characters at the beginning of a form among which its keyword is looked for. */
const OFFSET_MAX = 96;

interface Form {
  readonly text: string;
  readonly foldCase?: boolean;
  /** Whether the characters on both sides may hold some bits of the secret. */
  readonly partial?: boolean;
}

/**
 * Triggers for every form of `secret`, with long keywords if wanted; none for one that is so short that every text has
 * it.
 */
export function knownTriggers({ rule, value }: KnownSecret, long = false): readonly Trigger[] {
  if (value.length < KNOWN_CHARACTERS_MIN) return [];
  const forms = new Map<string, Form>();
  for (const part of partsOf(value)) {
    for (const form of formsOf(part)) if (form.text !== "" && !forms.has(form.text)) forms.set(form.text, form);
  }
  return [...forms.values()].map((form) =>
    knownTrigger(rule, form, long ? LONG_KEYWORD_CHARACTERS : KEYWORD_CHARACTERS),
  );
}

/** The value itself, and its lines when it has several: a key that is printed with an indentation is still that key. */
function partsOf(value: string): readonly string[] {
  const whole = value.slice(0, VALUE_CHARACTERS_MAX);
  if (!/[\r\n]/.test(whole)) return [whole];
  const lines = whole.split(/\r?\n|\r/).slice(0, LINES_MAX);
  return [
    whole,
    ...lines.map((line) => line.trim()).filter((line) => line.length >= LINE_CHARACTERS_MIN && !/^-{4,}/.test(line)),
  ];
}

function formsOf(value: string): readonly Form[] {
  const bytes = Buffer.from(value);
  const forms: Form[] = [{ text: value }];
  if (bytes.length !== value.length) forms.push({ text: bytes.toString("latin1") });
  if (value.length < ENCODED_CHARACTERS_MIN) return forms;
  const encoded = [0, 1, 2]
    .map((shift) => alignedBase64(bytes, shift))
    .filter(({ length }) => length >= FORM_CHARACTERS_MIN);
  for (const text of encoded) {
    forms.push({ text, partial: true });
    if (/[+/]/.test(text)) forms.push({ text: text.replaceAll("+", "-").replaceAll("/", "_"), partial: true });
  }
  forms.push({ text: bytes.toString("hex"), foldCase: true });
  const inUrl = encodeURIComponent(value.toWellFormed());
  const inForm = new URLSearchParams({ "": value }).toString().slice(1);
  const inJson = JSON.stringify(value).slice(1, -1);
  const ascii = inJson.replace(
    /[^\x20-\x7e]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  for (const text of [inUrl, inForm]) if (text !== value) forms.push({ text, foldCase: true });
  for (const text of [inJson, inJson.replaceAll("/", "\\/"), ascii, JSON.stringify(inJson).slice(1, -1)]) {
    if (text !== value) forms.push({ text });
  }
  return forms;
}

function knownTrigger(rule: string, form: Form, charactersMax: number): Trigger {
  const { text, foldCase = false, partial = false } = form;
  const offset = asciiOffset(text);
  const keyword = asciiRun(text, offset, charactersMax);
  const folded = text.toLowerCase();
  const matcher: Matcher = {
    reach: text.length + 3,
    back: partial ? offset + 1 : offset,
    backCrossesLines: offset > 0,
    match: ({ text: searched }, keywordStart) => {
      const start = keywordStart - offset;
      if (start < 0) return undefined;
      const same = foldCase
        ? searched.slice(start, start + text.length).toLowerCase() === folded
        : searched.startsWith(text, start);
      if (!same) return undefined;
      const end = start + text.length;
      if (!partial) return { rule, kind: "definite", start, end };
      const before = start > 0 && isBase64(searched.charCodeAt(start - 1)) ? start - 1 : start;
      return { rule, kind: "definite", start: before, end: endOfPartial(searched, end) };
    },
  };
  return { keyword, matcher };
}

/** Where the first two ASCII characters in a row stand near the beginning of a form: keywords are ASCII. */
function asciiOffset(text: string): number {
  for (let index = 0; index < Math.min(text.length - 1, OFFSET_MAX); index += 1)
    if (isAscii(text, index) && isAscii(text, index + 1)) return index;
  return 0;
}

function asciiRun(text: string, offset: number, charactersMax: number): string {
  let end = offset;
  while (end < text.length && end - offset < charactersMax && isAscii(text, end)) end += 1;
  // Without any ASCII the characters themselves are the keyword: the automaton knows them as others, and finds too
  // much.
  return text.slice(offset, Math.max(end, offset + 1));
}

function isAscii(text: string, index: number): boolean {
  const code = text.charCodeAt(index);
  return code > 0 && code < 128;
}

function endOfPartial(text: string, end: number): number {
  let at = isBase64(text.charCodeAt(end)) ? end + 1 : end;
  for (let padding = 0; padding < 2 && text.charCodeAt(at) === 61; padding += 1) at += 1;
  return at;
}
