/** Limits of results and of stored content. */
import { GIB, MIB } from "./units.ts";

/** Bytes returned inline; a larger result is stored by hash (CTR-0024). */
export const INLINE_RESULT_BYTES_MAX = MIB;
/** Bytes of text shown to a model, and the default of `max_bytes`. */
export const SHOWN_BYTES_MAX = 100 * 1000;
/** Bytes of one stored object: the largest read that may be asked for must fit (`MAX_READ_LIMIT`). */
export const CONTENT_BYTES_MAX = GIB;
/** Bytes of one block of stored content: it is verified before it is handed out, so it is also what a stream keeps in memory. */
export const CONTENT_BLOCK_BYTES = MIB;
/** Bytes of all stored objects of a state directory; beyond it nothing is stored until a collection made room. */
export const CONTENT_STORE_BYTES_MAX = 64 * GIB;
/** Uploads that one kernel receives at once: each holds a block and a temporary file. */
export const CONTENT_STAGED_MAX = 32;
/** Uploads of one principal at once: a quarter of them all, so that nobody keeps others from storing. */
export const CONTENT_STAGED_PER_SENDER_MAX = 8;
/** Results of calls that one kernel stores at once; uploads take none of their places, because they come at a stranger's pace. */
export const CONTENT_RESULTS_STAGED_MAX = 32;
/** Milliseconds that a sender may pause between two pieces of an upload, and over RPC keep it waiting beyond its least rate. */
export const CONTENT_STALL_MS = 60_000;
/** Milliseconds for which unreferenced content stays after it was stored: whoever stored it has that long to publish it. */
export const CONTENT_GRACE_MS = 24 * 3_600_000;
/** Milliseconds after which the temporary file even of a living kernel counts as abandoned. */
export const CONTENT_TEMPORARY_AGE_MS = 24 * 3_600_000;
/** Temporary files looked at when a store is opened. */
export const CONTENT_TEMPORARIES_MAX = 4096;
/** Objects collected in one transaction: others wait that long to store theirs. */
export const CONTENT_COLLECTED_AT_ONCE = 64;
/** Objects that one page of a listing has. */
export const CONTENT_PAGE_MAX = 256;
/** Files and rows that one collection or verification looks at. */
export const CONTENT_SCANNED_MAX = 10_000_000;
/** Artifacts with the same content that one page of a listing has. */
export const ARTIFACTS_PAGE_MAX = 64;
/**
 * Artifacts with the same content that are judged, page by page, to find one that the caller may read: each costs policy some ten
 * microseconds. Content that more name is found by an artifact's own name.
 */
export const ARTIFACTS_JUDGED_MAX = 16_384;
/** Problems that one verification lists; the others are counted. */
export const CONTENT_PROBLEMS_MAX = 1000;
