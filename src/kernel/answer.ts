/**
 * The end of every call: record what came of it, then answer. What cannot be recorded is not answered as done.
 */
import { KernelError } from "../base/errors.ts";
import type { CallResponse, Outcome } from "../model/call.ts";
import type { Denial } from "../model/decision.ts";
import { ToolFailure } from "../model/failure.ts";
import type { Evidence } from "./evidence.ts";
import type { KernelParts } from "./parts.ts";
import type { CleanResult } from "./result.ts";
import type { Trail } from "./trail.ts";

/** Records and answers a refusal. */
export async function answerDenial(parts: KernelParts, evidence: Evidence, trail: Trail, denial: Denial): Promise<CallResponse> {
  const sequence = await evidence.denied(trail, denial);
  return respond(parts, trail, { kind: "denied", denial }, [denial.ruleId], sequence);
}

/** Records and answers a tool's failure. */
export async function answerFailure(parts: KernelParts, evidence: Evidence, trail: Trail, failure: ToolFailure): Promise<CallResponse> {
  const sequence = await evidence.failed(trail, failure);
  return respond(parts, trail, errorOf(failure), trail.rules, sequence);
}

/** Cleans, records and answers a success; the result is answered only once its record stands. */
export async function answerSuccess(parts: KernelParts, evidence: Evidence, trail: Trail, clean: () => CleanResult): Promise<CallResponse> {
  let result: CleanResult;
  try {
    result = clean();
  } catch (error) {
    if (error instanceof ToolFailure) return answerFailure(parts, evidence, trail, error);
    throw error;
  }
  const sequence = await evidence.executed(trail, result);
  return respond(parts, trail, result.outcome, trail.rules, sequence);
}

/**
 * Answers what was thrown: an unusable policy refuses the call, an unusable ledger too (and leaves the outcome of an
 * effect unknown), everything else is a bug.
 */
export async function answerThrown(parts: KernelParts, evidence: Evidence, trail: Trail, error: unknown): Promise<CallResponse> {
  parts.onInternalError(error);
  const code = error instanceof KernelError ? error.code : "INTERNAL";
  if (code === "LEDGER_UNAVAILABLE") return respond(parts, trail, errorOf(unrecorded(trail)), trail.rules, undefined);
  try {
    if (code === "POLICY_INVALID" || code === "CONFIG_INVALID") {
      return await answerDenial(parts, evidence, trail, {
        layer: "gates",
        reason: "tool_policy_invalid",
        ruleId: `CONFIG:${code.toLowerCase()}`,
        message: `the configuration cannot be used, so nothing is allowed: ${(error as KernelError).message}`,
        fix: "run `handrail policy check` and correct what it names",
      });
    }
    const failure = new ToolFailure(
      "INTERNAL",
      "the kernel met an internal error and refused the call",
      "tell the operator; the kernel's log has the cause",
    );
    return await answerFailure(parts, evidence, trail, failure);
  } catch (recordingError) {
    parts.onInternalError(recordingError);
    return respond(parts, trail, errorOf(unrecorded(trail)), trail.rules, undefined);
  }
}

/** An effect whose outcome could not be recorded is unknown; before an effect, nothing has happened and a retry is safe. */
function unrecorded(trail: Trail): ToolFailure {
  if (trail.intent !== undefined) {
    return new ToolFailure(
      "OUTCOME_UNKNOWN",
      "the call may have taken effect, but its outcome could not be recorded",
      "check the state of the workspace; the kernel refuses further effects until its ledger is writable",
    );
  }
  return new ToolFailure(
    "LEDGER_UNAVAILABLE",
    "the call cannot be recorded, so it was refused",
    "ask the operator to make the ledger writable, then send it again",
    { afterMs: 1000 },
  );
}

function errorOf(failure: ToolFailure): Outcome {
  const { code, message, suggestion, retryable, retryAfterMs } = failure;
  return { kind: "error", code, message, suggestion, retryable, retryAfterMs };
}

function respond(parts: KernelParts, trail: Trail, outcome: Outcome, rules: readonly string[], sequence: number | undefined): CallResponse {
  const durationMs = Math.max(0, parts.clock.monotonicMs() - trail.startedMs);
  return { requestId: trail.requestId, outcome, durationMs, rules, ...(sequence !== undefined && { ledgerSequence: sequence }) };
}
