/**
 * How the command line speaks: data on standard output, words about it on standard error. With `--json` every answer is
 * one line of JSON. Text that agents chose is escaped, so that it cannot move the cursor or reorder what is read.
 */
import type { JsonValue } from "../base/json.ts";

/** Writes one line to standard output. */
export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Writes one line to standard error. */
export function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** Writes a value as one line of JSON. */
export function printJson(value: JsonValue | object): void {
  print(JSON.stringify(value));
}

/** `text` with control characters and bidirectional controls made visible. */
export function visible(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}

/** Rows as aligned columns; the first row is the heading. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, cell.length);
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
