/**
 * A response of the kernel as a `ToolResponse` of the wire, under the request's own id (CTR-0022, CTR-0023).
 *
 * INVARIANT: a refusal's `rationale_code` is the upper-case form of its reason (CTR-0027), and its `rule_id` is never
 * empty (CTR-0026).
 */
import { create } from "@bufbuild/protobuf";
import { utf8 } from "../base/bytes.ts";
import { canonicalJson } from "../base/json.ts";
import { INLINE_RESULT_BYTES_MAX } from "../base/limits.ts";
import { type ToolResponse, ToolResponseSchema } from "../gen/handrail/tool/v1/tool_pb.ts";
import type { Denial } from "../model/outcome/decision.ts";
import type { CallResponse, Outcome } from "../model/tool/call.ts";
import { encodeResponse } from "./codec.ts";
import { toToolResult } from "./result.ts";
import { type SuccessFields, successBytes } from "./success-bytes.ts";

/** The bytes of `response` as a `ToolResponse`: those of `toWireResponse`, sooner. */
export function responseBytes(response: CallResponse): Uint8Array {
  const { requestId, outcome } = response;
  return outcome.kind === "success"
    ? successBytes(requestId, successOf(response, outcome))
    : encodeResponse(toWireResponse(response));
}

/**
 * The wire's form of `response`: raw bytes of a file read stay raw, everything else is the canonical ToolResult JSON
 * (CTR-0025).
 */
export function toWireResponse(response: CallResponse): ToolResponse {
  const { requestId, outcome } = response;
  switch (outcome.kind) {
    case "success":
      return create(ToolResponseSchema, {
        requestId,
        result: { case: "success", value: successOf(response, outcome) },
      });
    case "denied":
      return deniedResponse(requestId, outcome.denial);
    case "error": {
      const { code, retryable, retryAfterMs } = outcome;
      const value = {
        errorCode: code,
        message: withSuggestion(outcome),
        retryable,
        retryAfterMs: wholeMs(retryAfterMs),
      };
      return create(ToolResponseSchema, { requestId, result: { case: "error", value } });
    }
  }
}

/** The refusal `denial` as the response to `requestId`. */
export function deniedResponse(requestId: string, denial: Denial): ToolResponse {
  const value = {
    ruleId: denial.ruleId,
    rationaleCode: denial.reason.toUpperCase(),
    message: denial.message,
    layer: denial.layer,
    approvalRef: denial.approvalRef ?? "",
    fix: denial.fix ?? "",
    violations: (denial.violations ?? []).map(({ field, rule, message }) => ({ field, rule, message })),
  };
  return create(ToolResponseSchema, { requestId, result: { case: "denied", value } });
}

type Success = Extract<Outcome, { kind: "success" }>;

function successOf(response: CallResponse, outcome: Success): SuccessFields {
  const { trustLevel, dataClass, source } = outcome.label;
  return {
    ...resultOf(response, outcome),
    budgetConsumed: BigInt(response.budgetConsumed ?? 0),
    durationMs: wholeMs(response.durationMs),
    label: { trustLevel, dataClass, origin: source.origin, timestamp: source.timestamp },
    truncated: outcome.truncated,
  };
}

/**
 * The result itself: over 1 MiB by hash alone (CTR-0024), else inline (CTR-0025). A result that was cut for being shown
 * has both, the beginning inline and the hash of all of it.
 */
function resultOf(
  response: CallResponse,
  { bytes, stored }: Success,
): Pick<SuccessFields, "inlineResult" | "resultHash"> {
  const resultHash = stored && { resultHash: Buffer.from(stored.hash, "hex") };
  if (stored && stored.sizeBytes > INLINE_RESULT_BYTES_MAX) return { ...resultHash };
  return { ...resultHash, inlineResult: bytes ?? utf8(canonicalJson(toToolResult(response))) };
}

/** APM2's error has no field for what to do next, so the message says it. */
function withSuggestion(failure: { readonly message: string; readonly suggestion: string }): string {
  return failure.suggestion === "" ? failure.message : `${failure.message}; ${failure.suggestion}`;
}

/** Milliseconds as the wire's integer. */
function wholeMs(value: number): bigint {
  return Number.isFinite(value) && value > 0 ? BigInt(Math.round(value)) : 0n;
}
