/**
 * Understands what people type: durations, budgets, numbers, JSON arguments and standard input.
 *
 * Every mistake is answered with what to type instead.
 */
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { userInfo } from "node:os";
import { createInterface } from "node:readline/promises";
import { textOf } from "../../base/bytes.ts";
import { errorCode, KernelError, usageError } from "../../base/errors.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.ts";
import { parseJson } from "../../base/json-parse.ts";
import { LINE_BYTES_MAX } from "../../base/limits.ts";
import type { LeaseBudget } from "../../model/people/lease.ts";
import { parseBudget } from "../../model/spending/budget-text.ts";
import { jsonFault } from "../../text/json-fault.ts";
import { visible } from "./output.ts";

const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Milliseconds of `15m`, `8h`, `30s`, `2d`. */
export function parseDuration(text: string): number {
  const match = /^(\d{1,6})([smhd])$/.exec(text);
  if (!match) throw usageError(`\`${text}\` is not a duration; write a number and a unit, such as 30s, 15m, 8h or 2d`);
  return Number(match[1]) * (UNITS[match[2] ?? ""] ?? 0);
}

/** A budget such as `calls=100,duration=10m`. */
export function budgetOption(text: string): LeaseBudget {
  const parsed = parseBudget(text);
  if (parsed.ok) return parsed.budget;
  throw usageError(`the budget cannot be used: ${parsed.problem}`);
}

/** A whole number from 1 on. */
export function wholeNumber(text: string, what: string): number {
  if (/^[1-9]\d{0,15}$/.test(text)) return Number(text);
  throw usageError(`${what} must be a whole number from 1, not \`${text}\``);
}

/** A JSON value from the command line; what is none is shown where it stops being one. */
export function parseJsonValue(text: string, what: string): JsonValue {
  const parsed = parseJson(text);
  if (parsed.ok) return parsed.value;
  const where = jsonFault(text);
  throw usageError(`${what} cannot be used: ${parsed.problem}${where === undefined ? "" : ` at ${where}`}`);
}

/** A JSON object from the command line. */
export function parseJsonObject(text: string, what: string): JsonObject {
  const value = parseJsonValue(text, what);
  if (!isJsonObject(value)) throw usageError(`${what} must be a JSON object, such as '{"path":"README.md"}'`);
  return value;
}

/** The text of a file that an argument names, or of standard input (`-`). @throws KernelError USAGE */
export async function readTextFile(path: string): Promise<string> {
  const bytes = path === "-" ? await readStandardInput(LINE_BYTES_MAX) : await readArgumentFile(path);
  const text = textOf(bytes);
  if (text === undefined) throw usageError(`\`${visible(path)}\` is not UTF-8 text; give another file`);
  return text;
}

async function readArgumentFile(path: string): Promise<Buffer> {
  try {
    // A FIFO without a writer would keep `open` waiting for ever.
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const about = await file.stat();
      if (!about.isFile()) throw usageError(`\`${visible(path)}\` is no file; name one behind the @`);
      if (about.size > LINE_BYTES_MAX) throw usageError(`\`${visible(path)}\` has more than ${LINE_BYTES_MAX} bytes`);
      return await file.readFile();
    } finally {
      await file.close();
    }
  } catch (error) {
    if (error instanceof KernelError) throw error;
    throw usageError(`\`${visible(path)}\` cannot be read (${errorCode(error)}); name a file behind the @`, error);
  }
}

/** All of standard input, bounded. */
export async function readStandardInput(bytesMax: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of process.stdin) {
    size += (piece as Buffer).length;
    if (size > bytesMax) throw usageError(`standard input has more than ${bytesMax} bytes`);
    pieces.push(piece as Buffer);
  }
  return Buffer.concat(pieces);
}

/** The name of the user who runs the command, for evidence. */
export function currentUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid:${process.geteuid?.() ?? "unknown"}`;
  }
}

/**
 * Whether the person at the terminal says yes; where there is none, whoever runs the command has said so by that.
 * @param signal ends the question, with its error
 */
export async function confirms(question: string, answer = /^y(es)?$/i, signal?: AbortSignal): Promise<boolean> {
  if (!process.stdin.isTTY) return true;
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    if (signal === undefined) return answer.test((await lines.question(question)).trim());
    lines.once("SIGINT", () => process.kill(process.pid, "SIGINT")); // the terminal sends it as a character
    return answer.test((await lines.question(question, { signal })).trim());
  } finally {
    lines.close();
  }
}

/** A time in milliseconds since the Unix epoch: a duration before now, or a date. @throws KernelError USAGE */
export function timeOf(text: string): number {
  if (/^\d+[smhd]$/.test(text)) return Date.now() - parseDuration(text);
  const time = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(time)) return time;
  throw usageError(`\`${text}\` is no time; write a duration such as 2h, or a date such as 2026-03-01T12:00:00Z`);
}
