/**
 * Port: where buffered events stand between their acknowledgement and their place in the chain. One file per instance,
 * bytes only: what the bytes mean is decided in `spool.ts`.
 *
 * All calls are synchronous: an event is acknowledged as soon as `append` returned. INVARIANT: what was appended
 * survives the death of the process; only `sync` makes it survive the machine's.
 */

/** The spool of a living instance, for the one thread that writes it. */
export interface SpoolWriter {
  /** Bytes appended since the spool was made or cleared. */
  readonly length: () => number;
  /**
   * Appends all of `bytes`, or throws: then the spool holds what it held before, or it is not sound any more. Throws
   * also where the spool was removed or replaced.
   * @throws KernelError LEDGER_UNAVAILABLE
   */
  readonly append: (bytes: Uint8Array) => void;
  /** Whether bytes behind `length` may be left over from an append that failed. */
  readonly sound: () => boolean;
  /**
   * Removes everything; the spool is sound again.
   * @throws KernelError LEDGER_UNAVAILABLE
   */
  readonly clear: () => void;
  readonly close: () => void;
}

/** All spools. Failures are `KernelError`s: `LEDGER_UNAVAILABLE` or `STORE_UNAVAILABLE`. */
export interface SpoolStore {
  /** Makes the spool of a new instance. */
  readonly create: (instanceId: string) => SpoolWriter;
  /** At most `bytesMax` bytes from an offset on; `undefined` when there is no such spool. */
  readonly read: (instanceId: string, from: number, bytesMax: number) => Uint8Array | undefined;
  /** Makes what was appended durable. */
  readonly sync: (instanceId: string) => void;
  readonly exists: (instanceId: string) => boolean;
  /** Instances that have a spool, at most `limit`. */
  readonly list: (limit: number) => readonly string[];
  /** Removes a spool for good: it does not come back after a power failure. */
  readonly remove: (instanceId: string) => void;
  /** Keeps a damaged spool where nobody takes it for one, for good. Returns the file's name. */
  readonly setAside: (instanceId: string) => string;
}
