/**
 * Prints the command line's data on standard output and words about it on standard error.
 *
 * With `--json` every line has one shape, which is that of a tool's result: `status` (`success` or `error`), then
 * `data` or `error` or both. Text that agents chose is escaped, so it cannot move the cursor or reorder what is read.
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

/** The one shape of a line of JSON. A tool's result has `metadata` as well. */
type Shaped =
  | { readonly status: "success"; readonly data: JsonValue | object; readonly metadata?: object }
  | {
      readonly status: "error";
      readonly error: Problem;
      readonly data?: JsonValue | object;
      readonly metadata?: object;
    };

/** Why a command does not end with exit code 0; `code` is upper case, `message` says what to do. */
export interface Problem {
  readonly code: string;
  readonly message: string;
}

/** The problem of checks of which `count` failed, or none. */
export function failedChecks(count: number, what: string): Problem | undefined {
  return count === 0
    ? undefined
    : { code: "CHECK_FAILED", message: `${count} ${count === 1 ? "check" : "checks"} ${what} failed` };
}

/** Writes what a command found as one line of JSON; with the problem, where its exit code is not 0. */
export function printJson(data: JsonValue | object, problem?: Problem): void {
  printShaped(problem === undefined ? { status: "success", data } : { status: "error", error: problem, data });
}

/** Writes one line of JSON about what kept a command from finding anything. */
export function printProblem(problem: Problem): void {
  printShaped({ status: "error", error: problem });
}

/** Writes one line of JSON that has the shape already: the result of a call. */
export function printShaped(line: Shaped): void {
  process.stdout.write(lineOf(line));
}

/** Writes one line of JSON of a format that others have laid down, such as SARIF. */
export function printForeignJson(data: object): void {
  process.stdout.write(`${printableJson(data)}\n`);
}

/** The line of JSON that `printJson` writes, for what is written piece by piece. */
export function jsonLine(data: JsonValue | object): string {
  return lineOf({ status: "success", data });
}

function lineOf(line: Shaped): string {
  return `${printableJson(line)}\n`;
}

/** `text` as a part of one line: control characters and bidirectional controls, line feeds too, are shown by number. */
export const visible: (text: string) => string = withoutBreaks;

/** A recorded fact as a word of a line: a text as it is, a list by its members, an object by its members and names. */
export function wordOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map(wordOf).join(",");
  if (typeof value !== "object" || value === null) return String(value);
  return Object.entries(value)
    .map(([name, member]) => `${name}=${wordOf(member)}`)
    .join(",");
}

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
