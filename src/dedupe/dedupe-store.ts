/**
 * Port: calls that must be executed at most once, and what came of them. A row is claimed by one kernel instance,
 * marked as begun before its effect, and then holds the answer, or goes away when there is none to keep.
 *
 * INVARIANT: of all kernels that share a store exactly one gets `claimed` for a key, until that one releases it.
 * INVARIANT: what an instance claimed is changed by nobody else, except by `takeOver`, which names the holder it takes
 * it from.
 */

/** What a call is known by: the session, and the key that its caller chose. */
export interface DedupeKey {
  readonly sessionId: string;
  readonly dedupeKey: string;
}

/** A kept answer as the store holds it: JSON, and the bytes that JSON cannot hold. */
export interface KeptRecord {
  readonly text: string;
  readonly bytes: Uint8Array;
}

/** A wish to be the one that executes a call. */
export interface ClaimRequest extends DedupeKey {
  /** Digest of what is called: 32 bytes. */
  readonly call: Uint8Array;
  /** The kernel instance that asks. */
  readonly holder: string;
  readonly nowMs: number;
  /** Answers kept before this time count as gone. */
  readonly forgetBeforeMs: number;
}

/** A claim that somebody holds. */
export interface HeldClaim {
  readonly holder: string;
  /** The effect may have happened. */
  readonly begun: boolean;
  readonly sinceMs: number;
  /**
   * The answer that its holder was about to give, if it came so far. Whether that is true only the evidence can say.
   */
  readonly prepared?: KeptRecord;
}

/** What a claim met. */
export type ClaimOutcome =
  | { readonly kind: "claimed" }
  | { readonly kind: "kept"; readonly call: Uint8Array; readonly record: KeptRecord }
  | ({ readonly kind: "held"; readonly call: Uint8Array } & HeldClaim)
  /** Room is short, and the session has its share of it. */
  | { readonly kind: "full" };

/** A store of claims and kept answers. Failures are `KernelError`s: `STORE_UNAVAILABLE` or `STORE_CORRUPT`. */
export interface DedupeStore {
  readonly claim: (request: ClaimRequest) => Promise<ClaimOutcome>;
  /** Moves a claim that `from` holds to the requester; false when it is not as `from` says any more. */
  readonly takeOver: (request: ClaimRequest, from: HeldClaim) => Promise<boolean>;
  /** Turns a kept answer into a claim of the requester; false when there is no kept answer any more. */
  readonly supersede: (request: ClaimRequest) => Promise<boolean>;
  /** Marks the claim as begun. Durable once resolved; false when the holder has no such claim. */
  readonly begin: (key: DedupeKey, holder: string) => Promise<boolean>;
  /**
   * Puts the answer beside a begun claim, where it survives a killed process; false when the holder has no such claim.
   */
  readonly prepare: (key: DedupeKey, holder: string, record: KeptRecord) => Promise<boolean>;
  /** Turns the claim into a kept answer, which survives a killed process; false when the holder has no such claim. */
  readonly keep: (key: DedupeKey, holder: string, record: KeptRecord & { readonly nowMs: number }) => Promise<boolean>;
  /** Gives the claim up: the next one who asks gets it. */
  readonly release: (key: DedupeKey, holder: string) => Promise<void>;
  /** Deletes at most `limit` answers kept before a time. Returns how many. */
  readonly purge: (beforeMs: number, limit: number) => Promise<number>;
  /** At most `limit` claims made before a time, the oldest first. */
  readonly heldBefore: (beforeMs: number, limit: number) => Promise<readonly (DedupeKey & HeldClaim)[]>;
  readonly close: () => Promise<void>;
}
