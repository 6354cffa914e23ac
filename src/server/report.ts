/** Reports warnings and redacted errors on standard error to whoever runs the kernel. */
import { KernelError } from "../base/errors.ts";
import { withoutControls } from "../text/foreign-text.ts";
import type { CurrentRedactor } from "./configuration.ts";

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

/** Writes what went wrong at a front door. */
export function reportError(error: unknown): void {
  reportWarning(error instanceof Error ? error.message : String(error));
}
