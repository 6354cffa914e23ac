/**
 * The end of every call: record what came of it, then answer. What cannot be recorded is not answered as done.
 */
import { KernelError } from "../base/errors.ts";
import type { CallResponse, Outcome } from "../model/call.ts";
import type { Denial } from "../model/decision.ts";
import { storeFailure, ToolFailure } from "../model/failure.ts";
import { brokenOff } from "./broken-off.ts";
import type { Evidence } from "./evidence.ts";
import { followResult } from "./follow.ts";
import type { CleanResult } from "./large-result.ts";
import type { KernelParts } from "./parts.ts";
import type { Ended } from "./replay.ts";
import type { Trail } from "./trail.ts";
import { unusable } from "./unusable.ts";

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

  /** Records and answers a refusal; one that comes after a change is answered as what it leaves behind. */
  async denied(denial: Denial): Promise<CallResponse> {
    const sequence = await this.#evidence.denied(this.#trail, denial);
    if (this.#trail.changes.any) return this.failed(brokenOff("was refused", denial.message));
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
    const following = followResult(this.#parts, this.#evidence, this.#trail, result.seen);
    if (following) await following;
    const sequence = await this.#evidence.executed(this.#trail, result);
    return this.#respond(result.outcome, this.#trail.rules, sequence);
  }

  /** Records and answers a call that is not executed: by the first answer to it, byte for byte, or by what speaks against that. */
  async ended(ended: Ended): Promise<CallResponse> {
    if (ended.kind === "denial") return this.denied(ended.denial);
    if (ended.kind === "failure") return this.failed(ended.failure);
    await this.#evidence.replayed(this.#trail, ended.answer);
    return { ...ended.answer, requestId: this.#trail.requestId };
  }

  /**
   * Answers what was thrown: an unusable configuration or store refuses the call, an unusable ledger too, everything else is
   * a bug. Whatever it was, the outcome of a tool with an effect that had begun is unknown.
   */
  async thrown(error: unknown): Promise<CallResponse> {
    this.#parts.onInternalError(error);
    const known = error instanceof KernelError ? error : undefined;
    if (known?.code === "LEDGER_UNAVAILABLE") return this.#unrecorded();
    try {
      if (this.#trail.ran && this.#trail.intent !== undefined) return await this.failed(BROKEN_OFF);
      const denial = known && unusable(known);
      if (denial) return await this.denied(denial);
      return await this.failed((known && storeFailure(known)) ?? BUG);
    } catch (recordingError) {
      this.#parts.onInternalError(recordingError);
      return this.#unrecorded();
    }
  }

  #unrecorded(): Promise<CallResponse> {
    return this.#respond(errorOf(unrecorded(this.#trail)), this.#trail.rules, undefined);
  }

  /** INVARIANT: the one way to an answer of this call's own, so that its claim is settled once, whatever the answer is. */
  async #respond(outcome: Outcome, rules: readonly string[], sequence: number | undefined): Promise<CallResponse> {
    const { requestId, startedMs, claim, tool, ran, done = false, unaffected = false } = this.#trail;
    const durationMs = Math.max(0, this.#parts.clock.monotonicMs() - startedMs);
    const response = { requestId, outcome, durationMs, rules, ...(sequence !== undefined && { ledgerSequence: sequence }) };
    if (claim && tool) await claim.settle(response, { effect: tool.capability.effect, ran, done, unaffected });
    return response;
  }
}

const BUG = new ToolFailure(
  "INTERNAL",
  "the kernel met an internal error and refused the call",
  "tell the operator; the kernel's log has the cause",
);

const BROKEN_OFF = new ToolFailure(
  "OUTCOME_UNKNOWN",
  "the kernel met an internal error while the tool ran, so the call may have taken effect",
  "check the state of the workspace before trying again, and tell the operator; the kernel's log has the cause",
);

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
