/** Sessions, leases and their scopes as messages of the administration service, and scopes back. */
import type { MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { MAX_REPEATED_ITEMS } from "../../base/limits.ts";
import type { LeaseSchema, LeaseScope as LeaseScopeMessage, SessionSchema } from "../../gen/handrail/admin/v1/admin_pb.ts";
import { LEASE_DIMENSIONS, type Lease, type LeaseScope, UNRESTRICTED_SCOPE } from "../../model/lease.ts";
import type { Session } from "../../model/session.ts";

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

/** A lease. */
export function leaseMessage(lease: Lease): MessageInitShape<typeof LeaseSchema> {
  return {
    id: lease.id,
    parentId: lease.parentId ?? "",
    scope: Object.fromEntries(
      LEASE_DIMENSIONS.map((dimension) => [dimension, lease.scope[dimension].map((patterns) => ({ patterns: [...patterns] }))]),
    ),
    createdAtMs: BigInt(lease.createdAtMs),
    expiresAtMs: BigInt(lease.expiresAtMs),
    ...(lease.releasedAtMs !== undefined && { releasedAtMs: BigInt(lease.releasedAtMs) }),
  };
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
  if (count > MAX_REPEATED_ITEMS) throw new ConnectError(`a scope has at most ${MAX_REPEATED_ITEMS} patterns`, Code.InvalidArgument);
  return { ...UNRESTRICTED_SCOPE, ...Object.fromEntries(lists) };
}

/** Milliseconds of a message as a number. @throws ConnectError `invalid_argument` beyond what a number holds */
export function milliseconds(value: bigint): number {
  if (value <= BigInt(Number.MAX_SAFE_INTEGER)) return Number(value);
  throw new ConnectError("the lifetime is longer than any lease", Code.InvalidArgument);
}
