/** Answers of the kernel in meao's shape: `{success, output, label, truncated, executionTime}`. */
import { canonicalJson, type JsonObject } from "../../base/json.ts";
import type { Label } from "../../model/outcome/label.ts";
import type { CallResponse } from "../../model/tool/call.ts";

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
      return { ...answerOf(outcome), label, truncated, executionTime };
    }
    case "denied":
      return { success: false, output: outcome.denial.message, ...BY_KERNEL(), executionTime };
    case "error":
      return { success: false, output: `${outcome.message}; ${outcome.suggestion}`, ...BY_KERNEL(), executionTime };
  }
}

type Success = Extract<CallResponse["outcome"], { readonly kind: "success" }>;

/** What a tool answered: a command or a plugin that failed has run, and says so itself. */
function answerOf({ data, bytes }: Success): Pick<ExecutorResult, "success" | "output" | "error"> {
  if (bytes !== undefined)
    return { success: true, output: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString() };
  const { success, output, error, content } = data;
  if (typeof success === "boolean" && typeof output === "string")
    return { success, output, ...(typeof error === "string" && { error }) };
  if (typeof data["stdout"] === "string" && typeof data["stderr"] === "string") return commandAnswer(data);
  if (success === false) return { success, output: String(content ?? ""), error: String(error ?? "") };
  return { success: true, output: typeof content === "string" ? content : canonicalJson(data) };
}

function commandAnswer({ stdout, stderr, exit_code: code, ended_by: endedBy }: JsonObject) {
  const output = `${String(stdout)}${stderr === "" ? "" : `\nSTDERR:\n${String(stderr)}`}`;
  if (code === 0) return { success: true, output };
  return {
    success: false,
    output,
    error: code === undefined ? `Ended by: ${String(endedBy)}` : `Exit code: ${String(code)}`,
  };
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
