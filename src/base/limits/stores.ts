/** Limits of stores: readings, listings, caches, and kept answers. */
import { GIB } from "./units.ts";

/** Ledger rows that one read returns: 256 payloads of the largest size are 64 MiB. */
export const LEDGER_READ_ROWS_MAX = 256;
/** Problems that one verification lists; a ledger with more is lost, and the list must not fill the memory. */
export const LEDGER_PROBLEMS_MAX = 10_000;
/** Open intents that one verification or one closing of orphans follows. */
export const LEDGER_OPEN_INTENTS_MAX = 65_536;
/** Rows that one listing of sessions or leases returns. */
export const STORE_LIST_MAX = 10_000;
/** Sessions and leases kept in memory between two changes of the store; the oldest go first. */
export const STORE_CACHE_ENTRIES_MAX = 4096;
/** Milliseconds between two looks whether the sessions and freezes that are read still stand in the state directory. */
export const STORE_LOOK_MS = 100;
/** Lock files of dead instances that one start removes. */
export const INSTANCE_SWEEP_MAX = 1024;
/** Directories with files in the making that one kernel has noted at a time: one of its calls writes into one. */
export const NEW_FILE_PLACES_MAX = 4096;
/** Milliseconds that the answer of a call with a dedupe key is kept: one day (CTR-0003). */
export const DEDUPE_KEPT_MS = 24 * 3_600_000;
/** Milliseconds that a call waits for another one with its dedupe key: longer than clients wait for an answer. */
export const DEDUPE_WAIT_MS = 300_000;
/** Calls of one kernel that wait for others with their dedupe key; each costs a timer and its arguments. */
export const DEDUPE_WAITERS_MAX = 16_384;
/** Milliseconds between two looks at a call that another kernel executes: the first pause … */
export const DEDUPE_POLL_MIN_MS = 2;
/** … and the longest one that the back-off reaches. */
export const DEDUPE_POLL_MAX_MS = 50;
/** Kept answers that are forgotten at once: deleting one of the largest size takes a fraction of a millisecond. */
export const DEDUPE_PURGE_ROWS_MAX = 64;
/** Milliseconds between two looks for answers that are too old, unless the last one left some. */
export const DEDUPE_PURGE_PAUSE_MS = 10_000;
/** Bytes of kept answers in one state directory; beyond it calls with a dedupe key are refused until old ones are forgotten. */
export const DEDUPE_STORE_BYTES_MAX = 4 * GIB;
/** Once that store is half full, a session that takes this part of it or more makes no further claims, so that others can. */
export const DEDUPE_SESSION_SHARE = 1 / 16;
