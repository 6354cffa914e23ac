/**
 * Prints the command line's data on standard output and words about it on standard error.
 *
 * With `--json` every answer is one line of JSON. Text that agents chose is escaped, so it cannot move the cursor or
 * reorder what is read.
 */
import type { JsonValue } from "../../base/json.ts";
import { printableJson, withoutBreaks, withoutControls } from "../../text/foreign-text.ts";

/** Writes lines to standard output; what a terminal would obey in them is shown by number. */
export function print(text: string): void {
  process.stdout.write(`${withoutControls(text)}\n`);
}

/** Writes a row that was made for a terminal: its foreign text is visible already, and its colours are meant. */
export function printRow(row: string): void {
  process.stdout.write(`${row}\n`);
}

/** Writes lines to standard error, as `print` does. */
export function say(text: string): void {
  process.stderr.write(`${withoutControls(text)}\n`);
}

/** Writes a value as one line of JSON. */
export function printJson(value: JsonValue | object): void {
  process.stdout.write(`${printableJson(value)}\n`);
}

/** `text` as a part of one line: control characters and bidirectional controls, line feeds too, are shown by number. */
export const visible: (text: string) => string = withoutBreaks;

/** Rows as aligned columns; the first row is the heading. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows)
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, cell.length);
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
