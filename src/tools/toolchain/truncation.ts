/**
 * Truncates the output of tests and linters to the lines that a strategy picks.
 *
 * It also says how many lines were left out, and is pure.
 *
 * INVARIANT: shown lines stand in the order of the output and as they were but for their length. Every line is shown or
 * counted.
 */
import { z } from "zod";

import type { ExecOutput } from "../../model/work/exec.ts";
import { OUTPUT_SHOWN_CHARACTERS_MAX, roomOfStreams, type Streams } from "../kit/shown-output.ts";
import { looksLikeFailure } from "./failure-lines.ts";

/** Lines of one stream that a call may ask for. */
const OUTPUT_LINES_MAX = 5000;
/** Characters of one line of output that are shown: the rest of a line helps nobody. */
export const OUTPUT_LINE_CHARACTERS_MAX = 2000;

/** Which lines to show: the first, the last, both, or those that look like failures with what stands around them. */
export interface TruncationStrategy {
  readonly kind: "HEAD" | "TAIL" | "HEAD_TAIL" | "ERRORS";
  readonly lines: number;
}

const STRATEGY = /^(HEAD|TAIL|HEAD_TAIL|ERRORS):([1-9][0-9]{0,3})$/;

/** The argument `truncation_strategy`. */
export const truncationStrategy = z
  .string()
  .refine((text) => linesOf(text) <= OUTPUT_LINES_MAX, {
    params: { rule: "format" },
    message: `must be HEAD, TAIL, HEAD_TAIL or ERRORS, a colon and a number of lines from 1 to ${OUTPUT_LINES_MAX}, as in \`ERRORS:100\``,
  })
  .meta({
    description:
      "Which lines of each output stream to show: `HEAD:n` the first n, `TAIL:n` the last n, `HEAD_TAIL:n` n of each end, `ERRORS:n` up to n that " +
      "look like failures, with lines around them and the end. Default: `ERRORS:200` when it failed, else `TAIL:40`.",
    pattern: STRATEGY.source,
  });

function linesOf(text: string): number {
  return Number(STRATEGY.exec(text)?.[2] ?? Number.POSITIVE_INFINITY);
}

/** The strategy that `text`, which fits the schema, names; without it the one that suits what came of the run. */
export function strategyOf(text: string | undefined, passed: boolean): TruncationStrategy {
  const found = STRATEGY.exec(text ?? "");
  if (!found) return passed ? { kind: "TAIL", lines: 40 } : { kind: "ERRORS", lines: 200 };
  return { kind: found[1] as TruncationStrategy["kind"], lines: Number(found[2]) };
}

/** What is shown of one stream. */
export interface ShownOutput {
  readonly text: string;
  /** Lines that were kept and are not shown. */
  readonly omittedLines: number;
  /** Bytes that were not even kept; a lot of output has a middle that nobody looked at. */
  readonly omittedBytes: number;
}

/** The lines of both streams that `strategy` picks, as far as there is room for them together. */
export function truncatedStreams(outputs: Streams<ExecOutput>, strategy: TruncationStrategy): Streams<ShownOutput> {
  const [stdout, stderr] = [truncated(outputs.stdout, strategy), truncated(outputs.stderr, strategy)];
  const room = roomOfStreams({ stdout: stdout.text.length, stderr: stderr.text.length });
  return {
    stdout: stdout.text.length <= room.stdout ? stdout : truncated(outputs.stdout, strategy, room.stdout),
    stderr: stderr.text.length <= room.stderr ? stderr : truncated(outputs.stderr, strategy, room.stderr),
  };
}

/** The lines of `output` that `strategy` picks. @param room for characters */
export function truncated(
  { head, tail, omittedBytes }: ExecOutput,
  strategy: TruncationStrategy,
  room = OUTPUT_SHOWN_CHARACTERS_MAX,
): ShownOutput {
  const before = linesIn(head);
  const lines = omittedBytes === 0 ? linesIn(head + tail) : [...before, ...linesIn(tail)];
  const picked = pick(lines, strategy, room);
  return {
    text: rendered(lines, picked, omittedBytes === 0 ? undefined : { at: before.length, bytes: omittedBytes }),
    omittedLines: lines.length - picked.size,
    omittedBytes,
  };
}

function linesIn(text: string): readonly string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/** Takes lines in the order of their worth, as many as the strategy and the room for characters have place for. */
function pick(lines: readonly string[], strategy: TruncationStrategy, characters: number): ReadonlySet<number> {
  const most = strategy.kind === "HEAD_TAIL" ? strategy.lines * 2 : strategy.lines;
  const picked = new Set<number>();
  let room = characters;
  for (const index of byWorth(lines, strategy)) {
    if (picked.size >= most) break;
    if (index < 0 || index >= lines.length || picked.has(index)) continue;
    room -= Math.min(lines[index]?.length ?? 0, OUTPUT_LINE_CHARACTERS_MAX) + 1;
    if (room < 0) break;
    picked.add(index);
  }
  return picked;
}

function* byWorth(lines: readonly string[], { kind, lines: wanted }: TruncationStrategy): Generator<number> {
  const last = lines.length - 1;
  if (kind === "ERRORS") {
    // what sums a run up stands at its end
    for (let back = 0; back < Math.min(CLOSING_LINES, Math.ceil(wanted / 4)); back += 1) yield last - back;
    yield* failures(lines);
  } else {
    for (let step = 0; step < Math.min(wanted, lines.length); step += 1) {
      if (kind !== "TAIL") yield step;
      if (kind !== "HEAD") yield last - step;
    }
  }
}

const CLOSING_LINES = 10;
const LINES_BEFORE = 2;
const LINES_AFTER = 8;

/** Lines that look like failures, each with those around it; where none does, the end is what there is to see. */
function* failures(lines: readonly string[]): Generator<number> {
  let any = false;
  for (const [index, line] of lines.entries()) {
    if (!looksLikeFailure(line)) continue;
    any = true;
    for (let near = index - LINES_BEFORE; near <= index + LINES_AFTER; near += 1) yield near;
  }
  if (any) return;
  for (let index = lines.length - 1; index >= 0; index -= 1) yield index;
}

/** The picked lines, with a word wherever others are missing between them. */
function rendered(
  lines: readonly string[],
  picked: ReadonlySet<number>,
  gap: { readonly at: number; readonly bytes: number } | undefined,
): string {
  const shown: string[] = [];
  let missing = 0;
  const tell = () => {
    if (missing > 0) shown.push(`… (${missing} ${missing === 1 ? "line" : "lines"} left out) …`);
    missing = 0;
  };
  for (const [index, line] of lines.entries()) {
    if (index === gap?.at) {
      tell();
      shown.push(`… (${gap.bytes} bytes left out) …`);
    }
    if (!picked.has(index)) {
      missing += 1;
      continue;
    }
    tell();
    shown.push(shortened(line));
  }
  tell();
  return shown.join("\n");
}

function shortened(line: string): string {
  if (line.length <= OUTPUT_LINE_CHARACTERS_MAX) return line;
  const left = line.length - OUTPUT_LINE_CHARACTERS_MAX;
  return `${line.slice(0, OUTPUT_LINE_CHARACTERS_MAX).toWellFormed()}… (${left} characters left out)`;
}
