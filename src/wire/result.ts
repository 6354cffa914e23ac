/**
 * Converts a response to the ToolResult JSON for models, scripts and generic calls.
 *
 * The JSON has Flow's shape (§2.2): `status`, `data`, `error{code, message, suggestion}`, `metadata{duration_ms,
 * security_checks, label, truncated}`.
 *
 * `status` is `error` for a refusal too. `security_checks` tells them apart: `denied` means that nothing happened.
 */
import type { JsonObject } from "../base/json.ts";
import type { Denial } from "../model/outcome/decision.ts";
import type { CallResponse, Outcome } from "../model/tool/call.ts";
import type { ToolResult, ToolResultError, ToolResultMetadata } from "../model/tool/tool-result.ts";

type Success = Extract<Outcome, { kind: "success" }>;
type Failure = Extract<Outcome, { kind: "error" }>;

/** The ToolResult of `response`; raw bytes appear as `data.content_base64`. */
export function toToolResult(response: CallResponse): ToolResult {
  const { outcome } = response;
  switch (outcome.kind) {
    case "success":
      return {
        status: "success",
        data: dataOf(outcome),
        metadata: { ...metadataOf(response, "passed"), ...labelOf(outcome) },
      };
    case "denied":
      return { status: "error", error: errorOfDenial(outcome.denial), metadata: metadataOf(response, "denied") };
    case "error":
      return {
        status: "error",
        error: errorOfFailure(outcome),
        metadata: metadataOf(response, outcome.code === "INTERNAL" ? "failed" : "passed"),
      };
  }
}

function dataOf(outcome: Success): JsonObject {
  if (outcome.bytes === undefined) return outcome.data;
  const { buffer, byteOffset, byteLength } = outcome.bytes;
  return { ...outcome.data, content_base64: Buffer.from(buffer, byteOffset, byteLength).toString("base64") };
}

function labelOf(outcome: Success): Pick<ToolResultMetadata, "label" | "truncated"> {
  const { trustLevel, dataClass, source } = outcome.label;
  const label = { trustLevel, dataClass, source: { origin: source.origin, timestamp: source.timestamp } };
  return { label, truncated: outcome.truncated };
}

function metadataOf(response: CallResponse, checks: ToolResultMetadata["security_checks"]): ToolResultMetadata {
  return {
    duration_ms: Math.round(response.durationMs),
    security_checks: checks,
    ledger_sequence: response.ledgerSequence,
    rules: response.rules,
    ...(response.budgetConsumed !== undefined && { budget_consumed: response.budgetConsumed }),
  };
}

function errorOfDenial(denial: Denial): ToolResultError {
  return {
    code: denial.reason.toUpperCase(),
    message: denial.message,
    suggestion: denial.fix ?? "ask the operator which rule would allow this",
    layer: denial.layer,
    rule_id: denial.ruleId,
    fix: denial.fix,
    violations: denial.violations?.map(({ field, rule, message }) => ({ field, rule, message })),
    approval_ref: denial.approvalRef,
  };
}

function errorOfFailure(failure: Failure): ToolResultError {
  const { code, message, suggestion, retryable, retryAfterMs } = failure;
  return { code, message, suggestion, retryable, retry_after_ms: retryAfterMs };
}
