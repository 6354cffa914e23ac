/** Implements the approval acts of the administration service, by approvers' credentials. */
import { APPROVAL_STATES, type ApprovalState, type StoredApproval } from "../../approval/requests/approval-store.ts";
import { isIntact } from "../../approval/requests/request.ts";
import { usageError } from "../../base/errors.ts";
import type { AdminPort } from "../../transports/connect/index.ts";
import type { ApprovalActs } from "../people/approval-acts.ts";

/** The acts of approvers on an open kernel's approvals. */
export function approvalPort(approvals: ApprovalActs): AdminPort["approvals"] {
  return {
    list: async (state) => (await approvals.list(state === undefined ? {} : { state: knownState(state) })).map(shown),
    async find(ref) {
      const found = await approvals.find(ref);
      return found.kind === "found" ? shown(found.approval) : undefined;
    },
    async decide(ref, decision, credential) {
      const outcome = await approvals.decide(ref, { ...decision, channel: "rpc" }, credential);
      if (outcome.kind === "wrong_credential")
        throw usageError("the approver was removed meanwhile; nothing was decided");
      return outcome.kind === "unknown"
        ? undefined
        : { decided: outcome.kind === "decided", approval: shown(outcome.approval) };
    },
  };
}

/** Nobody is shown a request that is not what its reference names. */
function shown(approval: StoredApproval): StoredApproval {
  return isIntact(approval) ? approval : { ...approval, document: "" };
}

function knownState(text: string): ApprovalState {
  const state = APPROVAL_STATES.find((known) => known === text);
  if (state !== undefined) return state;
  throw usageError(`\`${text.slice(0, 32).toWellFormed()}\` is no state; use one of ${APPROVAL_STATES.join(", ")}`);
}
