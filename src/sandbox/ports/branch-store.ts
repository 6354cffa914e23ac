/**
 * Port: branches as stored. `findBranch` is on the path of every call of a session that works on one.
 *
 * INVARIANTS: a change made by any process is seen by the next `find` of every process; of two that make one name, or
 * take one branch to another state, one alone succeeds.
 */
import type { Branch, BranchState } from "../../model/place/branch.ts";

/** A change of state, and what else changes with it. */
export interface BranchChange extends Partial<Pick<Branch, "way" | "entries">> {
  readonly from: BranchState;
  readonly to: BranchState;
  /** The kernel that made it what it was, where it may be taken from that one only. */
  readonly fromInstanceId?: string;
  readonly instanceId: string;
}

/** A store of branches. Failures are `KernelError`s: `STORE_UNAVAILABLE` or `STORE_CORRUPT`. */
export interface BranchStore {
  /**
   * Stores it, unless the workspace has one of that name already, or `refuse`, told all others of the workspace, says
   * why not. Nobody stores another one in between. Resolves with what kept it from being stored.
   */
  readonly insertBranch: <Refusal extends Error>(
    branch: Branch,
    refuse: (others: readonly Branch[]) => Refusal | undefined,
  ) => Promise<Refusal | "taken" | undefined>;
  readonly findBranch: (id: string) => Promise<Branch | undefined>;
  /** Those of a workspace, or all; oldest first, bounded. */
  readonly listBranches: (serviceRoot?: string) => Promise<readonly Branch[]>;
  /** The branch after the change, or `undefined` when it does not stand so. */
  readonly changeBranch: (id: string, change: BranchChange) => Promise<Branch | undefined>;
  readonly removeBranch: (id: string) => Promise<boolean>;
  /** Ids of the sessions that work on it and have not ended. */
  readonly sessionsOn: (id: string, nowMs: number) => Promise<readonly string[]>;
}
