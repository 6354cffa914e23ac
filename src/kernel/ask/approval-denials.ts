/**
 * Why a call that asks is refused, in words for the agent. None of them shows what a person wrote; all name the
 * request.
 */
import type { StoredApproval } from "../../approval/requests/approval-store.ts";
import { shortRef } from "../../model/approval/prompt-lines.ts";
import type { Denial } from "../../model/outcome/decision.ts";

/** Nobody could be asked, or nobody can say what was answered. */
export const FAILED: Denial = {
  layer: "approval",
  reason: "tool_approval_request_failed",
  ruleId: "APPROVAL:request",
  message:
    "the call needs a person's approval, and asking for it failed; try again in a moment, and tell the operator if it goes on",
};

/** A decision was put down that does not count. */
export const FORGED: Denial = {
  layer: "approval",
  reason: "tool_approval_invalid",
  ruleId: "APPROVAL:decision_file",
  message:
    "a decision was found that does not count for this call, so it was refused; the request still waits for a person's answer",
};

/** A further round of a call that cannot be one; `problem` is the end of a sentence about its state. */
export function foreignRound(problem: string): Denial {
  return {
    layer: "approval",
    reason: "tool_approval_invalid",
    ruleId: "APPROVAL:round",
    message: `the state that the call brings from an earlier round does not count: ${problem}; send the call without it to ask anew`,
  };
}

const EXPIRED: Denial = {
  layer: "approval",
  reason: "tool_approval_expired",
  ruleId: "APPROVAL:expired",
  message: "the time to approve this call, or to use its approval, is over; send it again to ask anew",
};

const CHANGED: Denial = {
  layer: "approval",
  reason: "tool_approval_invalid",
  ruleId: "APPROVAL:binding",
  message:
    "what the approval was asked for has changed since (a file, a rule, the lease, or what was read meanwhile), so it does not count; " +
    "look at what changed, and send the call again to ask anew",
};

const DENIED: Denial = {
  layer: "approval",
  reason: "tool_approval_denied",
  ruleId: "APPROVAL:denied",
  message: "a person has refused this call; do not send it again, choose another way",
};

const DAMAGED: Denial = {
  layer: "approval",
  reason: "tool_approval_invalid",
  ruleId: "APPROVAL:document",
  message:
    "what is stored of the request for approval is not what people were shown, so it does not count; tell the operator, and send the call again to ask anew",
};

const USED: Denial = {
  layer: "approval",
  reason: "tool_approval_required",
  ruleId: "APPROVAL:used",
  message: "the approval of this call covered one execution, and another call has used it; send it again to ask anew",
};

/** The refusal with the request that it is about, in its text too, because models see that alone. */
export function about(denial: Denial, ref: string): Denial {
  return { ...denial, message: `${denial.message} (request ${shortRef(ref)})`, approvalRef: ref };
}

/** The refusal of a call whose approval does not fit it any more. */
export function invalid(ref: string): Denial {
  return about(CHANGED, ref);
}

/** By what stands about a call that does not let it through. */
const STANDING = {
  denied: DENIED,
  changed: CHANGED,
  expired: EXPIRED,
  forged: FORGED,
  damaged: DAMAGED,
  consumed: USED,
};

/** The refusal of a call about which something stands that does not let it through. */
export function deniedBy(kind: keyof typeof STANDING, { ref }: StoredApproval): Denial {
  return about(STANDING[kind], ref);
}
