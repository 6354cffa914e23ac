/**
 * Lists the budget accounts that a call draws on.
 *
 * They belong to its lease and every lease from which that one derives, to its session, and to its principal in its
 * workspace.
 *
 * INVARIANT: a restarted client stays the same principal, so a new session does not refill what the principal has
 * spent.
 */

import type { Lease, LeaseBudget } from "../model/people/lease.ts";
import type { Session } from "../model/people/session.ts";
import { isLimited } from "../model/spending/budget.ts";
import type { SpendingLimits } from "../model/spending/spending-limits.ts";
import type { LimitedAccount } from "./budget-store.ts";

/** What pays. */
export type AccountKind = "lease" | "session" | "principal";

/** A limited account with the words for it. */
export interface Account extends LimitedAccount {
  readonly kind: AccountKind;
  /** Names the limit in a denial. */
  readonly ruleId: string;
}

/** The account of a lease. */
export function leaseKey(id: string): string {
  return `lease:${id}`;
}

/** The account, and the bucket, of a session. */
export function sessionKey({ id }: Pick<Session, "id">): string {
  return `session:${id}`;
}

/** The account, and the bucket, of a principal in a workspace. */
export function principalKey({
  userId,
  agentId,
  serviceRoot,
}: Pick<Session, "userId" | "agentId" | "serviceRoot">): string {
  return `principal:${JSON.stringify([userId, agentId, serviceRoot])}`;
}

/**
 * Whether a call under `lease` has to pay at all. INVARIANT: what a lease derives from is limited only where it is
 * limited too.
 */
export function mustPay(lease: Pick<Lease, "budget">, { session, principal }: SpendingLimits): boolean {
  return session !== undefined || principal !== undefined || isLimited(lease.budget);
}

/** The limited accounts of a call, the leases first: `leases` are its own and those that one derives from. */
export function accountsOf(session: Session, leases: readonly Lease[], limits: SpendingLimits): readonly Account[] {
  const accounts: Account[] = [];
  for (const { id, budget } of leases) {
    if (isLimited(budget)) accounts.push({ kind: "lease", key: leaseKey(id), limit: budget, ruleId: `LEASE:${id}` });
  }
  if (limits.session)
    accounts.push({
      kind: "session",
      key: sessionKey(session),
      ruleId: "LIMITS:per_session",
      ...periodic(limits.session),
    });
  if (limits.principal) {
    accounts.push({
      kind: "principal",
      key: principalKey(session),
      ruleId: "LIMITS:per_principal",
      ...periodic(limits.principal),
    });
  }
  return accounts;
}

function periodic({ budget, periodMs }: { readonly budget: LeaseBudget; readonly periodMs?: number }) {
  return { limit: budget, ...(periodMs !== undefined && { periodMs }) };
}
