/**
 * Defines the port that keeps a ledger's anchor outside of the ledger.
 *
 * The anchor says which chain the ledger is, and how far it is known to go.
 *
 * INVARIANT: an anchor of one chain only moves forward, whatever other processes do. Only `replace` sets another chain.
 */
import type { Head } from "./ledger-store.ts";

/** An entry that is known to be durable in the ledger. */
export interface Anchor extends Head {
  /** Names the chain: the hash of its first entry. */
  readonly chain: Uint8Array;
}

/**
 * Where the anchor is kept. Failures are `KernelError`s: `LEDGER_UNAVAILABLE`, or `STORE_CORRUPT` for an anchor that
 * cannot be read.
 */
export interface AnchorStore {
  /** `undefined` when there is none. */
  readonly read: () => Anchor | undefined;
  /**
   * Moves the anchor forward, durably; one that is further already stays. Another chain is `STORE_CORRUPT`. Says
   * whether none stood there.
   */
  readonly advance: (anchor: Anchor) => "moved" | "made";
  /** Sets the anchor, durably: whatever stood there, or only in place of the chain `instead`. */
  readonly replace: (anchor: Anchor, instead?: Uint8Array) => void;
}
