/**
 * Port: sessions and leases as stored. `findSession` and `findLease` are on the path of every call.
 *
 * INVARIANT: a change made by any process is seen by the next `find` of every process.
 */
import type { Lease } from "../model/people/lease.ts";
import type { Session } from "../model/people/session.ts";

/** Changes of a session; absent members stay. A revocation is final; `frozenAtMs: null` thaws. */
export interface SessionPatch {
  readonly revokedAtMs?: number;
  readonly frozenAtMs?: number | null;
  readonly expiresAtMs?: number;
  /** The branch that it works on from its next call on; `null` for the workspace itself. One that is bound stays. */
  readonly branchId?: string | null;
  /** Who it turned out to act for. */
  readonly agentId?: string;
}

/** Changes of a lease; absent members stay. A release is final. */
export interface LeasePatch {
  readonly expiresAtMs?: number;
  readonly releasedAtMs?: number;
}

/** A store of sessions and leases. Failures are `KernelError`s: `STORE_UNAVAILABLE` or `STORE_CORRUPT`. */
export interface SessionStore {
  /** Fails when the id is taken. */
  readonly insertSession: (session: Session) => Promise<void>;
  readonly findSession: (id: string) => Promise<Session | undefined>;
  /** Newest first, bounded. */
  readonly listSessions: () => Promise<readonly Session[]>;
  /** The session after the change, or `undefined` when there is none. Durable once resolved. */
  readonly updateSession: (id: string, patch: SessionPatch) => Promise<Session | undefined>;
  /** Fails when the id is taken. */
  readonly insertLease: (lease: Lease) => Promise<void>;
  readonly findLease: (id: string) => Promise<Lease | undefined>;
  /** Newest first, bounded. */
  readonly listLeases: () => Promise<readonly Lease[]>;
  /** The lease after the change, or `undefined` when there is none. Durable once resolved. */
  readonly updateLease: (id: string, patch: LeasePatch) => Promise<Lease | undefined>;
  readonly close: () => Promise<void>;
}
