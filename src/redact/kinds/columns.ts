/**
 * Reads tables whose header alone says which column holds secrets: CSV, cells between tabs, semicolons or bars.
 *
 * A header is a line of names of which one promises a secret. The lines below belong to it as long as they have as many
 * cells. It is pure and bounded: a line is looked at once, and the next header ends a table.
 */
import type { Finding, NamedJudges, ValueJudge } from "../search/finding.ts";
import { MATCHER_BEHIND_MAX, type OpenedText } from "../search/matcher.ts";

/** Characters from a keyword to the end of its header; before it there are `MATCHER_BEHIND_MAX`. */
export const HEADER_REACH = 512;
/** Characters of a row: longer ones are data. */
const ROW_CHARACTERS_MAX = 8192;
const COLUMNS_MAX = 64;

/** What can stand behind a name that is a cell of a header. */
const AFTER_NAME = /[\w .:/#-]{0,48}["'`]?[ \t]{0,48}(?:[,;|\t\r\n]|$)/y;
const NAME = /^[A-Za-z_][\w .:/#-]{0,63}$/;
/** The line between the names and the rows, as Markdown and databases draw it. */
const RULE = /^[\s|+:=-]*$/;

/** A cell without the quotes and spaces around it, and where it begins in its line. */
interface Cell {
  readonly text: string;
  readonly start: number;
}

/** A table that is being read. */
interface Table {
  readonly separator: string;
  readonly cells: number;
  /** By the place of a column: the judge of its values. */
  readonly judges: ReadonlyMap<number, ValueJudge>;
}

/**
 * The table whose header's first name that promises something holds the keyword from `start` up to `end`.
 * @param judgeOf judges values by the name of their column
 */
export function openTable(
  text: string,
  { start, end }: { readonly start: number; readonly end: number },
  judgeOf: NamedJudges,
): OpenedText | undefined {
  AFTER_NAME.lastIndex = end;
  if (!AFTER_NAME.test(text)) return undefined;
  const before = text.slice(Math.max(0, start - MATCHER_BEHIND_MAX), start);
  const feed = before.lastIndexOf("\n");
  if (feed === -1 && start >= MATCHER_BEHIND_MAX) return undefined;
  const from = start - before.length + feed + 1;
  const to = endOfLine(text, start, HEADER_REACH);
  if (to === undefined) return undefined;
  const table = headerOf(text.slice(from, to), judgeOf, start - from);
  return table && { from: to + 1, read: (all, part) => readRows(all, part, (line) => secretsOf(table, judgeOf, line)) };
}

/** @param keywordAt where the keyword stands in the line, if one is asked for */
function headerOf(line: string, judgeOf: NamedJudges, keywordAt?: number): Table | undefined {
  const separator = ["|", "\t", ";", ","].find((one) => line.includes(one));
  if (separator === undefined) return undefined;
  const cells = cellsOf(line, separator);
  if (cells === undefined || cells.length < 2 || !cells.every(({ text }) => NAME.test(text))) return undefined;
  const judges = new Map<number, ValueJudge>();
  for (const [column, { text }] of cells.entries()) {
    const judge = judgeOf(text);
    if (judge) judges.set(column, judge);
  }
  const [first] = [...judges.keys()].flatMap((column) => cells[column] ?? []);
  if (first === undefined) return undefined;
  // once for each header, whatever keywords it has
  const isFirst = keywordAt === undefined || (keywordAt >= first.start && keywordAt < first.start + first.text.length);
  return isFirst ? { separator, cells: cells.length, judges } : undefined;
}

/** The rows that begin from `from` up to before `until` and have come whole. */
function readRows(
  text: string,
  { from, until, isWhole }: Parameters<OpenedText["read"]>[1],
  secretsIn: (line: string) => readonly Finding[] | undefined,
): ReturnType<OpenedText["read"]> {
  const found: Finding[] = [];
  let at = from;
  while (at < until) {
    const to = endOfLine(text, at, ROW_CHARACTERS_MAX);
    if (to === undefined) return { found };
    if (to === text.length && !isWhole) return { found, from: at };
    const line = text.slice(at, to);
    if (!RULE.test(line)) {
      const secrets = secretsIn(line);
      if (secrets === undefined) return { found };
      for (const { start, end, ...secret } of secrets) found.push({ ...secret, start: at + start, end: at + end });
    } else if (line.trim() === "") return { found };
    at = to + 1;
  }
  return at > text.length ? { found } : { found, from: at };
}

/** The secrets of a row; `undefined` where the line is none of the table's. */
function secretsOf({ separator, cells, judges }: Table, judgeOf: NamedJudges, line: string) {
  if (!line.includes(separator)) return undefined;
  const row = cellsOf(line, separator);
  if (row?.length !== cells) return undefined;
  const secrets: Finding[] = [];
  let isName = true;
  for (const [column, judge] of judges) {
    const { text, start } = row[column] ?? { text: "", start: 0 };
    isName &&= judgeOf(text) !== undefined;
    const secret = judge(text);
    if (secret) secrets.push({ ...secret, start: start + secret.start, end: start + secret.end });
  }
  // names where secrets would be are the header of the next table
  return isName && headerOf(line, judgeOf) !== undefined ? undefined : secrets;
}

/** Where the line at `from` ends; `undefined` if it is longer than `max`. */
function endOfLine(text: string, from: number, max: number): number | undefined {
  for (let at = from; at <= from + max; at += 1) if (at >= text.length || text.charCodeAt(at) === 10) return at;
  return undefined;
}

/** A cell with what separates it from the next one, by the separator; in quotes a cell has any characters. */
const CELLS: ReadonlyMap<string, RegExp> = new Map([
  ["|", /([^|]*)(\||$)/y],
  ["\t", /("(?:[^"]|"")*"|[^\t]*)(\t|$)/y],
  [";", /([ \t]*"(?:[^"]|"")*"[ \t]*|[^;]*)(;|$)/y],
  [",", /([ \t]*"(?:[^"]|"")*"[ \t]*|[^,]*)(,|$)/y],
]);

/** The cells of a line; bars at its ends are its frame. */
function cellsOf(line: string, separator: string): readonly Cell[] | undefined {
  const one = CELLS.get(separator);
  if (one === undefined) return undefined;
  const isFramed = separator === "|" && line.trimStart().startsWith("|");
  const whole = isFramed ? line.trimEnd().replace(/\|$/, "") : line;
  const cells: Cell[] = [];
  for (let at = isFramed ? line.indexOf("|") + 1 : 0; ; at = one.lastIndex) {
    one.lastIndex = at;
    const [, text = "", end] = one.exec(whole) ?? [];
    if (cells.length >= COLUMNS_MAX) return undefined;
    cells.push(cellOf(text, at));
    if (end !== separator) return cells;
  }
}

function cellOf(text: string, at: number): Cell {
  const inner = text.replace(/^[\s"'`]+/, "");
  return { text: inner.replace(/[\s"'`]+$/, ""), start: at + text.length - inner.length };
}
