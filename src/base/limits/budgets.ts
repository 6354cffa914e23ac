/** Limits of budgets and rate limits. */
import { KIB } from "./units.ts";

/** Milliseconds that a call reserves at a time; a call that runs longer reserves again, so that others can run beside it. */
export const RESERVED_DURATION_MS = 10_000;
/** Milliseconds after which a store's answer counts as a wait, so that what allowed the call is looked at again. */
export const SLOW_STORE_MS = 2;
/** Bytes that a call reserves for its result; a larger one reserves the rest when its size is known. */
export const RESERVED_RESULT_BYTES = 64 * KIB;
/** Settlements that could not be written and are tried again; beyond it the oldest stay reserved until the kernel has ended. */
export const UNSETTLED_MAX = 4096;
/** Reservations of one dead kernel that are settled in one transaction. */
export const ORPHANED_RESERVATIONS_MAX = 1024;
/** Dead kernels whose reservations one start settles; the next start takes the rest. */
export const ORPHANED_SPENDERS_MAX = 1024;
/** Accounts and buckets that one listing returns. */
export const BUDGET_LIST_MAX = 10_000;
/** A kernel takes at most this part of a bucket at once beyond what it needs, so that sixteen others find some … */
export const RATE_SLICE_PART = 1 / 16;
/** … and never more calls than these. */
export const RATE_SLICE_CALLS_MAX = 64;
/** Milliseconds that a kernel may keep such a part: what it does not use meanwhile is not kept from others for longer. */
export const RATE_SLICE_MS = 250;
/** Milliseconds by which such a part counts as taken beyond that, because clocks and threads are not exact. */
export const RATE_SLICE_MARGIN_MS = 250;
/** Milliseconds that a clock may go backwards and count as standing still; beyond it the time of a bucket is set anew. */
export const RATE_CLOCK_WOBBLE_MS = 60_000;
/** Buckets of which a kernel keeps parts in memory; the oldest go first, and what they held is lost. */
export const RATE_BUCKETS_KEPT_MAX = 4096;
/** Full buckets that are forgotten at once: a full one says no more than none. */
export const RATE_PURGE_ROWS_MAX = 256;
/** Milliseconds between two times that full buckets are forgotten. */
export const RATE_PURGE_PAUSE_MS = 60_000;
/** Tools that can have a rate of their own. */
export const TOOL_RATES_MAX = 256;
