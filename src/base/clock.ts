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

let lastMs = Number.NaN;
let lastIsoTime = "";

/**
 * Wall time as ISO 8601 in UTC, `2026-01-31T12:00:00.000Z`. Calls of one millisecond share the text: printing it costs
 * as much as judging a path.
 */
export function isoTime(nowMs: number): string {
  if (nowMs !== lastMs) {
    lastIsoTime = new Date(nowMs).toISOString();
    lastMs = nowMs;
  }
  return lastIsoTime;
}
