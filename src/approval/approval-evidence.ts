/**
 * Records in the ledger who asked for an approval, who decided on it and who used it.
 *
 * Each record is durable when its promise resolves.
 */
import type { Clock } from "../base/clock.ts";
import type { JsonObject } from "../base/json.ts";
import type { EventSink, EventType } from "../model/outcome/event.ts";
import type { ApprovalDecision, StoredApproval } from "./requests/approval-store.ts";
import { isIntact, requestIn } from "./requests/request.ts";

/** The records of one kernel's approvals. */
export class ApprovalEvidence {
  readonly #ledger: EventSink;
  readonly #clock: Clock;

  constructor(ledger: EventSink, clock: Clock) {
    this.#ledger = ledger;
    this.#clock = clock;
  }

  /** Records an event about a request. @throws KernelError LEDGER_UNAVAILABLE */
  async record(
    type: EventType,
    { approval, requestId = "" }: { readonly approval: StoredApproval; readonly requestId?: string },
    facts: JsonObject,
  ): Promise<void> {
    const { ref, tool, sessionId, userId, agentId } = approval;
    const actor =
      type === "tool_approval_decided" && typeof facts["by"] === "string"
        ? `approver:${facts["by"]}`
        : `${userId}/${agentId}`;
    const payload = { approvalRef: ref, approval_ref: ref, ...idOf(approval), tool, ...facts };
    await this.#ledger.record({ type, sessionId, actor, requestId, timeMs: this.#clock.nowMs(), payload }, "durable");
  }

  /** Records a decision, and whether it holds. */
  decided(
    approval: StoredApproval,
    given: Omit<ApprovalDecision, "atMs"> & { readonly document?: JsonObject },
    holds: boolean,
  ): Promise<void> {
    const { approved, by, channel, scope, reason, document } = given;
    const facts = {
      approved,
      by,
      channel,
      ...(scope && { scope: { ...scope } }),
      ...(reason !== undefined && { reason }),
      holds,
      ...(!holds && { stands: approval.state }),
      ...document,
      severity: "warning",
    };
    return this.record("tool_approval_decided", { approval }, facts);
  }

  /** Records a request in the place of a kernel that stored it and ended before it could. */
  requestedLate(approval: StoredApproval): Promise<void> {
    return this.record("approval_requested", { approval }, isIntact(approval) ? factsOf(approval) : {});
  }
}

/** meao's name for the kind of request, where the document is what was stored. */
function idOf(approval: StoredApproval): JsonObject {
  return isIntact(approval) ? { approvalId: requestIn(approval).id } : {};
}

function factsOf(approval: StoredApproval): JsonObject {
  const { details } = requestIn(approval);
  const rules = (details?.["rules"] ?? []) as readonly { readonly ruleId: string }[];
  return { rules: rules.map(({ ruleId }) => ruleId) };
}
