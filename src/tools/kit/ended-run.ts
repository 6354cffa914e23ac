/**
 * Fails the call of a command that was ended because of its time or its output.
 *
 * The failure says what the command wrote last, and what stands of its changes.
 */
import { ToolFailure } from "../../model/outcome/failure.ts";
import type { ExecOutcome, ExecOutput } from "../../model/work/exec.ts";

/** Characters of the end of each stream that the failure repeats: both fit what is shown of a failure's text. */
const LAST_WORDS_CHARACTERS_MAX = 1500;

const LESS_OUTPUT = "have it write less, or into a file of the workspace, and read the part that matters";

/** @throws ToolFailure TIMEOUT, OUTPUT_LIMIT. @param moreTime how the caller gets more time */
export function requireWithinBounds(outcome: ExecOutcome, moreTime: string): void {
  const { endedBy, durationMs, stdout, stderr } = outcome;
  if (endedBy === "timeout")
    throw new ToolFailure(
      "TIMEOUT",
      `the command was ended after ${Math.round(durationMs / 100) / 10} s, because its time was over${standing(outcome)}`,
      moreTime,
    );
  if (endedBy === "output")
    throw new ToolFailure(
      "OUTPUT_LIMIT",
      `the command was ended after ${stdout.totalBytes + stderr.totalBytes} bytes of output, more than it may write${standing(outcome)}`,
      LESS_OUTPUT,
    );
}

/** What stands of the command: its changes, and its last words. */
function standing({ landed, stdout, stderr }: ExecOutcome): string {
  const { created = 0, changed = 0, removed = 0, notKept = [] } = landed ?? {};
  const files =
    created + changed + removed === 0
      ? ""
      : `; what it did to files until then stands (${created} created, ${changed} changed, ${removed} removed)`;
  const dropped = notKept.length === 0 ? "" : `; ${notKept.length} changes were not kept`;
  return `${files}${dropped}${lastWords("stdout", stdout)}${lastWords("stderr", stderr)}`;
}

function lastWords(name: string, { head, tail }: ExecOutput): string {
  const text = (tail === "" ? head : tail).trimEnd();
  if (text === "") return "";
  const last = text.length <= LAST_WORDS_CHARACTERS_MAX ? text : `…${text.slice(-LAST_WORDS_CHARACTERS_MAX)}`;
  return `\nend of ${name}:\n${last.toWellFormed()}`;
}
