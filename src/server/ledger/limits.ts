/** Holds the limits of the ledger's queue, of its spool, and of freezes. */
import { KIB, MIB } from "../../base/bytes.ts";

/** Characters (UTF-16 code units) of the reason that a person gives for a freeze or its end. */
export const FREEZE_REASON_CHARACTERS_MAX = 1000;
/** Ledger events waiting for the writer; beyond it calls are refused, so that memory stays bounded. */
export const LEDGER_QUEUE_MAX = 65_536;
/**
 * Characters of payload waiting for the writer; beyond it calls are refused, so that memory stays bounded: 256 payloads
 * of the largest size.
 */
export const LEDGER_QUEUE_CHARACTERS_MAX = 64 * MIB;
/** Milliseconds within which an entry that was acknowledged without fsync is fsynced. */
export const LEDGER_SYNC_MS = 50;
/** Bytes of spool that one write transaction takes; a larger frame is not spooled. */
export const LEDGER_SPOOL_CHUNK_BYTES = 512 * KIB;
/** Milliseconds between two tries to write a ledger that could not be written, while no event comes to try it. */
export const LEDGER_RETRY_MS = 1_000;
