/**
 * Converts a response to the ToolResult JSON for models, scripts and generic calls.
 *
 * The JSON has Flow's shape (§2.2): `status`, `data`, `error{code, message, suggestion}`, `metadata{duration_ms,
 * security_checks, label, truncated}`.
 *
 * `status` is `error` for a refusal too. `security_checks` tells them apart: `denied` means that nothing happened.
 */
import type { JsonObject } from "../base/json.ts";
import type { Denial, Layer } from "../model/outcome/decision.ts";
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
      return {
        status: "error",
        error: { ...errorOfDenial(outcome.denial), ...codeOf(response) },
        metadata: metadataOf(response, "denied"),
      };
    case "error":
      return {
        status: "error",
        error: { ...errorOfFailure(outcome), ...codeOf(response) },
        metadata: metadataOf(response, outcome.code === "INTERNAL" ? "failed" : "passed"),
      };
  }
}

/** The code in the words of the session's dialect, where it has one of its own. */
function codeOf({ spoken }: CallResponse): { readonly code?: string } {
  return spoken?.code === undefined ? {} : { code: spoken.code };
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

/** What whoever is refused can do by itself; what would have to change for the call to be allowed is the `fix`. */
const NEXT: Readonly<Record<Layer, string>> = {
  validate: "correct what is listed, and send the call again",
  authenticate: "start a new session, or ask the operator",
  gates: "use another tool, or ask the operator about this one",
  scope: "stay within what the session may use, or ask the operator for more",
  workspace: "work on a file of the workspace that tools may use",
  policy: "choose another way, or ask the operator to allow the call",
  flow: "do without what would leave or run, or ask the operator to look at what was read",
  approval: "ask a person to approve the call, or choose another way",
  budget: "ask for less, or ask the operator for more",
  call: "correct the arguments, and send the call again",
};

function errorOfDenial(denial: Denial): ToolResultError {
  return {
    code: denial.reason.toUpperCase(),
    message: denial.message,
    suggestion: NEXT[denial.layer],
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
