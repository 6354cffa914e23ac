/**
 * Evidence: what is recorded about a call, and when.
 *
 * Effects: a durable intent before, a durable outcome after. Reads: one buffered outcome. Denials: durable. Requests of
 * which no session is known, whatever refused them, and those of sessions that have ended are recorded one by one up to
 * a rate, then counted, so that garbage can neither fill nor stall the ledger. Payloads never hold output, and
 * arguments only of tools that say so.
 */

import type { JsonObject } from "../../base/json.ts";
import { NOTHING_FOUND } from "../../flow/labels.ts";
import type { Denial } from "../../model/outcome/decision.ts";
import type { EventType, LedgerEvent } from "../../model/outcome/event.ts";
import type { ToolFailure } from "../../model/outcome/failure.ts";
import type { Mark } from "../../model/outcome/label.ts";
import { agentLabel, type Session } from "../../model/people/session.ts";
import { wordsOfCommand } from "../../model/place/command.ts";
import type { CallResponse } from "../../model/tool/call.ts";
import { resourceId } from "../../policy/terms/vocabulary.ts";
import type { EgressAttempt } from "../../sandbox/sandbox.ts";
import { visibleLine } from "../../text/foreign-text.ts";
import type { KernelParts } from "../call/parts.ts";
import type { Known, Running } from "../call/stages.ts";
import { policyResource } from "../judge/decide.ts";
import { NETWORK_PREFIX } from "../judge/network-rules.ts";
import { hideInCommand } from "../redaction/command-words.ts";
import type { CallRedaction } from "../redaction/redaction.ts";
import { countViolation, violationType } from "./alarm.ts";
import { callFacts, clean, type OutcomeFacts, recordedTool } from "./call-facts.ts";
import type { Kept } from "./documents/document-writer.ts";
import { ledgerRequestId } from "./documents/ledger-request-id.ts";
import type { CleanResult } from "./large-result.ts";
import { RefusalRates } from "./refusal-rate.ts";
import { severityOf } from "./severity.ts";
import { spentFact } from "./spend.ts";

/** Characters (UTF-16 code units) of a target in the security audit: more than a path may have on Linux. */
const TARGET_CHARACTERS_MAX = 4096;

/** What a running tool wants recorded. */
export interface ToolNote {
  readonly category: string;
  readonly event: string;
  readonly fields: JsonObject;
}

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
  async intent(known: Known, facts: JsonObject): Promise<number> {
    return this.#durable({ ...this.#event("tool_selected", known, facts), intent: true });
  }

  /**
   * Records that the call succeeded: durable if it had an intent, buffered if it only read. Resolves with the sequence,
   * if the entry has one already.
   */
  executed(known: Running, clean: CleanResult): Promise<number | undefined> {
    const { truncated, stored, label } = clean.outcome;
    const outcome = {
      success: true,
      truncated,
      secretsFound: clean.secretsFound,
      outputBytes: clean.outputBytes,
      resultHash: stored?.hash,
      label: { dataClass: label.dataClass, trustLevel: label.trustLevel },
      executionTime: this.#elapsedMs(known),
    };
    const facts = this.#callFacts(known, outcome);
    return this.#withRedactions(this.#outcome("tool_executed", known, withEnd(known, facts)), known);
  }

  /** Records with an outcome what was hidden: which rules found how much, never what. */
  #withRedactions(outcome: Promise<number | undefined>, known: Known): Promise<number | undefined> {
    const { definite, probable } = known.redaction?.found ?? NOTHING_FOUND;
    if (known.redaction === undefined || definite + probable === 0) return outcome;
    return this.#recordRedactions(outcome, known, known.redaction);
  }

  async #recordRedactions(
    outcome: Promise<number | undefined>,
    known: Known,
    redaction: CallRedaction,
  ): Promise<number | undefined> {
    const { definite, probable } = redaction.found;
    const { rules } = redaction;
    const counts = { counts: rules, secretsFound: definite + probable, definite, probable };
    const found = {
      ...clean(known, { tool: recordedTool(known) }),
      rules: Object.keys(rules),
      ...counts,
      severity: "warning",
    };
    const [sequence] = await Promise.all([outcome, this.#record("secret_redacted", known, found)]);
    return sequence;
  }

  /** Records that the call failed, and whether the tool ran at all; `undefined` when it was only counted. */
  async failed(known: Known, failure: Pick<ToolFailure, "code">): Promise<number | undefined> {
    const isCountable = known.session === undefined || failure.code === "RATE_LIMITED";
    if (isCountable && !this.#admitRefusal(known)) return undefined;
    const facts = {
      ...this.#callFacts(known, { success: false, executionTime: this.#elapsedMs(known) }),
      errorCode: failure.code,
      ...(!known.run?.hasBegun && { ran: false }),
    };
    const recorded = this.#outcome("tool_executed", known, withEnd(known, facts));
    return known.run?.hasBegun ? this.#withRedactions(recorded, known) : recorded;
  }

  /**
   * Records that the answer `first` was given again and nothing was executed. Buffered: the effect, if any, is
   * recorded.
   */
  async replayed(known: Known, first: CallResponse): Promise<void> {
    const { outcome, requestId, ledgerSequence } = first;
    const facts = {
      ...this.#callFacts(known, { success: outcome.kind === "success", executionTime: this.#elapsedMs(known) }),
      ...(outcome.kind === "error" && { errorCode: outcome.code }),
      firstRequestId: ledgerRequestId(requestId),
      ...(ledgerSequence !== undefined && { firstSequence: ledgerSequence }),
    };
    await this.#buffered("tool_replayed", known, facts);
  }

  /** Records a refusal; `undefined` when it was only counted. */
  async denied(known: Known, denial: Denial): Promise<number | undefined> {
    if (mayFlood(known, denial) && !this.#admitRefusal(known)) return undefined;
    // What was changed before is recorded with the outcome that follows, and what was spent with it.
    const spent = known.run?.changes.any ? {} : spentFact(known, true);
    const facts = {
      ...this.#callFacts(known),
      ...denialFacts(denial),
      ...spent,
      severity: severityOf(known, "warning"),
    };
    // What was changed before is closed by the outcome that follows: it is unknown, and not that nothing happened.
    const link = known.intent === undefined || known.run?.changes.any ? {} : { closes: known.intent };
    const entry = this.#durable({ ...this.#event("tool_execution_denied", known, facts), ...link });
    const others: Promise<unknown>[] = [];
    const violation = violationType(denial);
    if (violation !== undefined) others.push(this.#violation(known, denial, violation));
    if (denial.ruleId.startsWith(NETWORK_PREFIX)) others.push(this.#record("network_blocked", known, facts));
    if (denial.reason === "tool_approval_required") others.push(this.#record("tool_approval_required", known, facts));
    const [sequence] = await Promise.all([entry, ...others]);
    return sequence;
  }

  /** Records which documents of the call are kept; of an effect durably, as are the documents once it resolves. */
  async written(type: "tool_call_written" | "tool_output_written", known: Known, kept: Kept): Promise<void> {
    const { call, input, output } = kept.hashes;
    const named = type === "tool_call_written" ? { call, input } : { call, output };
    const event = this.#event(type, known, { tool: recordedTool(known), ...named });
    const { ledger } = this.#parts;
    await (kept.durable
      ? Promise.all([ledger.record(event, "durable"), kept.durable])
      : ledger.record(event, "buffered"));
  }

  /** What an entry says of a call whose tool has not run. */
  factsOf(known: Known): JsonObject {
    return this.#callFacts(known);
  }

  /** Records what a running tool wants recorded. */
  async note(known: Known, note: ToolNote): Promise<void> {
    await this.#buffered("tool_audit", known, { tool: recordedTool(known), ...clean(known, { ...note }) });
  }

  /** Records what a command tried to reach: what was refused durably, as denials are. */
  async networkAttempt(known: Known, attempt: EgressAttempt): Promise<void> {
    const { outcome, durationMs, host, serverName, ...rest } = attempt;
    const facts = {
      tool: recordedTool(known),
      ...rest,
      outcome,
      ...clean(known, { host, ...(serverName !== undefined && { serverName }) }),
      executionTime: Math.round(durationMs * 1000) / 1000,
    };
    if (outcome !== "refused") await this.#buffered("network_reached", known, facts);
    else await this.#record("network_blocked", known, { ...facts, severity: "warning" });
    // whoever sends a secret elsewhere means it, or is misled
    if (attempt.reason === "secret_binding") await this.#count(known);
  }

  /** Records that the principal has now seen more than before. */
  async markRaised(known: Known, before: Mark, after: Mark): Promise<void> {
    await this.#buffered("mark_raised", known, {
      tool: recordedTool(known),
      before: { ...before },
      after: { ...after },
    });
  }

  /** Records that an abandoned file lock was broken. */
  async lockBroken(known: Known, path: string, owner: string): Promise<void> {
    await this.#buffered("file_lock_broken", known, {
      tool: recordedTool(known),
      ...clean(known, { path }),
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
    const event: LedgerEvent = {
      type: "requests_refused",
      sessionId: "",
      actor: "",
      requestId: "",
      timeMs,
      payload: { count },
    };
    try {
      await this.#parts.ledger.record(event, "durable");
    } catch (error) {
      this.#suppressed += count; // they are counted with the next ones
      throw error;
    }
  }

  #outcome(type: EventType, known: Known, facts: JsonObject): Promise<number | undefined> {
    if (known.intent === undefined) return this.#buffered(type, known, facts);
    return this.#durable({ ...this.#event(type, known, facts), closes: known.intent });
  }

  /** The security audit record of a violation (Flow §7.2), and the alarm when there are too many. */
  async #violation(known: Known, denial: Denial, type: EventType): Promise<void> {
    const { session } = known;
    const facts = {
      timestamp: new Date(known.receivedAtMs).toISOString(),
      agent_id: session === undefined ? "" : agentLabel(session),
      violation_type: denial.reason,
      ...clean(known, {
        target_path: violatedPath(known, denial, type),
        command_args: commandOfViolation(known, denial),
      }),
      severity: "warning",
    };
    await Promise.all([this.#record(type, known, facts), this.#count(known)]);
  }

  /** An alarm flags the principal for review, frozen until then unless the operator wants alarms recorded only. */
  async #count(known: Known): Promise<void> {
    const { session } = known;
    const alarm = session && (await countViolation(this.#parts, session));
    if (!session || !alarm) return;
    const { userId, agentId, serviceRoot } = session;
    const raised = {
      violations_per_minute: alarm.violationsPerMinute,
      severity: "critical",
      review: "required",
      frozen: alarm.frozen,
    };
    const frozen = { scope: "workspace", userId, agentId, serviceRoot, cause: "alert", severity: "critical" };
    await Promise.all([
      this.#record("alert_mode", known, raised),
      ...(alarm.frozen ? [this.#record("frozen", known, frozen)] : []),
    ]);
  }

  #admitRefusal(known: Known): boolean {
    const { receivedAtMs: nowMs, session } = known;
    if (nowMs - this.#flushedMs >= 1000 || nowMs < this.#flushedMs) {
      this.#flushedMs = nowMs;
      this.flush().catch(this.#parts.onInternalError);
    }
    if (this.#refusals.admit(session?.id ?? "", nowMs)) return true;
    this.#suppressed += 1;
    return false;
  }

  #record(type: EventType, known: Known, payload: JsonObject): Promise<number> {
    return this.#durable(this.#event(type, known, payload));
  }

  #durable(event: LedgerEvent): Promise<number> {
    return this.#parts.ledger.record(event, "durable");
  }

  /** Resolves with `undefined` while the entry has no place in the chain yet. */
  #buffered(type: EventType, known: Known, payload: JsonObject): Promise<number | undefined> {
    return this.#parts.ledger.record(this.#event(type, known, payload), "buffered");
  }

  #event(type: EventType, known: Known, payload: JsonObject): LedgerEvent {
    const { session } = known;
    return {
      type,
      sessionId: session?.id ?? "",
      actor: session ? this.#actorOf(session) : "",
      requestId: ledgerRequestId(known.requestId),
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

  #callFacts(known: Known, outcome?: OutcomeFacts): JsonObject {
    return callFacts(known, this.#parts.argumentsKey, outcome);
  }

  #elapsedMs(known: Known): number {
    return Math.round((this.#parts.clock.monotonicMs() - known.startedMs) * 1000) / 1000;
  }
}

/**
 * The facts with what the call spent, and why it was told to end while it ran, where its session must not act any more.
 */
function withEnd(known: Known, facts: JsonObject): JsonObject {
  const { stoppedBy } = known.notice;
  if (known.holdings?.payment?.spending === undefined && stoppedBy === undefined) return facts;
  return { ...facts, ...spentFact(known), ...(stoppedBy && { stopped: stoppedBy.reason }) };
}

/**
 * What the security audit names as the target: the path that was asked for, whether it lies in the workspace or not, or
 * what else the call was about. What could forge or hide a line is escaped.
 */
function violatedPath(known: Known, denial: Denial, type: EventType): string {
  const { accesses = [], redaction } = known;
  const { targetPath } = denial;
  if (targetPath !== undefined) return visibleLine(targetPath.slice(0, TARGET_CHARACTERS_MAX));
  if (type === "command_violation") return "";
  const files = accesses.filter(({ resource }) => resource.kind === "file");
  const [access] = type === "workspace_violation" ? files : accesses;
  if (access === undefined) return "";
  const resource = policyResource(access);
  // Secrets go before anything is escaped: afterwards they are not found any more.
  const text =
    resource.kind === "command"
      ? commandOfViolation(known, denial).join(" ")
      : (redaction?.words(resource.kind === "file" ? resource.path : resourceId(resource)) ?? "");
  return visibleLine(text.slice(0, TARGET_CHARACTERS_MAX));
}

/** The command that was refused, or that a refused call would have run: program and arguments. */
function commandOfViolation({ accesses = [], redaction }: Known, { command }: Denial): readonly string[] {
  if (command !== undefined) return command;
  for (const { resource } of accesses)
    if (resource.kind === "command" && redaction !== undefined)
      return hideInCommand(wordsOfCommand(resource), (word) => redaction.words(word));
  return [];
}

/**
 * Refusals that cost their sender nothing: of unknown tokens, and of sessions whose time is over. Never an intent's
 * end.
 */
function mayFlood({ session, intent }: Known, { layer, reason }: Denial): boolean {
  if (intent !== undefined) return false;
  return session === undefined || layer === "authenticate" || reason === "lease_expired";
}

/** meao's reason of a call that a person, or the tool itself, does not approve stands beside the code. */
function reasonFacts({ reason }: Denial): JsonObject {
  return reason === "tool_approval_denied" ? { reason: "approval_denied", code: reason } : { reason };
}

function denialFacts(denial: Denial): JsonObject {
  return {
    decision: "deny",
    layer: denial.layer,
    ...reasonFacts(denial),
    ruleId: denial.ruleId,
    ...(denial.approvalId !== undefined && { approvalId: denial.approvalId }),
    ...(denial.approvalRef !== undefined && { approvalRef: denial.approvalRef, approval_ref: denial.approvalRef }),
    ...(denial.violations && {
      violations: denial.violations
        .slice(0, 32)
        .map(({ field, rule }) => ({ field: field.slice(0, 128).toWellFormed(), rule })),
    }),
  };
}
