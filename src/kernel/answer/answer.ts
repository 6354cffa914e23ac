/**
 * The end of every call: record what came of it, then answer. What cannot be recorded is not answered as done.
 */
import { KernelError } from "../../base/errors.ts";
import type { Execution } from "../../dedupe/kept-answer.ts";
import type { Denial } from "../../model/outcome/decision.ts";
import { storeFailure, ToolFailure, UnansweredFailure } from "../../model/outcome/failure.ts";
import type { Mark } from "../../model/outcome/label.ts";
import type { CallResponse, Outcome } from "../../model/tool/call.ts";
import { brokenOff, type Ended } from "../call/ended.ts";
import type { KernelParts } from "../call/parts.ts";
import type { Known, Running } from "../call/stages.ts";
import { unusable } from "../call/unusable.ts";
import type { CallWatch } from "../observe/call-watch.ts";
import type { CallRedaction } from "../redaction/redaction.ts";
import { keepFailure, keepOutput, recordWith } from "./documents/kept-output.ts";
import type { Evidence } from "./evidence.ts";
import { followDeclared, followResult } from "./follow.ts";
import type { Kernel } from "./kernel.ts";
import type { CleanResult } from "./large-result.ts";
import { consumedOf, settleBudget } from "./spend.ts";

/** The one answer to a call. */
export class Answer {
  readonly #kernel: Kernel;
  readonly #parts: KernelParts;
  readonly #evidence: Evidence;
  readonly #watch: CallWatch | undefined;

  /** @param watch over the call, where somebody observes the kernel */
  constructor(kernel: Kernel, watch?: CallWatch) {
    this.#kernel = kernel;
    this.#parts = kernel.parts;
    this.#evidence = kernel.evidence;
    this.#watch = watch;
  }

  /** Records and answers a refusal; one that comes after a change is answered as what it leaves behind. */
  async denied(known: Known, denial: Denial): Promise<CallResponse> {
    this.#watch?.enter("record");
    const shown = known.redaction?.denial(denial) ?? denial;
    const sequence = await this.#evidence.denied(known, shown);
    if (known.run?.changes.any) return this.failed(known, brokenOff("was refused", shown.message));
    return this.#respond(known, { outcome: { kind: "denied", denial: shown }, rules: [denial.ruleId], sequence });
  }

  /**
   * Records and answers a tool's failure. What a tool that ran says of it is seen by the caller, as its result would
   * be.
   */
  async failed(known: Known, failure: ToolFailure): Promise<CallResponse> {
    const { stoppedBy } = known.notice;
    if (stoppedBy && failure.code === "CANCELLED" && isHarmless(known)) return this.denied(known, stoppedBy);
    const isHeard = known.run?.hasBegun === true && !(failure instanceof UnansweredFailure);
    const seen = isHeard ? await followDeclared(this.#kernel, known) : undefined;
    return this.#failed(known, failure, seen);
  }

  async #failed(known: Known, failure: ToolFailure, seen: Mark | undefined): Promise<CallResponse> {
    this.#watch?.enter("record");
    const outcome = errorOf(failure, known.redaction);
    const kept = await keepFailure(this.#kernel, known, outcome);
    await this.#prepare(known, outcome, seen);
    const sequence = await recordWith(this.#kernel, { known, kept }, () => this.#evidence.failed(known, failure));
    return this.#respond(known, { outcome, sequence, seen });
  }

  /** Records and answers a success: the result is answered only once its record stands. */
  async succeeded(running: Running, result: CleanResult | ToolFailure): Promise<CallResponse> {
    if (result instanceof ToolFailure) return this.failed(running, result);
    const { stoppedBy } = running.notice;
    if (stoppedBy && isHarmless(running)) return this.denied(running, stoppedBy);
    this.#watch?.enter("record");
    const { outcome, seen, outputBytes } = result;
    await followResult(this.#kernel, running, seen);
    const kept = await keepOutput(this.#kernel, running, outcome);
    if (kept instanceof ToolFailure) return this.failed(running, kept);
    await this.#prepare(running, outcome, seen);
    const sequence = await recordWith(this.#kernel, { known: running, kept }, () =>
      this.#evidence.executed(running, result),
    );
    return this.#respond(running, { outcome, sequence, seen, outputBytes });
  }

  /**
   * Records and answers a call that is not executed: by the first answer to it, byte for byte, or by what speaks
   * against that.
   */
  async ended(known: Known, ended: Ended): Promise<CallResponse> {
    if (ended.kind === "denial") return this.denied(known, ended.denial);
    if (ended.kind === "failure") return this.failed(known, ended.failure);
    if (ended.seen) await followResult(this.#kernel, known, ended.seen);
    this.#watch?.enter("record");
    await this.#evidence.replayed(known, ended.answer);
    const response = { ...ended.answer, requestId: known.requestId };
    this.#watch?.answered(known, response, { isReplay: true });
    return response;
  }

  /**
   * Answers what was thrown: an unusable configuration or store refuses the call, an unusable ledger too, everything
   * else is a bug. Whatever it was, the outcome of a tool with an effect that had begun is unknown.
   */
  async thrown(known: Known, error: unknown): Promise<CallResponse> {
    this.#parts.onInternalError(error);
    const expected = error instanceof KernelError ? error : undefined;
    if (expected?.code === "LEDGER_UNAVAILABLE") return this.#unrecorded(known);
    try {
      if (known.run?.hasBegun && known.intent !== undefined) return await this.#failed(known, BROKEN_OFF, undefined);
      const denial = expected && unusable(expected);
      if (denial) return await this.denied(known, denial);
      return await this.#failed(known, (expected && storeFailure(expected)) ?? BUG, undefined);
    } catch (recordingError) {
      this.#parts.onInternalError(recordingError);
      return this.#unrecorded(known);
    }
  }

  #unrecorded(known: Known): Promise<CallResponse> {
    return this.#respond(known, { outcome: errorOf(unrecorded(known), undefined) });
  }

  /**
   * Puts the answer of an effect with a dedupe key aside, so that it outlives a kernel that is killed once its outcome
   * is recorded.
   */
  async #prepare(known: Known, outcome: Outcome, seen: Mark | undefined): Promise<void> {
    const { holdings, intent } = known;
    if (holdings?.claim === undefined || intent === undefined) return;
    const more = { intent, ...(seen && { seen }) };
    await holdings.claim.prepare(this.#response(known, { outcome }), executionOf(known), more);
  }

  /**
   * INVARIANT: the one way to an answer of this call's own, so that its claim and its budget are settled once, whatever
   * the answer is.
   */
  async #respond(known: Known, said: Said): Promise<CallResponse> {
    const { requestId, holdings, run } = known;
    const { claim, approval } = holdings ?? {};
    if (approval && !run?.hasBegun) await this.#parts.approvals.giveBack(approval.ref, requestId);
    await settleBudget(known, said.outcome.kind === "denied");
    const response = this.#response(known, said);
    if (claim) await claim.settle(response, executionOf(known), said.seen);
    this.#watch?.answered(known, response, said);
    return response;
  }

  #response(known: Known, { outcome, rules, sequence }: Said): CallResponse {
    const { requestId, startedMs, ruling } = known;
    const nowMs = this.#parts.clock.monotonicMs();
    const durationMs = Math.max(0, nowMs - startedMs);
    const consumed = outcome.kind === "success" ? consumedOf(known, nowMs) : undefined;
    return {
      requestId,
      outcome,
      durationMs,
      rules: rules ?? ruling?.permits ?? [],
      ...(sequence !== undefined && { ledgerSequence: sequence }),
      ...(consumed !== undefined && { budgetConsumed: consumed }),
    };
  }
}

/**
 * What an answer says: the outcome, by which rules, with which entry of the ledger, and what the caller has seen by it.
 */
interface Said {
  readonly outcome: Outcome;
  /** The permits of the ruling when absent. */
  readonly rules?: readonly string[];
  readonly sequence?: number | undefined;
  readonly seen?: Mark | undefined;
  /** Of a result. */
  readonly outputBytes?: number;
}

/** Whether nothing can have come of the call: then whoever must not act any more learns that, and nothing else. */
function isHarmless({ run, tool }: Known): boolean {
  return !run?.hasBegun || run.leftNothing || (tool?.capability.effect === "read" && !run.changes.any);
}

/** How far the call came. */
function executionOf({ tool, run }: Known): Execution {
  const { hasBegun: ran = false, hasReturned: done = false, leftNothing: unaffected = false } = run ?? {};
  return { effect: tool?.capability.effect ?? "write", ran, done, unaffected };
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

/**
 * An effect whose outcome could not be recorded is unknown; before an effect, nothing has happened and a retry is safe.
 */
function unrecorded({ intent }: Known): ToolFailure {
  if (intent !== undefined) {
    return new ToolFailure(
      "OUTCOME_UNKNOWN",
      "the call may have taken effect, but its outcome could not be recorded",
      "check the state of the workspace; the kernel refuses further effects until its ledger is writable",
    );
  }
  return new ToolFailure("LEDGER_UNAVAILABLE", "the call cannot be recorded, so it was refused", {
    suggestion: "ask the operator to make the ledger writable, then send it again",
    retryAfterMs: 1000,
  });
}

function errorOf(failure: ToolFailure, redaction: CallRedaction | undefined): Extract<Outcome, { kind: "error" }> {
  const { code, retryable, retryAfterMs } = failure;
  const message = redaction?.words(failure.message) ?? failure.message;
  const suggestion = redaction?.words(failure.suggestion) ?? failure.suggestion;
  return { kind: "error", code, message, suggestion, retryable, retryAfterMs };
}
