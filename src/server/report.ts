/** Reports warnings and redacted errors on standard error to whoever runs the kernel. */
import { KernelError } from "../base/errors.ts";
import { withoutControls } from "../text/foreign-text.ts";
import type { CurrentRedactor } from "./configuration.ts";
import type { Observers } from "./telemetry/observers.ts";

/** What was written last of failures that say themselves what to do. */
let told: string | undefined;

/** Whether this message was the last one that was written: whoever ends by it need not say it again. */
export function wasTold(message: string): boolean {
  return told === message;
}

/**
 * Writes an error to the log, without secrets; what cannot be redacted is not written. A failure that says itself what
 * to do is one line, and not written twice in a row; of others it takes the way that led there.
 */
export async function reportInternalError(redactor: CurrentRedactor, error: unknown): Promise<void> {
  const plain = error instanceof KernelError && error.code !== "INTERNAL" ? error.message : undefined;
  if (plain !== undefined && wasTold(plain)) return;
  told = plain;
  const text = plain ?? (error instanceof Error ? (error.stack ?? error.message) : String(error));
  let shown: string;
  try {
    const made = redactor();
    shown = (made instanceof Promise ? await made : made).redact(text).text;
  } catch (problem) {
    // What makes the redactor impossible is the operator's own text, and has to be said.
    const reason = problem instanceof KernelError ? problem.message : "the redactor cannot be made";
    shown = `an error cannot be shown, because it cannot be redacted: ${reason}`;
  }
  process.stderr.write(`handrail: ${withoutControls(shown)}\n`);
}

/** Writes what the operator should know. */
export function reportWarning(message: string): void {
  process.stderr.write(`handrail: ${withoutControls(message)}\n`);
}

/** Where an embedding program hears what a kernel reports. */
export interface ReportTakers {
  readonly onInternalError?: (error: unknown) => void;
  readonly onWarning?: (message: string) => void;
}

/** What one kernel reports: to its observers, and in lines for people unless a structured log replaces them. */
export class Reporter {
  readonly #takers: ReportTakers;
  readonly #redactor: CurrentRedactor;
  readonly #observers: Observers;
  #isReplaced = false;

  constructor(takers: ReportTakers, redactor: CurrentRedactor, observers: Observers) {
    this.#takers = takers;
    this.#redactor = redactor;
    this.#observers = observers;
  }

  /** The structured log has everything on standard error: lines for people are left out. */
  replaceLines(): void {
    this.#isReplaced = true;
  }

  /** Reports a bug or a background failure. */
  readonly internalError = (error: unknown): void => {
    this.#observers.failed(error);
    const { onInternalError } = this.#takers;
    if (onInternalError !== undefined) onInternalError(error);
    else if (!this.#isReplaced) void reportInternalError(this.#redactor, error);
  };

  /** Reports what the operator should know. */
  readonly warning = (message: string): void => {
    this.#observers.warned(message);
    this.line(message);
  };

  /** The same in a line for people alone. */
  readonly line = (message: string): void => {
    const { onWarning } = this.#takers;
    if (onWarning !== undefined) onWarning(message);
    else if (!this.#isReplaced) reportWarning(message);
  };

  /** Reports what went wrong at a front door; `text` is how people are told. */
  readonly doorError = (error: unknown, text = error instanceof Error ? error.message : String(error)): void => {
    this.#observers.refused(error);
    if (!this.#isReplaced) reportWarning(text);
  };
}
