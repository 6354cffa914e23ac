/**
 * Port: where ledger rows are kept. A store orders appends and keeps bytes; it knows neither the encoding of an entry
 * nor its hash. The chain is built by the caller inside the store's write transaction.
 *
 * INVARIANT: an append is atomic, and `build` sees the head that its entries will follow, whatever other processes do.
 */
import type { Durability } from "../model/outcome/event.ts";

/** The last entry: sequence 0 and 32 zero bytes when the ledger is empty. */
export interface Head {
  readonly sequence: number;
  readonly hash: Uint8Array;
}

/** An entry as it is written. */
export interface StoredEntry {
  readonly sequence: number;
  readonly entry: Uint8Array;
  readonly hash: Uint8Array;
  readonly salt: Uint8Array;
  readonly payload: Uint8Array;
  /** The instance whose intent this entry opens. */
  readonly opensFor?: string;
  /** Sequence of the intent that this entry closes. */
  readonly closes?: number;
}

/** An entry as it is read, untrusted: `sequence` is the row's place, not the entry's claim. */
export interface LedgerRow {
  readonly sequence: number;
  readonly entry: Uint8Array;
  readonly hash: Uint8Array;
  /** Absent once the payload was pruned. */
  readonly salt?: Uint8Array;
  readonly payload?: Uint8Array;
}

/** An intent that no entry has closed. */
export interface OpenIntentRow {
  readonly sequence: number;
  readonly instanceId: string;
}

/** What the write transaction sees. */
export interface AppendView {
  readonly head: Head;
  /** Whether the intent is open; only sequences announced in `closes` may be asked for. */
  readonly isOpen: (sequence: number) => boolean;
  /** Counter of the last spooled event that the ledger holds of an instance; 0 when it holds none. */
  readonly spooledThrough: (instanceId: string) => number;
}

/** How far the spool of an instance stands in the ledger. */
export interface SpoolMark {
  readonly instanceId: string;
  /** Counter of the last spooled event that the ledger holds. */
  readonly through: number;
}

/** One append. */
export interface AppendRequest {
  readonly durability: Durability;
  /** Sequences of the intents that the entries may close. */
  readonly closes: readonly number[];
  /** Remembered with the entries; never moves backwards. */
  readonly spooled?: SpoolMark;
  /** Builds the entries, contiguous after the head; runs once, inside the write transaction; may return none. */
  readonly build: (view: AppendView) => readonly StoredEntry[];
}

/** Where a ledger stood: its file, and the last head that was seen there. */
export interface LedgerPlace {
  /** Names the file as long as somebody has it open. */
  readonly file: string;
  /** The size that it had. */
  readonly bytes: number;
  /** When it was last changed: nanoseconds of the file system's clock. */
  readonly changedNs: bigint;
  readonly head: Head;
}

/** A store of ledger rows. Failures are `KernelError`s: `LEDGER_UNAVAILABLE` or `STORE_CORRUPT`. */
export interface LedgerStore {
  /** Appends and returns the new head once the promised durability holds; on failure nothing was appended. */
  readonly append: (request: AppendRequest) => Promise<Head>;
  /** Makes everything appended before durable. */
  readonly sync: () => Promise<void>;
  readonly head: () => Promise<Head>;
  /** The file, and the head as the last append of this store left it, or as it was opened. */
  readonly place: () => LedgerPlace;
  /**
   * Whether what is open are the files that stand at their places; if not, opening the store again shows what became of
   * the ledger.
   */
  readonly inPlace: () => boolean;
  /**
   * When its file was last changed, as far as the last look at its place has shown: nanoseconds of the file system's
   * clock.
   */
  readonly changedNs: () => bigint;
  /** Whether an anchor was written for this ledger; `markAnchored` says so, durably. */
  readonly anchored: () => Promise<boolean>;
  readonly markAnchored: () => Promise<void>;
  /** At most `limit` rows with a sequence of at least `from`, ascending. */
  readonly read: (from: number, limit: number) => Promise<readonly LedgerRow[]>;
  /** At most `limit` open intents, ascending. */
  readonly openIntents: (limit: number) => Promise<readonly OpenIntentRow[]>;
  /** Spools that the ledger remembers. */
  readonly spools: (limit: number) => Promise<readonly SpoolMark[]>;
  /** Forgets a spool. INVARIANT: its file is gone for good, so that nobody can append from it again. */
  readonly forgetSpool: (instanceId: string) => Promise<void>;
  /** Removes payloads and salts up to and including a sequence; the chain stays verifiable. Returns how many. */
  readonly prunePayloads: (throughSequence: number) => Promise<number>;
  /** Sequences of at most `limit` payloads that belong to no entry, ascending. */
  readonly strayPayloads: (limit: number) => Promise<readonly number[]>;
  /** What the storage engine itself finds broken, in its own words; empty when sound. */
  readonly integrity: () => Promise<readonly string[]>;
  /** @throws KernelError STORE_CORRUPT when it is closed, but its newest entries are damaged, and left as they are */
  readonly close: () => Promise<void>;
  /** Closes it and leaves its files as they are, because they are damaged. */
  readonly leave: () => Promise<void>;
}
