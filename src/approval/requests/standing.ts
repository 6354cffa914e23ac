/**
 * Judges the requests for approval that already exist for a call, when it asks. Pure.
 *
 * INVARIANTS: A denial of a call holds until its time is over, whatever else has changed about the call. An approval
 * counts only where everything that it was bound to is unchanged. A change or an expiry is reported once, and then the
 * call asks anew.
 */
import { isLasting } from "../../model/approval/approval.ts";
import type { StoredApproval } from "./approval-store.ts";
import type { CallBinding } from "./binding.ts";

/** What stands about a call. `over`: requests that can never fit again, or have expired, and are to be ended. */
export interface Standing {
  readonly verdict:
    | { readonly kind: "granted" | "denied" | "pending" | "changed" | "expired"; readonly approval: StoredApproval }
    | { readonly kind: "none" };
  readonly over: readonly StoredApproval[];
}

/** Judges the requests of a call that live, the oldest first. */
export function judgeStanding(live: readonly StoredApproval[], { binding }: CallBinding): Standing {
  const expired = live.filter(({ state }) => state === "expired");
  // What was never used and does not fit any more is of no use; what was used may fit again.
  const stale = live.filter((one) => isOpen(one) && !isOfKind(one) && one.binding !== binding && one.uses === 0);
  const over = [...expired, ...stale];
  const denied = live.findLast(({ state }) => state === "denied");
  if (denied) return { verdict: { kind: "denied", approval: denied }, over };
  const fitting = live.findLast((one) => isOpen(one) && one.binding === binding);
  if (fitting)
    return { verdict: { kind: fitting.state === "approved" ? "granted" : "pending", approval: fitting }, over };
  const changed = stale.findLast(({ state }) => state === "approved");
  if (changed) return { verdict: { kind: "changed", approval: changed }, over };
  const late = expired.findLast(({ uses }) => uses === 0);
  return { verdict: late ? { kind: "expired", approval: late } : { kind: "none" }, over };
}

/** It is bound to the kind of its call, and outlives what this one was bound to. */
function isOfKind({ decision }: StoredApproval): boolean {
  return isLasting(decision?.scope);
}

function isOpen({ state }: StoredApproval): boolean {
  return state === "pending" || state === "approved";
}
