/**
 * The ToolResult document that models, scripts and generic calls get, in Flow's shape (§2.2). Type aliases, so that a
 * document is also plain JSON.
 */
import type { JsonObject } from "../../base/json.ts";
import type { DataClass, TrustLevel } from "../outcome/label.ts";

/** What is known about a call besides its result. */
export type ToolResultMetadata = {
  readonly duration_ms: number;
  /** `denied`: nothing happened. `failed`: the kernel could not say. */
  readonly security_checks: "passed" | "denied" | "failed";
  /** Sequence of the ledger's entry, once it has one. */
  readonly ledger_sequence?: number | undefined;
  /** Deciding rules. */
  readonly rules: readonly string[];
  /** What the call has spent, in the unit of its tool, where something is limited. */
  readonly budget_consumed?: number;
  readonly label?: {
    readonly trustLevel: TrustLevel;
    readonly dataClass: DataClass;
    readonly source: { readonly origin: string; readonly timestamp: string };
  };
  /** The result was cut. */
  readonly truncated?: boolean;
};

/** What went wrong, and what to do next. */
export type ToolResultError = {
  readonly code: string;
  readonly message: string;
  readonly suggestion: string;
  readonly retryable?: boolean;
  readonly retry_after_ms?: number;
  readonly layer?: string;
  readonly rule_id?: string;
  readonly fix?: string | undefined;
  readonly violations?:
    | readonly { readonly field: string; readonly rule: string; readonly message: string }[]
    | undefined;
  readonly approval_ref?: string | undefined;
};

/** The document: data of a success, or the error of a refused or failed call. */
export type ToolResult =
  | { readonly status: "success"; readonly data: JsonObject; readonly metadata: ToolResultMetadata }
  | { readonly status: "error"; readonly error: ToolResultError; readonly metadata: ToolResultMetadata };
