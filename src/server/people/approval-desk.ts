/**
 * Approvals as the people of one state directory meet them, on top of an open kernel's approvals.
 *
 * Trusts an approver's credential alone. INVARIANT: a wrong one is recorded and decides nothing; who decided is whose credential it was,
 * never what somebody says.
 */
import { stripVTControlCharacters } from "node:util";
import type { ApprovalStore, StoredApproval } from "../../approval/approval-store.ts";
import type { Approvals } from "../../approval/approvals.ts";
import type { Clock } from "../../base/clock.ts";
import { KernelError } from "../../base/errors.ts";
import { APPROVAL_REASON_CHARACTERS_MAX } from "../../base/limits.ts";
import type { ApprovalScope } from "../../model/approval/approval.ts";
import type { Bell } from "../../model/outcome/bell.ts";
import type { Denial } from "../../model/outcome/decision.ts";
import type { ApprovalAdministration, PersonsOutcome, WantedDecision } from "./approval-administration.ts";

/** Requests that one listing returns. */
export const APPROVALS_LISTED_MAX = 1000;

const PREFIX = /^(?:blake3:)?([0-9a-f]{4,64})$/;

/** What the desk works on. */
export interface ApprovalDeskParts {
  readonly approvals: Approvals;
  readonly store: Pick<ApprovalStore, "list" | "findByPrefix">;
  readonly bell: Pick<Bell, "listen">;
  readonly clock: Clock;
  /** Whose credential it is; `undefined` when it is nobody's. */
  readonly approverOf: (credential: string) => Promise<string | undefined>;
  readonly recordRefusal: (denial: Denial) => Promise<void>;
}

const WRONG_CREDENTIAL: Denial = {
  layer: "authenticate",
  reason: "session_invalid",
  ruleId: "APPROVER:credential",
  message: "this is no approver's credential; make one with `handrail approvers add NAME`",
};

/** The administration of an open kernel's approvals. */
export function approvalDesk(parts: ApprovalDeskParts): ApprovalAdministration {
  const { approvals, store, bell, clock } = parts;
  const decide = async (ref: string, wanted: WantedDecision, credential: string): Promise<PersonsOutcome> => {
    const by = await parts.approverOf(credential);
    if (by === undefined) {
      await parts.recordRefusal(WRONG_CREDENTIAL);
      return { kind: "wrong_credential" };
    }
    const { approved, channel = "cli" } = wanted;
    const reason = checkedReason(wanted.reason);
    const scope = approved ? checkedScope(wanted.scope ?? { kind: "once" }, clock.nowMs()) : undefined;
    const outcome = await approvals.decide(ref, {
      approved,
      by,
      channel,
      ...(scope && { scope }),
      ...(reason !== undefined && { reason }),
    });
    return { ...outcome, by };
  };
  return {
    list: (selection = {}) => store.list(selection.state, APPROVALS_LISTED_MAX, clock.nowMs()),
    async find(refOrPrefix) {
      const prefix = PREFIX.exec(refOrPrefix)?.[1];
      if (prefix === undefined) return { kind: "unknown" };
      const [first, second] = await store.findByPrefix(prefix, clock.nowMs());
      if (first === undefined) return { kind: "unknown" };
      return second === undefined ? found(first) : { kind: "ambiguous" };
    },
    decide,
    revoke: (ref, credential, reason) => decide(ref, { approved: false, ...(reason !== undefined && { reason }) }, credential),
    watch: (listener) => bell.listen("approvals", listener),
  };
}

function found(approval: StoredApproval) {
  return { kind: "found", approval } as const;
}

function checkedReason(reason: string | undefined): string | undefined {
  if (reason === undefined) return undefined;
  if (reason.length > APPROVAL_REASON_CHARACTERS_MAX)
    throw new KernelError("USAGE", `a reason has at most ${APPROVAL_REASON_CHARACTERS_MAX} characters; shorten it`);
  return stripVTControlCharacters(reason).toWellFormed();
}

function checkedScope(scope: ApprovalScope, nowMs: number): ApprovalScope {
  if (scope.kind !== "until") return scope;
  if (Number.isSafeInteger(Math.floor(scope.untilMs)) && scope.untilMs > nowMs) return scope;
  throw new KernelError("USAGE", "an approval until a time needs one that is still to come; name a later time");
}
