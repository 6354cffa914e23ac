/**
 * The end of every call: record what came of it, then answer. What cannot be recorded is not answered as done.
 */
import { KernelError } from "../../base/errors.ts";
import type { Execution } from "../../dedupe/kept-answer.ts";
import type { Denial } from "../../model/outcome/decision.ts";
import { storeFailure, ToolFailure } from "../../model/outcome/failure.ts";
import type { Mark } from "../../model/outcome/label.ts";
import type { CallResponse, Outcome } from "../../model/tool/call.ts";
import { brokenOff } from "../call/broken-off.ts";
import type { Ended } from "../call/ended.ts";
import type { KernelParts } from "../call/parts.ts";
import type { Trail } from "../call/trail.ts";
import { unusable } from "../call/unusable.ts";
import type { CallRedaction } from "../redaction/redaction.ts";
import type { Evidence } from "./evidence.ts";
import { followDeclared, followResult } from "./follow.ts";
import type { CleanResult } from "./large-result.ts";
import { consumedOf, settleBudget } from "./spend.ts";

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
    const shown = this.#trail.redaction?.denial(denial) ?? denial;
    const sequence = await this.#evidence.denied(this.#trail, shown);
    if (this.#trail.changes.any) return this.failed(brokenOff("was refused", shown.message));
    return this.#respond({ kind: "denied", denial: shown }, [denial.ruleId], sequence);
  }

  /** Records and answers a tool's failure. What a tool that ran says of it is seen by the caller, as its result would be. */
  async failed(failure: ToolFailure): Promise<CallResponse> {
    const { stopped, ran } = this.#trail;
    if (stopped && failure.code === "CANCELLED" && this.#isHarmless()) return this.denied(stopped);
    const seen = ran ? await followDeclared(this.#parts, this.#evidence, this.#trail) : undefined;
    return this.#failed(failure, seen);
  }

  /** Whether nothing can have come of the call: then whoever must not act any more learns that, and nothing else. */
  #isHarmless(): boolean {
    const { ran, tool, changes, unaffected } = this.#trail;
    return !ran || unaffected === true || (tool?.capability.effect === "read" && !changes.any);
  }

  async #failed(failure: ToolFailure, seen: Mark | undefined): Promise<CallResponse> {
    const outcome = errorOf(failure, this.#trail.redaction);
    await this.#prepare(outcome, seen);
    const sequence = await this.#evidence.failed(this.#trail, failure);
    return this.#respond(outcome, this.#trail.rules, sequence, seen);
  }

  /** Records and answers a success: the result is answered only once its record stands. */
  async succeeded(result: CleanResult | ToolFailure): Promise<CallResponse> {
    if (result instanceof ToolFailure) return this.failed(result);
    if (this.#trail.stopped && this.#isHarmless()) return this.denied(this.#trail.stopped);
    await followResult(this.#parts, this.#evidence, this.#trail, result.seen);
    await this.#prepare(result.outcome, result.seen);
    const sequence = await this.#evidence.executed(this.#trail, result);
    return this.#respond(result.outcome, this.#trail.rules, sequence, result.seen);
  }

  /** Records and answers a call that is not executed: by the first answer to it, byte for byte, or by what speaks against that. */
  async ended(ended: Ended): Promise<CallResponse> {
    if (ended.kind === "denial") return this.denied(ended.denial);
    if (ended.kind === "failure") return this.failed(ended.failure);
    if (ended.seen) await followResult(this.#parts, this.#evidence, this.#trail, ended.seen);
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
      if (this.#trail.ran && this.#trail.intent !== undefined) return await this.#failed(BROKEN_OFF, undefined);
      const denial = known && unusable(known);
      if (denial) return await this.denied(denial);
      return await this.#failed((known && storeFailure(known)) ?? BUG, undefined);
    } catch (recordingError) {
      this.#parts.onInternalError(recordingError);
      return this.#unrecorded();
    }
  }

  #unrecorded(): Promise<CallResponse> {
    return this.#respond(errorOf(unrecorded(this.#trail), undefined), this.#trail.rules, undefined);
  }

  /** Puts the answer of an effect with a dedupe key aside, so that it outlives a kernel that is killed once its outcome is recorded. */
  async #prepare(outcome: Outcome, seen: Mark | undefined): Promise<void> {
    const { claim, intent } = this.#trail;
    if (claim === undefined || intent === undefined) return;
    await claim.prepare(this.#response(outcome, this.#trail.rules, undefined), this.#execution(), intent, seen);
  }

  /** INVARIANT: the one way to an answer of this call's own, so that its claim and its budget are settled once, whatever the answer is. */
  async #respond(outcome: Outcome, rules: readonly string[], sequence: number | undefined, seen?: Mark): Promise<CallResponse> {
    const { requestId, claim, approval, tool, ran } = this.#trail;
    if (approval && !ran) await this.#parts.approvals.giveBack(approval.ref, requestId);
    await settleBudget(this.#trail, outcome.kind === "denied");
    const response = this.#response(outcome, rules, sequence);
    if (claim && tool) await claim.settle(response, this.#execution(), seen);
    return response;
  }

  #response(outcome: Outcome, rules: readonly string[], sequence: number | undefined): CallResponse {
    const { requestId, startedMs } = this.#trail;
    const durationMs = Math.max(0, this.#parts.clock.monotonicMs() - startedMs);
    const consumed = outcome.kind === "success" ? consumedOf(this.#trail) : undefined;
    return {
      requestId,
      outcome,
      durationMs,
      rules,
      ...(sequence !== undefined && { ledgerSequence: sequence }),
      ...(consumed !== undefined && { budgetConsumed: consumed }),
    };
  }

  /** How far the call came; it has a tool, as every call with a claim does. */
  #execution(): Execution {
    const { tool, ran, done = false, unaffected = false } = this.#trail;
    return { effect: tool?.capability.effect ?? "write", ran, done, unaffected };
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

function errorOf(failure: ToolFailure, redaction: CallRedaction | undefined): Outcome {
  const { code, retryable, retryAfterMs } = failure;
  const message = redaction?.words(failure.message) ?? failure.message;
  const suggestion = redaction?.words(failure.suggestion) ?? failure.suggestion;
  return { kind: "error", code, message, suggestion, retryable, retryAfterMs };
}
