/** Sessions, leases and their scopes as messages of the administration service, and scopes back. */
import type { MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { MAX_REPEATED_ITEMS } from "../../../base/limits.ts";
import type {
  ArmingSchema,
  LeaseBudget as LeaseBudgetMessage,
  LeaseBudgetSchema,
  LeaseSchema,
  LeaseScope as LeaseScopeMessage,
  SessionSchema,
} from "../../../gen/handrail/admin/v1/admin_pb.ts";
import {
  LEASE_DIMENSIONS,
  type Lease,
  type LeaseBudget,
  type LeaseScope,
  UNRESTRICTED_SCOPE,
} from "../../../model/people/lease.ts";
import type { Session } from "../../../model/people/session.ts";
import { BUDGET_MEMBERS, isLimited } from "../../../model/spending/budget.ts";
import type { AdminArming } from "./admin-port.ts";

/** A session without its token's hash. */
export function sessionMessage(session: Session): MessageInitShape<typeof SessionSchema> {
  const { revokedAtMs, frozenAtMs, tokenHash: _never, ...rest } = session;
  return {
    ...rest,
    createdAtMs: BigInt(session.createdAtMs),
    expiresAtMs: BigInt(session.expiresAtMs),
    ...(revokedAtMs !== undefined && { revokedAtMs: BigInt(revokedAtMs) }),
    ...(frozenAtMs !== undefined && { frozenAtMs: BigInt(frozenAtMs) }),
  };
}

/** What is armed. */
export function armingMessage({
  sessionId = "",
  armedAtMs,
  untilMs,
  armedBy,
}: AdminArming): MessageInitShape<typeof ArmingSchema> {
  return { sessionId, armedAtMs: BigInt(armedAtMs), untilMs: BigInt(untilMs), armedBy };
}

/** A lease. */
export function leaseMessage(lease: Lease): MessageInitShape<typeof LeaseSchema> {
  return {
    id: lease.id,
    parentId: lease.parentId ?? "",
    scope: Object.fromEntries(
      LEASE_DIMENSIONS.map((dimension) => [
        dimension,
        lease.scope[dimension].map((patterns) => ({ patterns: [...patterns] })),
      ]),
    ),
    createdAtMs: BigInt(lease.createdAtMs),
    expiresAtMs: BigInt(lease.expiresAtMs),
    ...(lease.releasedAtMs !== undefined && { releasedAtMs: BigInt(lease.releasedAtMs) }),
    ...(isLimited(lease.budget) && { budget: budgetMessage(lease.budget) }),
  };
}

function budgetMessage(budget: LeaseBudget): MessageInitShape<typeof LeaseBudgetSchema> {
  return Object.fromEntries(
    BUDGET_MEMBERS.flatMap((member) => (budget[member] === undefined ? [] : [[member, BigInt(budget[member])]])),
  );
}

/**
 * The budget of a message; an absent field is unlimited. @throws ConnectError `invalid_argument` beyond what can be
 * counted
 */
export function budgetOf(message: LeaseBudgetMessage | undefined): LeaseBudget {
  const budget: { -readonly [Member in keyof LeaseBudget]: LeaseBudget[Member] } = {};
  for (const member of BUDGET_MEMBERS) {
    const amount = message?.[member];
    if (amount === undefined) continue;
    if (amount > BigInt(Number.MAX_SAFE_INTEGER))
      throw new ConnectError(`the budget of \`${member}\` is more than can be counted`, Code.InvalidArgument);
    budget[member] = Number(amount);
  }
  return budget;
}

/** The scope of a message; none restricts nothing. @throws ConnectError `invalid_argument` for too many patterns */
export function scopeOf(message: LeaseScopeMessage | undefined): LeaseScope {
  if (message === undefined) return UNRESTRICTED_SCOPE;
  let count = 0;
  const lists = LEASE_DIMENSIONS.map((dimension) => {
    const restriction = message[dimension].map(({ patterns }) => patterns);
    count += restriction.length + restriction.reduce((sum, patterns) => sum + patterns.length, 0);
    return [dimension, restriction] as const;
  });
  if (count > MAX_REPEATED_ITEMS)
    throw new ConnectError(`a scope has at most ${MAX_REPEATED_ITEMS} patterns`, Code.InvalidArgument);
  return { ...UNRESTRICTED_SCOPE, ...Object.fromEntries(lists) };
}

/** Milliseconds of a message as a number. @throws ConnectError `invalid_argument` beyond what a number holds */
export function milliseconds(value: bigint): number {
  if (value <= BigInt(Number.MAX_SAFE_INTEGER)) return Number(value);
  throw new ConnectError("the lifetime is longer than any lease", Code.InvalidArgument);
}
