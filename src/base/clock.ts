/**
 * Time as a parameter. Wall time dates evidence and expiry and may jump; monotonic time measures durations and never
 * goes backwards.
 */

/** A source of time; tests pass their own. */
export interface Clock {
  /** Wall time in milliseconds since the Unix epoch. */
  readonly nowMs: () => number;
  /** Monotonic time in milliseconds, with fractions. */
  readonly monotonicMs: () => number;
}

/** The machine's clock. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
};
