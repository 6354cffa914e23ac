/** Limits of the ledger, of what is recorded about refusals, and of running calls. */
import { KIB, MIB } from "./units.ts";

/** Ledger events in one write transaction. */
export const LEDGER_BATCH_MAX = 1024;
/** Ledger events waiting for the writer; beyond it calls are refused, so that memory stays bounded. */
export const LEDGER_QUEUE_MAX = 65_536;
/** Characters of payload waiting for the writer, for the same reason: 256 payloads of the largest size. */
export const LEDGER_QUEUE_CHARACTERS_MAX = 64 * MIB;
/** Milliseconds within which an entry that was acknowledged without fsync is fsynced. */
export const LEDGER_SYNC_MS = 50;
/** Milliseconds between two moves of the ledger's anchor: each costs an fsync, and entries younger than that may be cut off unseen. */
export const LEDGER_ANCHOR_PAUSE_MS = 1_000;
/** Bytes of one instance's spool; beyond it buffered events wait for the writer, so that a restart recovers it quickly. */
export const LEDGER_SPOOL_BYTES_MAX = 64 * MIB;
/** Bytes of spool that one write transaction takes; a larger frame is not spooled. */
export const LEDGER_SPOOL_CHUNK_BYTES = 512 * KIB;
/** Spooled events that wait to be sent to the writer: more make its transactions no cheaper. */
export const LEDGER_SPOOL_UNSENT_MAX = 256;
/** Spools of dead instances that one start recovers; the next start takes the rest. */
export const LEDGER_SPOOLS_RECOVERED_MAX = 1024;
/** Kibibytes of pages that the ledger's writer keeps: it appends, and reads no page twice but the last ones. */
export const LEDGER_CACHE_KIB = 1024;
/** Milliseconds between two looks whether a thread is still busy; one without work between them gives memory back. */
export const IDLE_LOOK_MS = 500;
/** Milliseconds between two times that an idle thread gives memory back: calls that come in bursts are not slowed down by it. */
export const IDLE_PAUSE_MS = 60_000;
/**
 * Milliseconds without a call after which an idle kernel also ends the ledger's thread, 8 MiB: starting it again takes 35 to 130 ms of
 * processor time, for which the first effect afterwards waits; an agent that thinks in between, or asks somebody, is not to notice.
 */
export const IDLE_REST_MS = 300_000;
/** Bytes that an idle heap must hold beyond what it uses: less is not worth collecting. */
export const IDLE_HEAP_BYTES_MIN = 3 * MIB;
/** Milliseconds that V8's own threads have to free what was collected, before the C library's free memory goes back to the machine. */
export const IDLE_FREED_MS = 100;
/** Bytes from which a block of the C library's is a mapping of its own: what glibc begins with. */
export const MALLOC_THRESHOLD_BYTES = 128 * KIB;
/** Milliseconds between two tries to write a ledger that could not be written, while no event comes to try it. */
export const LEDGER_RETRY_MS = 1_000;
/** Milliseconds to wait for another process's write transaction. */
export const STORE_BUSY_MS = 10_000;
/** Milliseconds between two tries to get another process's write lock: SQLite's own back-off grows, and starves waiters. */
export const STORE_BUSY_POLL_MS = 2;
/** Bytes of one ledger payload; larger facts are recorded by digest and size. */
export const LEDGER_PAYLOAD_BYTES_MAX = 256 * KIB;
/** Refused (invalid or unauthenticated) requests recorded one by one in a second; the rest are counted in one entry. */
export const REFUSALS_RECORDED_PER_SECOND = 20;
/** Ended sessions whose refused calls are counted apart; with more of them at once the oldest begin anew. */
export const REFUSED_SESSIONS_MAX = 1024;
/** Milliseconds between two reports of how far a tool is; those between are dropped, as nobody can read more. */
export const PROGRESS_INTERVAL_MS = 20;
/** Characters (UTF-16 code units) of the words in such a report. */
export const PROGRESS_MESSAGE_CHARACTERS_MAX = 1000;
/** Bytes of a running tool's output that are shown while it runs; the result has what matters. */
export const PROGRESS_OUTPUT_BYTES_MAX = 16 * MIB;
/** Bytes of one piece of such output. */
export const PROGRESS_OUTPUT_CHUNK_BYTES = 64 * KIB;
/** Milliseconds a running call has to end after its cancellation before it is abandoned. */
export const CANCEL_GRACE_MS = 5_000;
