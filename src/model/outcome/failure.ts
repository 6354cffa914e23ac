/**
 * Defines how code that runs inside a call, such as a tool or a handle, ends it early.
 *
 * `ToolFailure` becomes `ToolError`, and `Refusal` becomes `ToolDenied`. A handle throws a `Refusal` when the machine
 * shows something that the checks before could not see, such as a symbolic link swapped in meanwhile. Both messages are
 * safe for the agent. Anything else that is thrown is a bug and answers `INTERNAL`.
 */
import type { KernelError } from "../../base/errors.ts";
import type { Denial } from "./decision.ts";

/** Frozen error codes of tools (CTR-0029). */
export type ToolFailureCode =
  | "FILE_NOT_FOUND"
  | "FILE_EXISTS"
  | "NOT_A_FILE"
  | "NOT_A_DIRECTORY"
  | "FILE_TOO_LARGE"
  | "BINARY_FILE"
  | "INVALID_UTF8"
  | "FILE_CHANGED"
  | "PERMISSION_DENIED"
  | "READ_ONLY_FILE_SYSTEM"
  | "DISK_FULL"
  | "IO_ERROR"
  | "RESOURCE_BUSY"
  | "CONTENT_NOT_FOUND"
  | "CONTENT_CORRUPT"
  | "CONTENT_MISMATCH"
  | "CONTENT_TOO_LARGE"
  | "ARTIFACT_EXISTS"
  | "MATCH_COUNT_MISMATCH"
  | "EDIT_OVERLAP"
  | "REGEX_INVALID"
  | "REGEX_TIMEOUT"
  | "NOT_SUPPORTED"
  | "TIMEOUT"
  | "CANCELLED"
  | "GIT_FAILED"
  | "OUTPUT_LIMIT"
  | "SANDBOX_UNAVAILABLE"
  | "DEDUPE_CONFLICT"
  | "OUTCOME_UNKNOWN"
  | "LEDGER_UNAVAILABLE"
  | "STORE_UNAVAILABLE"
  | "STORE_CORRUPT"
  | "RATE_LIMITED"
  | "INTERNAL";

/** What to do next, and what more is said of a failure than its texts. */
export interface FailureDetails {
  readonly suggestion: string;
  /** The wait after which trying again can help; absent when it cannot help. */
  readonly retryAfterMs?: number | undefined;
  /** What led to the failure, for logs alone. */
  readonly cause?: unknown;
}

/**
 * A tool's failure: what went wrong (`message`), what to do next (`suggestion`), and whether trying again can help.
 */
export class ToolFailure extends Error {
  readonly code: ToolFailureCode;
  readonly suggestion: string;
  readonly retryable: boolean;
  readonly retryAfterMs: number;
  /** @param next the suggestion, alone or with more */
  constructor(code: ToolFailureCode, message: string, next: string | FailureDetails) {
    const { suggestion, retryAfterMs, cause }: FailureDetails = typeof next === "string" ? { suggestion: next } : next;
    super(message, cause === undefined ? undefined : { cause });
    this.name = "ToolFailure";
    this.code = code;
    this.suggestion = suggestion;
    this.retryable = retryAfterMs !== undefined;
    this.retryAfterMs = retryAfterMs ?? 0;
  }
}

/** A failure of which whoever throws it knows that what was tried changed nothing, so that it may be tried again. */
export class FailureWithoutEffect extends ToolFailure {}

/**
 * A failure without effect in which nobody but the kernel speaks: whoever hears of it has seen nothing of what the tool
 * was to bring.
 */
export class UnansweredFailure extends FailureWithoutEffect {}

/** A refusal discovered while the tool ran. */
export class Refusal extends Error {
  readonly denial: Denial;
  constructor(denial: Denial) {
    super(denial.message);
    this.name = "Refusal";
    this.denial = denial;
  }
}

/**
 * The failure of a store of sessions or locks, or of a workspace's own file, as the agent is told of it; `undefined`
 * for any other error.
 */
export function storeFailure(error: KernelError): ToolFailure | undefined {
  if (error.code === "WORKSPACE_BUSY") {
    const suggestion =
      "try again in a moment; a lease ends after 45 s at the latest, unless the machine's administrator chose another time";
    return new ToolFailure("RESOURCE_BUSY", error.message, { suggestion, retryAfterMs: 1000, cause: error });
  }
  if (error.code === "STORE_UNAVAILABLE") {
    const suggestion =
      "try again in a moment; tell the operator if it goes on: the state directory must be readable and writable";
    return new ToolFailure(error.code, "the kernel's store cannot be used, so the call was refused", {
      suggestion,
      retryAfterMs: 1000,
      cause: error,
    });
  }
  if (error.code !== "STORE_CORRUPT") return undefined;
  const suggestion = "tell the operator; the kernel's log has the cause";
  return new ToolFailure(error.code, "the kernel's store is damaged, so the call was refused", {
    suggestion,
    cause: error,
  });
}
