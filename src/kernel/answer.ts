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

/** The one answer to the call of `trail`. */
export class Answer {
  readonly #parts: KernelParts;
  readonly #evidence: Evidence;
  readonly #trail: Trail;

  constructor(parts: KernelParts, evidence: Evidence, trail: Trail) {
    this.#parts = parts;
    this.#evidence = evidence;
    this.#trail = trail;
  }

  /** Records and answers a refusal. */
  async denied(denial: Denial): Promise<CallResponse> {
    const sequence = await this.#evidence.denied(this.#trail, denial);
    return this.#respond({ kind: "denied", denial }, [denial.ruleId], sequence);
  }

  /** Records and answers a tool's failure. */
  async failed(failure: ToolFailure): Promise<CallResponse> {
    const sequence = await this.#evidence.failed(this.#trail, failure);
    return this.#respond(errorOf(failure), this.#trail.rules, sequence);
  }

  /** Records and answers a success: the result is answered only once its record stands. */
  async succeeded(result: CleanResult | ToolFailure): Promise<CallResponse> {
    if (result instanceof ToolFailure) return this.failed(result);
    const sequence = await this.#evidence.executed(this.#trail, result);
    return this.#respond(result.outcome, this.#trail.rules, sequence);
  }

  /**
   * Answers what was thrown: an unusable configuration refuses the call, an unusable ledger too (and leaves the outcome
   * of an effect unknown), everything else is a bug.
   */
  async thrown(error: unknown): Promise<CallResponse> {
    this.#parts.onInternalError(error);
    const code = error instanceof KernelError ? error.code : "INTERNAL";
    if (code === "LEDGER_UNAVAILABLE") return this.#unrecorded();
    try {
      if (code === "POLICY_INVALID" || code === "CONFIG_INVALID") return await this.denied(unusable(error as KernelError));
      return await this.failed(BUG);
    } catch (recordingError) {
      this.#parts.onInternalError(recordingError);
      return this.#unrecorded();
    }
  }

  #unrecorded(): CallResponse {
    return this.#respond(errorOf(unrecorded(this.#trail)), this.#trail.rules, undefined);
  }

  #respond(outcome: Outcome, rules: readonly string[], sequence: number | undefined): CallResponse {
    const durationMs = Math.max(0, this.#parts.clock.monotonicMs() - this.#trail.startedMs);
    return { requestId: this.#trail.requestId, outcome, durationMs, rules, ...(sequence !== undefined && { ledgerSequence: sequence }) };
  }
}

const BUG = new ToolFailure(
  "INTERNAL",
  "the kernel met an internal error and refused the call",
  "tell the operator; the kernel's log has the cause",
);

function unusable(error: KernelError): Denial {
  return {
    layer: "gates",
    reason: "tool_policy_invalid",
    ruleId: `CONFIG:${error.code.toLowerCase()}`,
    message: `the configuration cannot be used, so nothing is allowed: ${error.message}`,
    fix: "run `handrail policy check` and correct what it names",
  };
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
