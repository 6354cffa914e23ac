/**
 * Shows the kept ends of a command's output, redacted.
 *
 * They are redacted as part of what was kept around them, so no cut hides a secret.
 */
import { REDACTION_MARGIN_CHARACTERS } from "../../base/limits.ts";
import type { ProgressListener } from "../../model/outcome/progress.ts";
import type { ExecOutput } from "../../model/work/exec.ts";
import { CapturedOutput } from "../../sandbox/run/captured-output.ts";
import type { CallRedaction } from "./redaction.ts";

/** The output of one command while it runs, and what is shown of it afterwards. */
export class ShownOutput {
  readonly #keptBytes: number;
  readonly #stdout: CapturedOutput;
  readonly #stderr: CapturedOutput;
  /** Take the pieces of the streams as they come, and report them. */
  readonly takers: { readonly stdout: (bytes: Uint8Array) => void; readonly stderr: (bytes: Uint8Array) => void };

  /** @param keptBytes of each end of each stream */
  constructor(keptBytes: number, report: ProgressListener) {
    this.#keptBytes = keptBytes;
    this.#stdout = new CapturedOutput(keptBytes + REDACTION_MARGIN_CHARACTERS);
    this.#stderr = new CapturedOutput(keptBytes + REDACTION_MARGIN_CHARACTERS);
    const taker = (stream: "stdout" | "stderr", kept: CapturedOutput) => (bytes: Uint8Array) => {
      kept.push(bytes);
      report({ kind: "output", stream, bytes });
    };
    this.takers = { stdout: taker("stdout", this.#stdout), stderr: taker("stderr", this.#stderr) };
  }

  /** Both streams, redacted. */
  shown(redaction: CallRedaction): { readonly stdout: ExecOutput; readonly stderr: ExecOutput } {
    return {
      stdout: shown(this.#stdout, this.#keptBytes, redaction),
      stderr: shown(this.#stderr, this.#keptBytes, redaction),
    };
  }
}

/** The kept ends of a stream, redacted as part of what was kept around them. */
function shown(output: CapturedOutput, keptBytes: number, redaction: CallRedaction): ExecOutput {
  const { head, tail, omittedBytes, totalBytes } = output.parts();
  const text = (bytes: Uint8Array, start: number, end: number): string => {
    const [from, to] = [atCharacter(bytes, start), atCharacter(bytes, end)];
    return Buffer.from(redaction.bytes(bytes, { start: from, end: to })).toString("utf8");
  };
  if (omittedBytes > 0) {
    const start = tail.length - keptBytes;
    const left = totalBytes - 2 * keptBytes;
    return { head: text(head, 0, keptBytes), tail: text(tail, start, tail.length), omittedBytes: left, totalBytes };
  }
  const whole = Buffer.concat([head, tail]);
  if (whole.length <= 2 * keptBytes)
    return { head: text(whole, 0, whole.length), tail: "", omittedBytes: 0, totalBytes };
  const start = whole.length - keptBytes;
  return {
    head: text(whole, 0, keptBytes),
    tail: text(whole, start, whole.length),
    omittedBytes: start - keptBytes,
    totalBytes,
  };
}

/** The beginning of the character at `index`, so that none is cut in two. */
function atCharacter(bytes: Uint8Array, index: number): number {
  let at = index;
  while (at > 0 && at < bytes.length && index - at < 4 && ((bytes[at] ?? 0) & 0xc0) === 0x80) at -= 1;
  return at;
}
