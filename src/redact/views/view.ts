/**
 * Views of a text as a reader sees it: without colours, with escapes decoded, with literals joined.
 *
 * Where the mark of such a shape stands, its surroundings are written down without it and searched by the tables that
 * search the text itself; what is found is brought back to where it stands. INVARIANTS: a view is bounded, is taken
 * once per stretch of marks, and is never taken of a view.
 */
import { ALPHANUMERIC, codeSet } from "../search/code-set.ts";
import type { Finding } from "../search/finding.ts";
import { MATCHER_BEHIND_MAX, type Matcher, type Trigger } from "../search/matcher.ts";
import { scanView, type TriggerTable } from "../search/scan.ts";

/** Characters before the first mark that are seen with it. */
const BEHIND_MAX = MATCHER_BEHIND_MAX - 8;
/** Characters from the first mark on: a stretch of marks costs no more than some five times its length. */
const AHEAD_MAX = 512;
/** Characters of one mark: a colour in JSON, escapes of a character, two quotes with what joins them. */
const MARK_CHARACTERS_MAX = 48;
/** Escapes in a row that are decoded. */
const ESCAPES_MAX = 512;
/** Escapes in a row that make a text one of which every character is escaped. */
const ESCAPES_MIN = 6;
/** Characters of the longest escape of one character. */
const ESCAPE_CHARACTERS_MAX = 7;

/** A shape that hides text from a search. */
interface Shape {
  readonly keywords: readonly string[];
  /** The expression of one mark. */
  readonly mark: string;
  /** What a mark stands for; nothing if absent. */
  readonly decode?: (mark: string) => string;
  /** Whether a mark counts at this place only inside of a word. */
  readonly isInsideWord?: boolean;
}

const ESCAPE = String.fromCharCode(27);
const fromHex = (digits: number) => (mark: string) => String.fromCharCode(Number.parseInt(mark.slice(-digits), 16));

/** Marks that are left out, and escapes that are decoded. */
const SHAPES: readonly Shape[] = [
  {
    keywords: [`${ESCAPE}[`, "\\u001b[", "\\x1b[", "\\033[", "\\e["],
    mark: `(?:${ESCAPE}|\\\\(?:u001[bB]|x1[bB]|033|e))\\[[0-9;:?]{0,24}[A-Za-z]`,
  },
  {
    keywords: ['" +', "' +", '"+', "'+", '" .', "' .", '" &'],
    mark: "[\"'] {0,4}[+.&]\\s{0,30}[\"']",
    isInsideWord: true,
  },
  { keywords: ["\\u00"], mark: "\\\\{1,2}u00[0-9a-fA-F]{2}", decode: fromHex(2) },
  { keywords: ["\\x"], mark: "\\\\{1,2}x[0-9a-fA-F]{2}", decode: fromHex(2) },
  { keywords: ["%2", "%3", "%4", "%5", "%6", "%7"], mark: "%[0-9a-fA-F]{2}", decode: fromHex(2) },
  { keywords: ["&#"], mark: "&#(?:x[0-9a-fA-F]{2}|\\d{2,3});", decode: fromEntity },
];

function fromEntity(mark: string): string {
  const isHex = mark[2] === "x";
  return String.fromCharCode(Number.parseInt(mark.slice(isHex ? 3 : 2, -1), isHex ? 16 : 10));
}

/** Triggers of all views, which are searched by the table that `table` gives. */
export function viewTriggers(table: () => TriggerTable): readonly Trigger[] {
  return SHAPES.flatMap((shape) => {
    const matcher = matcherOf(shape, table);
    return shape.keywords.map((keyword) => ({ keyword, matcher }));
  });
}

function matcherOf({ mark, decode, isInsideWord = false }: Shape, table: () => TriggerTable): Matcher {
  const least = decode ? ESCAPES_MIN : 1;
  const begins = new RegExp(`(?:${mark}){${least},${decode ? ESCAPES_MAX : 1}}`, "y");
  const isBegun = new RegExp(inside(`(?:${mark}){${least}}`, isInsideWord));
  const marks = new RegExp(mark, "g");
  const crossesLines = isInsideWord;
  return {
    reach: decode ? ESCAPES_MAX * ESCAPE_CHARACTERS_MAX + AHEAD_MAX : AHEAD_MAX + MARK_CHARACTERS_MAX,
    back: BEHIND_MAX,
    endsWithLine: !crossesLines,
    match: (memo, start) => {
      const { text } = memo;
      if (memo.isView) return undefined;
      begins.lastIndex = start;
      const [run] = begins.exec(text) ?? [];
      if (run === undefined) return undefined;
      if (isInsideWord && !(isWord(text.charCodeAt(start - 1)) && isWord(text.charCodeAt(start + run.length))))
        return undefined;
      const from = startOfLine(text, start);
      // another mark before has seen this one with it
      if (isBegun.test(text.slice(from, start))) return undefined;
      const to = Math.min(text.length, start + Math.max(AHEAD_MAX, run.length + MARK_CHARACTERS_MAX));
      const end = crossesLines ? to : endOfLine(text, start, to);
      return findIn(text, { from, end, marks, decode }, table());
    },
  };
}

function inside(expression: string, isInsideWord: boolean): string {
  return isInsideWord ? `[\\w+/=-]${expression}[\\w+/=-]` : expression;
}

/** A letter, a digit, or what tokens have beside them. */
const isWord = codeSet(`${ALPHANUMERIC}_-+/=`);

function startOfLine(text: string, start: number): number {
  const least = Math.max(0, start - BEHIND_MAX);
  return Math.max(least, text.slice(least, start).lastIndexOf("\n") + 1 + least);
}

function endOfLine(text: string, start: number, to: number): number {
  const end = text.slice(start, to).indexOf("\n");
  return end === -1 ? to : start + end;
}

/** What is seen: a part of a text, the marks in it and what they stand for. */
interface Seen {
  readonly from: number;
  readonly end: number;
  readonly marks: RegExp;
  readonly decode: Shape["decode"];
}

function findIn(text: string, seen: Seen, table: TriggerTable): readonly Finding[] {
  const part = text.slice(seen.from, seen.end);
  const { decode } = seen;
  const found = scanView(
    table,
    decode ? part.replace(seen.marks, (mark) => decode(mark)) : part.replace(seen.marks, ""),
  );
  if (found.length === 0) return found;
  const { begins, ends } = placesOf(part, seen);
  return found.flatMap(({ start, end, ...finding }) => {
    const from = begins[start];
    const to = ends[end - 1];
    return from === undefined || to === undefined ? [] : [{ ...finding, start: from, end: to }];
  });
}

/** By character of what is seen: where it begins and ends in the text. */
function placesOf(part: string, { from, marks, decode }: Seen): { readonly begins: number[]; readonly ends: number[] } {
  const begins: number[] = [];
  const ends: number[] = [];
  let at = 0;
  const copy = (to: number) => {
    for (; at < to; at += 1) {
      begins.push(from + at);
      ends.push(from + at + 1);
    }
  };
  for (const { 0: mark, index } of part.matchAll(marks)) {
    copy(index);
    at = index + mark.length;
    if (!decode) continue;
    begins.push(from + index);
    ends.push(from + at);
  }
  copy(part.length);
  return { begins, ends };
}
