/** Answers of the kernel in meao's shape: `{success, output, label, truncated, executionTime}`. */
import type { Label } from "../../model/outcome/label.ts";
import type { CallResponse } from "../../model/tool/call.ts";
import { ranResult } from "../../wire/dialects/meao-result.ts";

/** What meao's callers get. */
export interface ExecutorResult {
  readonly success: boolean;
  /** The result as text; of a refused or failed call the message. */
  readonly output: string;
  /** What went wrong where a tool ran and failed, such as `Exit code: 3`. */
  readonly error?: string;
  readonly label: Label;
  readonly truncated: boolean;
  /** Milliseconds. */
  readonly executionTime: number;
}

/** A response in meao's shape. */
export function executorResult(response: CallResponse): ExecutorResult {
  const { outcome, durationMs: executionTime } = response;
  switch (outcome.kind) {
    case "success": {
      const { label, truncated } = outcome;
      return { ...ranResult(outcome), label, truncated, executionTime };
    }
    case "denied":
      return { success: false, output: outcome.denial.message, ...BY_KERNEL(), executionTime };
    case "error":
      return { success: false, output: `${outcome.message}; ${outcome.suggestion}`, ...BY_KERNEL(), executionTime };
  }
}

/** What the kernel itself says comes from no tool. */
const BY_KERNEL = (): Pick<ExecutorResult, "label" | "truncated"> => ({
  label: {
    trustLevel: "system",
    dataClass: "public",
    source: { origin: "system", timestamp: new Date().toISOString() },
  },
  truncated: false,
});
