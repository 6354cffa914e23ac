/**
 * Shares the room for a command's output among its two streams, and cuts both to it.
 *
 * Of what does not fit, beginning and end are shown and the rest is counted. Characters are Unicode code points.
 */
import type { ExecOutput } from "../../model/work/exec.ts";

/** Characters of output that are shown of one command, both streams together. */
export const OUTPUT_SHOWN_CHARACTERS_MAX = 100_000;

/** A value for each stream. */
export interface Streams<T> {
  readonly stdout: T;
  readonly stderr: T;
}

/** The room of each stream that has so many characters: half of all, and what the other leaves of its half. */
export function roomOfStreams({ stdout, stderr }: Streams<number>): Streams<number> {
  const half = OUTPUT_SHOWN_CHARACTERS_MAX / 2;
  const beside = (other: number) => Math.max(half, OUTPUT_SHOWN_CHARACTERS_MAX - other);
  return { stdout: beside(stderr), stderr: beside(stdout) };
}

/** Both streams, cut to what is shown of them. */
export function shownStreams({ stdout, stderr }: Streams<ExecOutput>): Streams<ExecOutput> {
  const room = roomOfStreams({ stdout: charactersIn(stdout), stderr: charactersIn(stderr) });
  return { stdout: cut(stdout, room.stdout), stderr: cut(stderr, room.stderr) };
}

/** A stream as one text, in which what was left out is counted. */
export function shownText({ head, tail, omittedBytes }: ExecOutput): string {
  return omittedBytes === 0 ? head + tail : `${head}\n… (${omittedBytes} bytes left out) …\n${tail}`;
}

function charactersIn({ head, tail }: ExecOutput): number {
  return characterCount(head) + characterCount(tail);
}

function cut(output: ExecOutput, room: number): ExecOutput {
  if (charactersIn(output) <= room) return output;
  const whole = output.omittedBytes === 0 ? output.head + output.tail : undefined;
  const half = Math.floor(room / 2);
  const head = (whole ?? output.head).slice(0, indexFromStart(whole ?? output.head, half));
  const end = whole ?? output.tail;
  const tail = end.slice(indexFromEnd(end, room - characterCount(head)));
  const left = Buffer.byteLength(whole ?? output.head + output.tail) - Buffer.byteLength(head + tail);
  return { ...output, head, tail, omittedBytes: output.omittedBytes + left };
}

function characterCount(text: string): number {
  let count = 0;
  for (let index = 0; index < text.length; index += 1) {
    if (isPair(text, index)) index += 1;
    count += 1;
  }
  return count;
}

/** Where the first `count` characters end. */
function indexFromStart(text: string, count: number): number {
  let index = 0;
  for (let taken = 0; taken < count && index < text.length; taken += 1) index += isPair(text, index) ? 2 : 1;
  return index;
}

/** Where the last `count` characters begin. */
function indexFromEnd(text: string, count: number): number {
  let index = text.length;
  for (let taken = 0; taken < count && index > 0; taken += 1) index -= isPair(text, index - 2) ? 2 : 1;
  return index;
}

/** Whether one character stands at `index` as two units. */
function isPair(text: string, index: number): boolean {
  return (text.codePointAt(index) ?? 0) > 0xffff;
}
