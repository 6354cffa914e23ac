/**
 * Port: which kernel instances are alive. An instance holds a lock that the operating system (or the store's lease)
 * frees when it dies, so that nobody has to decide by time-out whether a silent kernel still works.
 */

/** The file that holds an instance's lock; `identity` names it as long as somebody has it open. */
export interface ClaimFile {
  readonly path: string;
  readonly identity: string;
}

/** A claimed instance. */
export interface Instance {
  readonly id: string;
  /** Absent where claims are no files. */
  readonly claim?: ClaimFile;
  /** Gives the claim back; the instance counts as dead from then on. */
  readonly release: () => Promise<void>;
}

/** Claims instances and asks after them. */
export interface InstanceStore {
  /** Claims a new instance for this process. */
  readonly claim: () => Promise<Instance>;
  /** Whether the instance's claim is held. INVARIANT: never `false` for a living instance. */
  readonly isAlive: (id: string) => Promise<boolean>;
}
