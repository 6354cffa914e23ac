/**
 * Port: how many violations a principal made in a workspace of late, over all kernels of a state directory.
 *
 * INVARIANT: of violations that are counted at the same time, in any processes, each gets a number of its own.
 */
import type { MarkOwner } from "./mark-store.ts";

/** What to count: a violation now, the time that counts, and how many of them matter. */
export interface CountedViolation {
  readonly owner: MarkOwner;
  /** Milliseconds since the Unix epoch. */
  readonly atMs: number;
  readonly windowMs: number;
  /** More of one principal need not be told apart, so that a flood takes no room. */
  readonly countMax: number;
}

/** A store of violations. Failures are `KernelError`s: `STORE_UNAVAILABLE` or `STORE_CORRUPT`. */
export interface ViolationStore {
  /** Counts one; resolves with how many there are within the time, this one among them, at most `countMax`. */
  readonly count: (violation: CountedViolation) => Promise<number>;
  /** Counts the principal in the workspace anew. */
  readonly forget: (owner: MarkOwner) => Promise<void>;
  readonly close: () => Promise<void>;
}
