/**
 * Watches a ledger for damage while it is written.
 *
 * Damage means pages that something else overwrote in place, at the same length. A look is due once a second while
 * entries are written: those stand in the log at first, whose times tell nothing because each entry changes them. When
 * the file itself changed, which writing the log back does too, all entries are read again. A look reads through a
 * connection of its own, because one that is open answers from its cache. It reads the head, both ends of the chain,
 * and as many entries as its time allows. The next look goes on from there, so all entries have their turn, also those
 * that were written before this kernel.
 */
import { equalInConstantTime } from "../base/bytes.ts";
import { storeCorrupt } from "../base/errors.ts";
import { blake3Digest, blake3Salted } from "../base/hash.ts";
import { decodeEntry } from "./entry.ts";
import type { LedgerRow, LedgerStore } from "./ledger-store.ts";

/** Milliseconds between two looks: each holds up what waits to be written. */
const PAUSE_MS = 1_000;
/** Milliseconds after which a look reads no further entries. */
const LOOK_MS = 4;
/** Entries that are read at once. */
const ROWS = 32;

/** What is asked of a ledger that was opened only to be looked at. */
export type LookedAt = Pick<LedgerStore, "head" | "read" | "close">;

/** Watches one ledger. */
export class LedgerWatch {
  readonly #open: () => Promise<LookedAt>;
  /** The last change of the file that a look began after. */
  #seenNs: bigint | undefined;
  /** Entries that had no turn since the file changed, or since they were written. */
  #left = 0;
  /** The last entry at the last look. */
  #last: number | undefined;
  /** The entry whose turn it is. */
  #next = 1;
  /** On the monotonic clock. */
  #lookAtMs = 0;

  /**
   * @param open opens the ledger anew, for reading
   * @param seenNs the last change of the file that is known of, if it was open before
   */
  constructor(open: () => Promise<LookedAt>, seenNs?: bigint) {
    this.#open = open;
    this.#seenNs = seenNs;
  }

  /** Lets a ledger pass in which this look finds no damage. @throws KernelError STORE_CORRUPT */
  async require(changedNs: bigint): Promise<void> {
    if (performance.now() < this.#lookAtMs) return;
    const isChanged = changedNs !== this.#seenNs;
    this.#seenNs = changedNs;
    try {
      const problem = await this.#lookedThrough(isChanged);
      if (problem !== undefined) throw storeCorrupt(problem);
    } finally {
      this.#lookAtMs = performance.now() + PAUSE_MS;
    }
  }

  async #lookedThrough(isChanged: boolean): Promise<string | undefined> {
    const ledger = await this.#open();
    try {
      return await this.#problemOf(ledger, isChanged);
    } finally {
      await ledger.close();
    }
  }

  /** What is wrong, in words. */
  async #problemOf(ledger: LookedAt, isChanged: boolean): Promise<string | undefined> {
    const { sequence: last, hash } = await ledger.head();
    if (last === 0) return undefined;
    this.#left = isChanged ? last : Math.min(last, this.#left + last - (this.#last ?? last));
    this.#last = last;
    for (const sequence of [1, last]) {
      const [row] = await ledger.read(sequence, 1);
      const problem = row?.sequence === sequence ? problemOf(row) : "is missing";
      if (problem !== undefined) return `entry ${sequence} ${problem}`;
      if (sequence === last && !equalInConstantTime(row?.hash ?? new Uint8Array(), hash))
        return "its head is not its last entry";
    }
    const endMs = performance.now() + LOOK_MS;
    while (this.#left > 0 && performance.now() < endMs) {
      if (this.#next > last) this.#next = 1;
      const rows = await ledger.read(this.#next, ROWS);
      for (const row of rows) {
        const problem = row.sequence === this.#next ? problemOf(row) : "is missing";
        if (problem !== undefined) return `entry ${this.#next} ${problem}`;
        this.#next += 1;
        this.#left -= 1;
      }
      if (rows.length === 0 && this.#next <= last) return `entry ${this.#next} is missing`;
    }
    return undefined;
  }
}

/** What is wrong with a row by itself. */
function problemOf({ entry, hash, salt, payload }: LedgerRow): string | undefined {
  if (!equalInConstantTime(blake3Digest(entry), hash)) return "is not what was written";
  const decoded = decodeEntry(entry);
  if (decoded.kind === "malformed") return "is not what was written";
  if (salt === undefined || payload === undefined) return undefined;
  return equalInConstantTime(blake3Salted(salt, payload), decoded.entry.payloadDigest)
    ? undefined
    : "has another payload than was written";
}
