/**
 * Evidence: what is recorded about a call, and when.
 *
 * Effects: a durable intent before, a durable outcome after. Reads: one buffered outcome. Denials: durable. Requests
 * of which no session is known, whatever refused them, and those of sessions that have ended are recorded one by one up to
 * a rate, then counted, so that garbage can neither fill nor stall the ledger. Payloads never hold output, and arguments only of tools that say so.
 */

import type { JsonObject } from "../../base/json.ts";
import { MAX_ID_LEN } from "../../base/limits.ts";
import { NOTHING_FOUND } from "../../flow/labels.ts";
import type { Denial } from "../../model/outcome/decision.ts";
import type { EventType, LedgerEvent } from "../../model/outcome/event.ts";
import type { ToolFailure } from "../../model/outcome/failure.ts";
import type { Mark } from "../../model/outcome/label.ts";
import type { Session } from "../../model/people/session.ts";
import type { CallResponse } from "../../model/tool/call.ts";
import { resourceId } from "../../policy/terms/vocabulary.ts";
import type { EgressAttempt } from "../../sandbox/sandbox.ts";
import type { KernelParts } from "../call/parts.ts";
import type { Trail } from "../call/trail.ts";
import { policyResource } from "../judge/decide.ts";
import { NETWORK_PREFIX } from "../judge/network-rules.ts";
import type { CallRedaction } from "../redaction/redaction.ts";
import { countViolation, violationType } from "./alarm.ts";
import { callFacts, clean, type OutcomeFacts } from "./call-facts.ts";
import type { CleanResult } from "./large-result.ts";
import { RefusalRates } from "./refusal-rate.ts";
import { severityOf } from "./severity.ts";
import { spentFact } from "./spend.ts";

/** Records what happens to calls; one per kernel. */
export class Evidence {
  readonly #parts: KernelParts;
  readonly #refusals = new RefusalRates();
  #suppressed = 0;
  #flushedMs = 0;
  #lastSession: Session | undefined;
  #lastActor = "";

  constructor(parts: KernelParts) {
    this.#parts = parts;
  }

  /** Records the durable intent of a call with an effect. Resolves with its sequence. */
  async intent(trail: Trail): Promise<number> {
    return this.#record("tool_selected", trail, this.#callFacts(trail), "durable", { intent: true });
  }

  /**
   * Records that the call succeeded: durable if it had an intent, buffered if it only read. Resolves with the sequence,
   * if the entry has one already.
   */
  executed(trail: Trail, clean: CleanResult): Promise<number | undefined> {
    const { truncated, stored, label } = clean.outcome;
    const outcome = {
      success: true,
      truncated,
      secretsFound: clean.secretsFound,
      outputBytes: clean.outputBytes,
      resultHash: stored?.hash,
      label: { dataClass: label.dataClass, trustLevel: label.trustLevel },
      executionTime: this.#elapsedMs(trail),
    };
    const facts = this.#callFacts(trail, outcome);
    return this.#withRedactions(this.#outcome("tool_executed", trail, withEnd(trail, facts)), trail);
  }

  /** Records with an outcome what was hidden: which rules found how much, never what. */
  #withRedactions(outcome: Promise<number | undefined>, trail: Trail): Promise<number | undefined> {
    const { definite, probable } = trail.redaction?.found ?? NOTHING_FOUND;
    if (trail.redaction === undefined || definite + probable === 0) return outcome;
    return this.#recordRedactions(outcome, trail, trail.redaction);
  }

  async #recordRedactions(outcome: Promise<number | undefined>, trail: Trail, redaction: CallRedaction): Promise<number | undefined> {
    const { definite, probable } = redaction.found;
    const { rules } = redaction;
    const counts = { counts: rules, secretsFound: definite + probable, definite, probable };
    const found = { ...clean(trail, { tool: trail.call?.tool ?? "" }), rules: Object.keys(rules), ...counts, severity: "warning" };
    const [sequence] = await Promise.all([outcome, this.#record("secret_redacted", trail, found, "durable", {})]);
    return sequence;
  }

  /** Records that the call failed, and whether the tool ran at all; `undefined` when it was only counted. */
  async failed(trail: Trail, failure: Pick<ToolFailure, "code">): Promise<number | undefined> {
    const isCountable = trail.session === undefined || failure.code === "RATE_LIMITED";
    if (isCountable && !this.#admitRefusal(trail)) return undefined;
    const facts = {
      ...this.#callFacts(trail, { success: false, executionTime: this.#elapsedMs(trail) }),
      errorCode: failure.code,
      ...(!trail.ran && { ran: false }),
    };
    const recorded = this.#outcome("tool_executed", trail, withEnd(trail, facts));
    return trail.ran ? this.#withRedactions(recorded, trail) : recorded;
  }

  /** Records that the answer `first` was given again and nothing was executed. Buffered: the effect, if any, is recorded. */
  async replayed(trail: Trail, first: CallResponse): Promise<void> {
    const { outcome, requestId, ledgerSequence } = first;
    const facts = {
      ...this.#callFacts(trail, { success: outcome.kind === "success", executionTime: this.#elapsedMs(trail) }),
      ...(outcome.kind === "error" && { errorCode: outcome.code }),
      firstRequestId: requestId.slice(0, MAX_ID_LEN).toWellFormed(),
      ...(ledgerSequence !== undefined && { firstSequence: ledgerSequence }),
    };
    await this.#buffered("tool_replayed", trail, facts);
  }

  /** Records a refusal; `undefined` when it was only counted. */
  async denied(trail: Trail, denial: Denial): Promise<number | undefined> {
    if (mayFlood(trail, denial) && !this.#admitRefusal(trail)) return undefined;
    // What was changed before is recorded with the outcome that follows, and what was spent with it.
    const spent = trail.changes.any ? {} : spentFact(trail, true);
    const facts = { ...this.#callFacts(trail), ...denialFacts(denial), ...spent, severity: severityOf(trail, "warning") };
    const entry = this.#record(
      "tool_execution_denied",
      trail,
      facts,
      "durable",
      // What was changed before is closed by the outcome that follows: it is unknown, and not that nothing happened.
      trail.intent === undefined || trail.changes.any ? {} : { closes: trail.intent },
    );
    const others: Promise<unknown>[] = [];
    const violation = violationType(denial);
    if (violation !== undefined) others.push(this.#violation(trail, denial, violation));
    if (denial.ruleId.startsWith(NETWORK_PREFIX)) others.push(this.#record("network_blocked", trail, facts, "durable", {}));
    if (denial.reason === "tool_approval_required") others.push(this.#record("tool_approval_required", trail, facts, "durable", {}));
    const [sequence] = await Promise.all([entry, ...others]);
    return sequence;
  }

  /** Records what a running tool wants recorded. */
  async note(trail: Trail, category: string, event: string, fields: JsonObject): Promise<void> {
    await this.#buffered("tool_audit", trail, { tool: trail.call?.tool ?? "", ...clean(trail, { category, event, fields }) });
  }

  /** Records what a command tried to reach: what was refused durably, as denials are. */
  async networkAttempt(trail: Trail, attempt: EgressAttempt): Promise<void> {
    const { outcome, durationMs, host, serverName, ...rest } = attempt;
    const facts = {
      tool: trail.call?.tool ?? "",
      ...rest,
      outcome,
      ...clean(trail, { host, ...(serverName !== undefined && { serverName }) }),
      executionTime: Math.round(durationMs * 1000) / 1000,
    };
    if (outcome !== "refused") await this.#buffered("network_reached", trail, facts);
    else await this.#record("network_blocked", trail, { ...facts, severity: "warning" }, "durable", {});
  }

  /** Records that the principal has now seen more than before. */
  async markRaised(trail: Trail, before: Mark, after: Mark): Promise<void> {
    await this.#buffered("mark_raised", trail, { tool: trail.call?.tool ?? "", before: { ...before }, after: { ...after } });
  }

  /** Records that an abandoned file lock was broken. */
  async lockBroken(trail: Trail, path: string, owner: string): Promise<void> {
    await this.#buffered("file_lock_broken", trail, {
      tool: trail.call?.tool ?? "",
      ...clean(trail, { path }),
      owner,
      severity: "warning",
    });
  }

  /** Writes the count of refusals that were not recorded one by one. */
  async flush(): Promise<void> {
    if (this.#suppressed === 0) return;
    const count = this.#suppressed;
    this.#suppressed = 0;
    const timeMs = this.#parts.clock.nowMs();
    const event: LedgerEvent = { type: "requests_refused", sessionId: "", actor: "", requestId: "", timeMs, payload: { count } };
    try {
      await this.#parts.ledger.record(event, "durable");
    } catch (error) {
      this.#suppressed += count; // they are counted with the next ones
      throw error;
    }
  }

  #outcome(type: EventType, trail: Trail, facts: JsonObject): Promise<number | undefined> {
    if (trail.intent === undefined) return this.#buffered(type, trail, facts);
    return this.#record(type, trail, facts, "durable", { closes: trail.intent });
  }

  /** The security audit record of a violation (Flow §7.2), and the alarm when there are too many. */
  async #violation(trail: Trail, denial: Denial, type: EventType): Promise<void> {
    const { session } = trail;
    const facts = {
      timestamp: new Date(trail.receivedAtMs).toISOString(),
      agent_id: session?.agentId ?? "",
      violation_type: denial.reason,
      ...clean(trail, {
        target_path: violatedPath(trail, denial, type),
        command_args: denial.command === undefined ? [] : [denial.command],
      }),
      severity: "warning",
    };
    await Promise.all([this.#record(type, trail, facts, "durable", {}), this.#count(trail)]);
  }

  /** An alarm flags the principal for review, frozen until then unless the operator wants alarms recorded only. */
  async #count(trail: Trail): Promise<void> {
    const { session } = trail;
    const alarm = session && (await countViolation(this.#parts, session));
    if (!session || !alarm) return;
    const { userId, agentId, serviceRoot } = session;
    const raised = { violations_per_minute: alarm.violationsPerMinute, severity: "critical", review: "required", frozen: alarm.frozen };
    const frozen = { scope: "workspace", userId, agentId, serviceRoot, cause: "alert", severity: "critical" };
    await Promise.all([
      this.#record("alert_mode", trail, raised, "durable", {}),
      ...(alarm.frozen ? [this.#record("frozen", trail, frozen, "durable", {})] : []),
    ]);
  }

  #admitRefusal(trail: Trail): boolean {
    const { receivedAtMs: nowMs, session } = trail;
    if (nowMs - this.#flushedMs >= 1000 || nowMs < this.#flushedMs) {
      this.#flushedMs = nowMs;
      this.flush().catch(this.#parts.onInternalError);
    }
    if (this.#refusals.admit(session?.id ?? "", nowMs)) return true;
    this.#suppressed += 1;
    return false;
  }

  #record(
    type: EventType,
    trail: Trail,
    payload: JsonObject,
    durability: "durable",
    link: Pick<LedgerEvent, "intent" | "closes">,
  ): Promise<number> {
    return this.#parts.ledger.record({ ...this.#event(type, trail, payload), ...link }, durability);
  }

  /** Resolves with `undefined` while the entry has no place in the chain yet. */
  #buffered(type: EventType, trail: Trail, payload: JsonObject): Promise<number | undefined> {
    return this.#parts.ledger.record(this.#event(type, trail, payload), "buffered");
  }

  #event(type: EventType, trail: Trail, payload: JsonObject): LedgerEvent {
    const { session } = trail;
    return {
      type,
      sessionId: session?.id ?? "",
      actor: session ? this.#actorOf(session) : "",
      requestId: trail.requestId.slice(0, MAX_ID_LEN).toWellFormed(),
      timeMs: this.#parts.clock.nowMs(),
      payload,
    };
  }

  /** Sessions are asked for once in a turn, and most events of a turn are of one. */
  #actorOf(session: Session): string {
    if (session !== this.#lastSession) {
      this.#lastSession = session;
      this.#lastActor = `${session.userId}/${session.agentId}`;
    }
    return this.#lastActor;
  }

  #callFacts(trail: Trail, outcome?: OutcomeFacts): JsonObject {
    return callFacts(trail, this.#parts.argumentsKey, outcome);
  }

  #elapsedMs(trail: Trail): number {
    return Math.round((this.#parts.clock.monotonicMs() - trail.startedMs) * 1000) / 1000;
  }
}

/** The facts with what the call spent, and why it was told to end while it ran, where its session must not act any more. */
function withEnd(trail: Trail, facts: JsonObject): JsonObject {
  const { spending, stopped } = trail;
  if (spending === undefined && stopped === undefined) return facts;
  return { ...facts, ...spentFact(trail), ...(stopped && { stopped: stopped.reason }) };
}

/** What the security audit names as the target: the file that was judged, or what else the call was about. */
function violatedPath({ accesses }: Trail, { targetPath }: Denial, type: EventType): string {
  if (targetPath !== undefined) return targetPath;
  if (type === "workspace_violation") return "outside the workspace";
  const [access] = accesses;
  return type === "command_violation" || access === undefined ? "" : resourceId(policyResource(access));
}

/** Refusals that cost their sender nothing: of unknown tokens, and of sessions whose time is over. Never an intent's end. */
function mayFlood({ session, intent }: Trail, { layer, reason }: Denial): boolean {
  if (intent !== undefined) return false;
  return session === undefined || layer === "authenticate" || reason === "lease_expired";
}

function denialFacts(denial: Denial): JsonObject {
  return {
    decision: "deny",
    layer: denial.layer,
    reason: denial.reason,
    ruleId: denial.ruleId,
    ...(denial.approvalRef !== undefined && { approvalRef: denial.approvalRef }),
    ...(denial.violations && {
      violations: denial.violations.slice(0, 32).map(({ field, rule }) => ({ field: field.slice(0, 128).toWellFormed(), rule })),
    }),
  };
}
