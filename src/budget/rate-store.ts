/**
 * Port: token buckets. A bucket holds at most `burst` calls and fills by `callsPerMinute`; a kernel takes some at a
 * time.
 *
 * INVARIANT: what lies in a bucket and what kernels hold of it together never exceeds its burst, so that all kernels
 * together admit no more than one would.
 */
import type { RateLimit } from "../model/spending/spending-limits.ts";

/** A bucket, and what is wanted of it. */
export interface BucketWish {
  readonly key: string;
  readonly limit: RateLimit;
  /** At most so many calls, at least one. */
  readonly most: number;
  /** Calls that the instance holds and did not use: they are put into the bucket before. */
  readonly returned: number;
}

/** A wish for calls of several buckets: all grant at least one, or none does. */
export interface TakeRequest {
  readonly instance: string;
  readonly buckets: readonly BucketWish[];
  readonly nowMs: number;
  /** What is granted beyond the first call may be used until then. */
  readonly untilMs: number;
}

/** What came of it: how many calls each bucket grants, in the order of the wish; or how long to wait. */
export type Taken =
  | { readonly kind: "granted"; readonly calls: readonly number[] }
  | { readonly kind: "empty"; readonly key: string; readonly retryAfterMs: number };

/** Calls of a bucket that an instance took and did not use. */
export interface Leftover {
  readonly key: string;
  readonly limit: RateLimit;
  readonly calls: number;
}

/** What lies in a bucket. */
export interface BucketState {
  readonly key: string;
  readonly calls: number;
  readonly atMs: number;
}

/** A store of buckets. Failures are `KernelError`s: `STORE_UNAVAILABLE` or `STORE_CORRUPT`. */
export interface RateStore {
  readonly take: (request: TakeRequest) => Promise<Taken>;
  /** Puts back what an instance took and will not use; never more than it holds. */
  readonly giveBack: (instance: string, leftovers: readonly Leftover[], nowMs: number) => Promise<void>;
  /** Forgets at most `limit` buckets that were full before a time. */
  readonly purge: (beforeMs: number, limit: number) => Promise<void>;
  readonly listBuckets: (limit: number) => Promise<readonly BucketState[]>;
}
