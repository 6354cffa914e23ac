/**
 * Port: armings as stored. An arming lets calls that need one run, of one session or of all, until it lapses.
 *
 * INVARIANT: a change made by any process is seen by the next look of every process.
 */

/** One arming. Times are milliseconds since the Unix epoch. */
export interface Arming {
  /** Absent: every session of the state directory. */
  readonly sessionId?: string;
  readonly armedAtMs: number;
  /** From here on it has lapsed. */
  readonly untilMs: number;
  /** Who armed. */
  readonly armedBy: string;
}

/** A store of armings. Failures are `KernelError`s with the code `STORE_UNAVAILABLE`. */
export interface ArmingStore {
  /** When the last of the armings that cover the session lapses, or 0 without one. On the path of every call. */
  readonly findArmedUntil: (sessionId: string) => Promise<number>;
  /** Takes the place of the arming with the same reach. Durable once resolved. */
  readonly putArming: (arming: Arming) => Promise<void>;
  /**
   * Removes the arming of one session, or every one there is. Resolves with what was removed. Durable once resolved.
   */
  readonly removeArmings: (sessionId: string | undefined) => Promise<readonly Arming[]>;
  /** Armings, those of all sessions first, lapsed ones included until another is put; bounded. */
  readonly listArmings: () => Promise<readonly Arming[]>;
}
