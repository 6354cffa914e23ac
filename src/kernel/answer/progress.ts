/**
 * Reports of a running tool on their way to whoever wants them.
 *
 * They leave before the call's outcome is recorded. INVARIANT: words and output leave only from a call whose durable
 * intent stands; a call that only reads has no record yet, and shows bare numbers. Everything is redacted and bounded,
 * nothing leaves once the tool has ended, and a listener that fails does not disturb the call.
 */
import { KIB, MIB } from "../../base/bytes.ts";
import type { ProgressListener, ProgressReport } from "../../model/outcome/progress.ts";
import type { ByteRedactionStream } from "../../redact/redact.ts";
import type { KernelParts } from "../call/parts.ts";
import type { Running } from "../call/stages.ts";
import type { CallRedaction } from "../redaction/redaction.ts";

/** Milliseconds between two reports of how far a tool is; those between are dropped, as nobody can read more. */
export const PROGRESS_INTERVAL_MS = 20;
/** Characters (UTF-16 code units) of the words in such a report. */
export const PROGRESS_MESSAGE_CHARACTERS_MAX = 1000;
/** Bytes of a running tool's output that are shown while it runs; the result has what matters. */
export const PROGRESS_OUTPUT_BYTES_MAX = 16 * MIB;
/** Bytes of one piece of such output. */
export const PROGRESS_OUTPUT_CHUNK_BYTES = 64 * KIB;

type Step = Extract<ProgressReport, { kind: "progress" }>;
type Output = Extract<ProgressReport, { kind: "output" }>;

/** The reports of one call. */
export class ProgressFeed {
  readonly #parts: Pick<KernelParts, "clock" | "onInternalError">;
  readonly #listener: ProgressListener;
  readonly #redaction: CallRedaction;
  /** Whether a durable intent of the call stands. */
  readonly #recorded: boolean;
  readonly #streams: Readonly<Record<Output["stream"], ByteRedactionStream>>;
  #lastStepMs = Number.NEGATIVE_INFINITY;
  #outputBytes = 0;
  #ended = false;

  constructor(
    parts: Pick<KernelParts, "clock" | "onInternalError">,
    listener: ProgressListener,
    { redaction, intent }: Pick<Running, "redaction" | "intent">,
  ) {
    this.#parts = parts;
    this.#listener = listener;
    this.#redaction = redaction;
    this.#recorded = intent !== undefined;
    this.#streams = { stdout: redaction.byteStream(), stderr: redaction.byteStream() };
  }

  /** Takes a report of the tool; what is too much, too early or too late is dropped. */
  readonly report = (report: ProgressReport): void => {
    if (this.#ended) return;
    if (report.kind === "progress") this.#step(report);
    else if (this.#recorded) this.#output(report.stream, report.bytes);
  };

  /** The tool has ended: what redaction held back leaves, and nothing after it. */
  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    for (const stream of ["stdout", "stderr"] as const) {
      this.#sendOutput(stream, this.#streams[stream].end());
      this.#redaction.takeCounts(this.#streams[stream].counts);
    }
  }

  #step({ completed, total, message }: Step): void {
    if (!isAmount(completed) || (total !== undefined && !isAmount(total))) return;
    const nowMs = this.#parts.clock.monotonicMs();
    if (nowMs - this.#lastStepMs < PROGRESS_INTERVAL_MS) return;
    this.#lastStepMs = nowMs;
    const words = this.#recorded && message !== undefined && message !== "" ? this.#clean(message) : undefined;
    this.#send({
      kind: "progress",
      completed,
      ...(total !== undefined && { total }),
      ...(words !== undefined && { message: words }),
    });
  }

  /** Redacted before it is cut, so that no cut hides a secret from redaction. */
  #clean(message: string): string {
    return this.#redaction.text(message).slice(0, PROGRESS_MESSAGE_CHARACTERS_MAX).toWellFormed();
  }

  #output(stream: Output["stream"], bytes: Uint8Array): void {
    for (
      let start = 0;
      start < bytes.byteLength && this.#outputBytes < PROGRESS_OUTPUT_BYTES_MAX;
      start += PROGRESS_OUTPUT_CHUNK_BYTES
    ) {
      this.#sendOutput(stream, this.#streams[stream].push(bytes.subarray(start, start + PROGRESS_OUTPUT_CHUNK_BYTES)));
    }
  }

  #sendOutput(stream: Output["stream"], bytes: Uint8Array): void {
    // Redaction holds back and lets go: a piece may come out longer than it went in.
    for (let start = 0; start < bytes.byteLength && this.#outputBytes < PROGRESS_OUTPUT_BYTES_MAX; ) {
      const room = Math.min(PROGRESS_OUTPUT_CHUNK_BYTES, PROGRESS_OUTPUT_BYTES_MAX - this.#outputBytes);
      const piece = bytes.subarray(start, start + room);
      start += piece.byteLength;
      this.#outputBytes += piece.byteLength;
      this.#send({ kind: "output", stream, bytes: piece });
    }
  }

  #send(report: ProgressReport): void {
    try {
      this.#listener(report);
    } catch (error) {
      this.#parts.onInternalError(error);
    }
  }
}

function isAmount(value: number): boolean {
  return Number.isFinite(value) && value >= 0;
}
