/**
 * Budgets of leases. Spending is not counted yet, so that a lease that carries a budget is refused rather than
 * overspent: a limit that nobody enforces would be a lie.
 */
import { allow, deny, type Verdict } from "../model/decision.ts";
import type { Lease } from "../model/lease.ts";

/** Reserves what the call may spend; `consumed` is settled after it ran. */
export function reserveBudget(lease: Lease): Verdict<undefined> {
  if (Object.keys(lease.budget).length === 0) return allow(undefined);
  return deny({
    layer: "budget",
    reason: "budget_exceeded",
    ruleId: `LEASE:${lease.id}`,
    message: "the lease carries a budget, which this kernel cannot count; ask the operator for a lease without one",
  });
}
