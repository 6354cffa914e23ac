/**
 * Port: what was spent and what is reserved, by account. An account is a lease, a session or a principal in a
 * workspace; its limits are not kept here, but come with each question.
 *
 * INVARIANT: whatever the kernels that share a store do at once, what an account has spent and reserved in a period
 * together never exceeds a limit by a reservation. INVARIANT: a reservation ends once: settled, released, or adopted
 * from an instance that is gone.
 */

import type { LeaseBudget } from "../model/people/lease.ts";
import type { Amounts, BudgetMember } from "../model/spending/budget.ts";

/** An account, and what limits it now. */
export interface LimitedAccount {
  readonly key: string;
  readonly limit: LeaseBudget;
  /** Periods begin at its multiples; absent: what is spent is spent for good. */
  readonly periodMs?: number;
}

/** A wish to spend. */
export interface Wish {
  /** Names the reservation. */
  readonly id: string;
  /** The kernel instance that reserves. */
  readonly instance: string;
  /** All of them pay. */
  readonly accounts: readonly LimitedAccount[];
  /** What there must be at least of each … */
  readonly least: Amounts;
  /** … and how much is taken if there is that much. */
  readonly most: Amounts;
  readonly nowMs: number;
}

/** Whose call reserves, for evidence. */
export interface Spender {
  readonly sessionId: string;
  readonly actor: string;
  readonly requestId: string;
}

/** Why there is no reservation: an account and what is exhausted of it. */
export interface Exhausted {
  readonly kind: "exhausted";
  readonly key: string;
  readonly member: BudgetMember;
  readonly limit: number;
  readonly spent: number;
  /** By calls that have not ended. */
  readonly reserved: number;
  /** What the wish needs at least. */
  readonly needed: number;
  /** When the account begins anew. */
  readonly renewsAtMs?: number;
}

/** What came of a wish: what was granted, of each member between the least and the most that was wished for. */
export type Reserved = { readonly kind: "reserved"; readonly granted: Amounts } | Exhausted;

/** What an account has spent and reserved in its present period. */
export interface AccountState {
  readonly key: string;
  readonly spent: Amounts;
  readonly reserved: Amounts;
  /** Where the period began; 0 without periods. */
  readonly beganMs: number;
}

/** A reservation of an instance that is gone. */
export interface Orphan extends Spender {
  readonly id: string;
  readonly accounts: readonly string[];
  readonly amounts: Amounts;
  readonly atMs: number;
}

/** A store of accounts and reservations. Failures are `KernelError`s: `STORE_UNAVAILABLE` or `STORE_CORRUPT`. */
export interface BudgetStore {
  /** Reserves for a new id. Survives a killed process. */
  readonly reserve: (wish: Wish, spender: Spender) => Promise<Reserved>;
  /**
   * Adds to what `wish.id` has reserved. Nothing is granted when that reservation is gone: rejects with
   * `STORE_UNAVAILABLE`.
   */
  readonly extend: (wish: Wish) => Promise<Reserved>;
  /** Ends a reservation: `spent` was spent, the rest is free again. False when `instance` has no such reservation. */
  readonly settle: (id: string, instance: string, spent: Amounts) => Promise<boolean>;
  /** Whether `instance` has that reservation. */
  readonly holds: (id: string, instance: string) => Promise<boolean>;
  /** Makes everything that was committed before survive a power failure. */
  readonly sync: () => Promise<void>;
  /** Instances with reservations, bounded. */
  readonly holders: (limit: number) => Promise<readonly string[]>;
  /** Moves at most `limit` reservations from one instance to another and returns them. */
  readonly adopt: (from: string, to: string, limit: number) => Promise<readonly Orphan[]>;
  /** The state of each account that was ever charged, bounded. */
  readonly listAccounts: (limit: number) => Promise<readonly AccountState[]>;
  readonly close: () => Promise<void>;
}
