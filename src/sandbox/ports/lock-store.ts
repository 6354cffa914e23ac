/**
 * Port: locks by name, shared by all kernels of a store. A lock whose holder is silent for too long is taken over, and
 * the caller learns whose it was, so that it can be recorded.
 */

/** A wish for a lock. */
export interface LockRequest {
  readonly key: string;
  /** Names one holder (a call, not a session): the same owner is refused while it holds the lock. */
  readonly owner: string;
  readonly staleAfterMs: number;
  readonly nowMs: number;
}

/** What came of the wish. `brokenOwner` held the lock longer than allowed and lost it. */
export type LockOutcome =
  | { readonly kind: "acquired"; readonly brokenOwner?: string }
  | { readonly kind: "busy"; readonly owner: string; readonly sinceMs: number };

/** A store of locks. Failures are `KernelError`s with `STORE_UNAVAILABLE` or `STORE_CORRUPT`. */
export interface LockStore {
  readonly acquire: (request: LockRequest) => Promise<LockOutcome>;
  /** Frees the lock if `owner` still holds it; says whether it did. */
  readonly release: (lock: { readonly key: string; readonly owner: string }) => Promise<boolean>;
  readonly close: () => Promise<void>;
}
