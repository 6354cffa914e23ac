/** The time that redaction takes, as a factor of plain text of the same length in the same run. */
import type { Redactor } from "../../src/redact/redact.ts";

// A comment with names and values, as code and logs have them.
const PLAIN_LINE = 'const timeout = settings.get("timeout"); // token: none, password: "changeme", see config\n';
const PLAIN_CHARACTERS = 262_144;
const RUNS_MAX = 6;

const PLAIN = PLAIN_LINE.repeat(Math.ceil(PLAIN_CHARACTERS / PLAIN_LINE.length));

/** What a character of plain text took at best so far. */
const plain = new WeakMap<Redactor, number>();

/** Milliseconds of this thread's processor that one search takes. */
function milliseconds(redactor: Redactor, text: string): number {
  const before = process.threadCpuUsage();
  redactor.find(text);
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}

/** The same for a character of plain text: the least of some runs, because others can only make it longer. */
function plainPerCharacter(redactor: Redactor): number {
  const known = plain.get(redactor);
  if (known !== undefined) return known;
  const least = Math.min(...Array.from({ length: RUNS_MAX }, () => plainNow(redactor)));
  plain.set(redactor, least);
  return least;
}

/**
 * How often the time of plain text `text` takes; measured again, up to some times, while it is `most` or more. Then
 * plain text is measured before and after it each time: a processor that is shared may be slower by now.
 */
export function timesOfPlain(redactor: Redactor, text: string, most: number): number {
  let least = milliseconds(redactor, text) / (plainPerCharacter(redactor) * text.length);
  for (let run = 1; run < RUNS_MAX && least >= most; run += 1) {
    const before = plainNow(redactor);
    const took = milliseconds(redactor, text);
    least = Math.min(least, took / (Math.max(before, plainNow(redactor)) * text.length));
  }
  return least;
}

/** Milliseconds of a character of plain text at this moment. */
function plainNow(redactor: Redactor): number {
  return milliseconds(redactor, PLAIN) / PLAIN.length;
}
