/** A tool call on its way through the kernel, and the one response it gets. */
import type { JsonObject } from "../../base/json.ts";
import type { Denial } from "../outcome/decision.ts";
import type { ToolFailureCode } from "../outcome/failure.ts";
import type { Label } from "../outcome/label.ts";
import type { ReplyForm } from "./tool.ts";

/** Arguments as JSON; byte contents of the wire stand as `Uint8Array`. */
export interface ToolArguments {
  readonly [name: string]: unknown;
}

/** The oneof field of the request that carried the call. */
export type WireVariant =
  | "file_read"
  | "file_write"
  | "file_edit"
  | "shell_exec"
  | "git_op"
  | "inference"
  | "artifact_publish"
  | "call";

/** A decoded call whose envelope is valid. Its arguments have not met the tool's schema yet. */
export interface ToolCall {
  readonly requestId: string;
  readonly sessionToken: string;
  /** Empty when the caller wants no replay protection. */
  readonly dedupeKey: string;
  /** Canonical tool name. */
  readonly tool: string;
  readonly arguments: ToolArguments;
  readonly variant: WireVariant;
  readonly reply: ReplyForm;
}

/** A result in the content store: its BLAKE3-256 as 64 hexadecimal digits, and its size. */
export interface StoredResult {
  readonly hash: string;
  readonly sizeBytes: number;
}

/** What came of a call. */
export type Outcome =
  | {
      readonly kind: "success";
      readonly data: JsonObject;
      readonly bytes?: Uint8Array;
      /** Where the whole result is, when it is more than the answer shows (CTR-0024). */
      readonly stored?: StoredResult;
      readonly label: Label;
      readonly truncated: boolean;
    }
  | { readonly kind: "denied"; readonly denial: Denial }
  | {
      readonly kind: "error";
      readonly code: ToolFailureCode;
      readonly message: string;
      readonly suggestion: string;
      readonly retryable: boolean;
      readonly retryAfterMs: number;
    };

/** The one response to a request (CTR-0022), under the request's own id (CTR-0023). */
export interface CallResponse {
  readonly requestId: string;
  readonly outcome: Outcome;
  readonly durationMs: number;
  /** What a success has spent, in the unit of its tool; absent where nothing limits the caller. */
  readonly budgetConsumed?: number;
  /** Sequence of the ledger entry that records the outcome; absent when it could not be recorded. */
  readonly ledgerSequence?: number;
  /** How the caller's dialect says it; absent where the session speaks none. */
  readonly spoken?: {
    /** The kernel's name of the tool. */
    readonly tool: string;
    /** The code of a refused or failed call. */
    readonly code?: string;
    /** What a model reads. */
    readonly text?: string;
  };
  /** Deciding rules: determining permits of an allowed call, or the rule that refused. */
  readonly rules: readonly string[];
}
