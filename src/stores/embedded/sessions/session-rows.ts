/**
 * Rows of `state.db` and the sessions and leases that they stand for. Trusts the columns' types, not their contents.
 */
import { type KernelError, storeCorrupt } from "../../../base/errors.ts";
import type { DialectName } from "../../../model/people/dialect.ts";
import { LEASE_DIMENSIONS, type Lease, type LeaseBudget, type LeaseScope } from "../../../model/people/lease.ts";
import type { Session } from "../../../model/people/session.ts";
import { BUDGET_MEMBERS, isAmount } from "../../../model/spending/budget.ts";

/** A row of `sessions`. */
export interface SessionRow {
  readonly id: string;
  readonly token_hash: string;
  readonly user_id: string;
  readonly agent_id: string;
  readonly role: string;
  readonly service_root: string;
  readonly project_root: string;
  readonly isolation_level: "STRICT" | "SHARED";
  readonly lease_id: string;
  readonly mode: string;
  readonly skill: string | null;
  readonly preset: string;
  readonly created_at_ms: number;
  readonly expires_at_ms: number;
  readonly revoked_at_ms: number | null;
  readonly frozen_at_ms: number | null;
  readonly branch_id: string | null;
  readonly branch_bound: number;
  readonly process: number | null;
  readonly one_call: number;
  readonly dialect: string | null;
}

/** A row of `leases`; scope and budget are JSON. */
export interface LeaseRow {
  readonly id: string;
  readonly parent_id: string | null;
  readonly scope: string;
  readonly budget: string;
  readonly created_at_ms: number;
  readonly expires_at_ms: number;
  readonly released_at_ms: number | null;
}

/** The row of a session. */
export function sessionRow(session: Session): SessionRow {
  return {
    id: session.id,
    token_hash: session.tokenHash,
    user_id: session.userId,
    agent_id: session.agentId,
    role: session.role,
    service_root: session.serviceRoot,
    project_root: session.projectRoot,
    isolation_level: session.isolationLevel,
    lease_id: session.leaseId,
    mode: session.mode,
    skill: session.skill ?? null,
    preset: session.preset,
    created_at_ms: session.createdAtMs,
    expires_at_ms: session.expiresAtMs,
    revoked_at_ms: session.revokedAtMs ?? null,
    frozen_at_ms: session.frozenAtMs ?? null,
    branch_id: session.branchId ?? null,
    branch_bound: session.isBranchBound === true ? 1 : 0,
    process: session.process ?? null,
    one_call: session.isOneCall === true ? 1 : 0,
    dialect: session.dialect ?? null,
  };
}

/** The session of a row. */
export function sessionOf(row: SessionRow): Session {
  return {
    id: row.id,
    tokenHash: row.token_hash,
    userId: row.user_id,
    agentId: row.agent_id,
    role: row.role,
    serviceRoot: row.service_root,
    projectRoot: row.project_root,
    isolationLevel: row.isolation_level,
    leaseId: row.lease_id,
    mode: row.mode,
    ...(row.skill === null ? {} : { skill: row.skill }),
    preset: row.preset,
    createdAtMs: row.created_at_ms,
    expiresAtMs: row.expires_at_ms,
    ...(row.revoked_at_ms === null ? {} : { revokedAtMs: row.revoked_at_ms }),
    ...(row.frozen_at_ms === null ? {} : { frozenAtMs: row.frozen_at_ms }),
    ...(row.branch_id === null ? {} : { branchId: row.branch_id }),
    ...(row.branch_bound === 0 ? {} : { isBranchBound: true }),
    ...(row.process === null ? {} : { process: row.process }),
    ...(row.one_call === 0 ? {} : { isOneCall: true }),
    ...(row.dialect === null ? {} : { dialect: row.dialect as DialectName }),
  };
}

/** The row of a lease. */
export function leaseRow(lease: Lease): LeaseRow {
  return {
    id: lease.id,
    parent_id: lease.parentId ?? null,
    scope: JSON.stringify(lease.scope),
    budget: JSON.stringify(lease.budget),
    created_at_ms: lease.createdAtMs,
    expires_at_ms: lease.expiresAtMs,
    released_at_ms: lease.releasedAtMs ?? null,
  };
}

/**
 * The lease of a row.
 * @throws KernelError STORE_CORRUPT when its scope or budget is not one: a lost restriction would widen the lease
 */
export function leaseOf(row: LeaseRow): Lease {
  return {
    id: row.id,
    ...(row.parent_id === null ? {} : { parentId: row.parent_id }),
    scope: scopeOf(row),
    budget: budgetOf(row),
    createdAtMs: row.created_at_ms,
    expiresAtMs: row.expires_at_ms,
    ...(row.released_at_ms === null ? {} : { releasedAtMs: row.released_at_ms }),
  };
}

function scopeOf(row: LeaseRow): LeaseScope {
  const scope = objectOf(row.scope);
  const sound = scope !== undefined && LEASE_DIMENSIONS.every((dimension) => isRestriction(scope[dimension]));
  if (!sound || Object.keys(scope).length !== LEASE_DIMENSIONS.length) throw damaged(row);
  return scope as unknown as LeaseScope;
}

function budgetOf(row: LeaseRow): LeaseBudget {
  const budget = objectOf(row.budget);
  const sound =
    budget !== undefined &&
    Object.entries(budget).every(
      ([name, value]) => (BUDGET_MEMBERS as readonly string[]).includes(name) && isAmount(value),
    );
  if (!sound) throw damaged(row);
  return budget as LeaseBudget;
}

function isRestriction(value: unknown): boolean {
  return (
    Array.isArray(value) && value.every((list) => Array.isArray(list) && list.every((item) => typeof item === "string"))
  );
}

function objectOf(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

function damaged(row: LeaseRow): KernelError {
  return storeCorrupt(`the lease \`${row.id}\` in \`state.db\` is damaged; revoke it and make a new one`);
}
