/**
 * Lines of a prompt as rows of a screen. Pure.
 *
 * INVARIANTS: no row is wider than the screen, so that no terminal breaks one by itself; every row of the agent's text
 * begins with `│ ` or, where it goes on, `┆ `, and no row of the kernel's does; nothing but `ansi` adds a control
 * character, and it adds whole sequences around text that holds none.
 */
import type { PromptLine } from "./prompt-lines.ts";

/** Columns that a screen has at least, and those that are taken when nobody knows. */
export const PROMPT_COLUMNS_MIN = 20;
/** The same where nobody knows the screen. */
export const PROMPT_COLUMNS_DEFAULT = 80;

/** A row, and what it is, for whoever colours it. */
export interface PromptRow {
  readonly line: PromptLine;
  readonly text: string;
}

/** The rows of `lines` on a screen of `columns`. */
export function promptRows(
  lines: readonly PromptLine[],
  columns: number = PROMPT_COLUMNS_DEFAULT,
): readonly PromptRow[] {
  const width = Math.max(PROMPT_COLUMNS_MIN, columns);
  return lines.flatMap((line) => {
    const [first, next] = prefixes(line);
    const pieces =
      line.by === "kernel" ? wrapped(line.text, width - first.length) : broken(line.text, width - first.length);
    return pieces.map((text, index) => ({ line, text: (index === 0 ? first : next) + text }));
  });
}

/** The rows with colours; a screen without them shows the same text. */
export function ansi({ line, text }: PromptRow): string {
  const code = COLOURS[line.kind];
  return code === undefined ? text : `\u001b[${code}m${text}\u001b[0m`;
}

const COLOURS: Partial<Readonly<Record<PromptLine["kind"], string>>> = {
  title: "1",
  heading: "1",
  warning: "33",
  added: "32",
  removed: "31",
};

/** What the first row of a line begins with, and every further one; of equal length. */
function prefixes({ by, kind }: PromptLine): readonly [string, string] {
  if (by === "agent") return ["│ ", "┆ "];
  if (kind === "title") return ["", ""];
  if (kind === "warning") return ["! ", "! "];
  return kind === "heading" ? ["# ", "# "] : ["  ", "  "];
}

/** The same for text of the kernel, which goes on in the next row with a word where it can. */
function wrapped(text: string, width: number): readonly string[] {
  const rows: string[] = [];
  let row = "";
  for (const word of text.split(" ")) {
    const longer = row === "" ? word : `${row} ${word}`;
    if (broken(longer, width).length === 1) {
      row = longer;
      continue;
    }
    if (row !== "") rows.push(row);
    const pieces = broken(word, width);
    rows.push(...pieces.slice(0, -1));
    row = pieces.at(-1) ?? "";
  }
  return [...rows, row];
}

/** `text` in pieces of at most `width` columns; at least one. */
function broken(text: string, width: number): readonly string[] {
  const pieces: string[] = [];
  let piece = "";
  let taken = 0;
  for (const [cluster] of text.matchAll(CLUSTER)) {
    const columns = columnsOf(cluster);
    if (taken + columns > width) {
      pieces.push(piece);
      piece = "";
      taken = 0;
    }
    piece += cluster;
    taken += columns;
  }
  return [...pieces, piece];
}

/** A character and the marks upon it, which must not come to stand upon another one. */
const CLUSTER = /\P{M}\p{M}{0,2}|\p{M}/gu;

/** Columns that a character takes at most: terminals differ, and too many only break a row early. */
function columnsOf(cluster: string): number {
  return cluster.length === 1 && cluster >= " " && cluster <= "~" ? 1 : 2 * [...cluster].length;
}
