/**
 * How code that runs inside a call (a tool, a handle) ends it early.
 *
 * `ToolFailure` becomes `ToolError`; `Refusal` becomes `ToolDenied`: a handle throws it when the machine shows
 * something that the checks before could not see, such as a symbolic link swapped in meanwhile. Both messages are
 * safe for the agent. Anything else that is thrown is a bug and answers `INTERNAL`.
 */
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
  | "MATCH_COUNT_MISMATCH"
  | "EDIT_OVERLAP"
  | "REGEX_TIMEOUT"
  | "NOT_SUPPORTED"
  | "TIMEOUT"
  | "CANCELLED"
  | "OUTPUT_LIMIT"
  | "SANDBOX_UNAVAILABLE"
  | "DEDUPE_CONFLICT"
  | "DEDUPE_UNAVAILABLE"
  | "OUTCOME_UNKNOWN"
  | "LEDGER_UNAVAILABLE"
  | "RATE_LIMITED"
  | "INTERNAL";

/** A tool's failure: what went wrong (`message`), what to do next (`suggestion`), and whether trying again can help. */
export class ToolFailure extends Error {
  readonly code: ToolFailureCode;
  readonly suggestion: string;
  readonly retryable: boolean;
  readonly retryAfterMs: number;
  constructor(code: ToolFailureCode, message: string, suggestion: string, retry?: { readonly afterMs: number }) {
    super(message);
    this.name = "ToolFailure";
    this.code = code;
    this.suggestion = suggestion;
    this.retryable = retry !== undefined;
    this.retryAfterMs = retry?.afterMs ?? 0;
  }
}

/** A refusal discovered while the tool ran. */
export class Refusal extends Error {
  readonly denial: Denial;
  constructor(denial: Denial) {
    super(denial.message);
    this.name = "Refusal";
    this.denial = denial;
  }
}
