/** Holds the limits of kept answers and of waiting for them. */

/** Milliseconds that a call waits for another one with its dedupe key: longer than clients wait for an answer. */
export const DEDUPE_WAIT_MS = 300_000;
/** Milliseconds of the longest pause between two looks at a call that another kernel executes. */
export const DEDUPE_POLL_MAX_MS = 50;
/** Milliseconds between two looks for answers that are too old, unless the last one left some. */
export const DEDUPE_PURGE_PAUSE_MS = 10_000;
