/**
 * Admits refusals to the record one by one up to a rate, and counts the others.
 *
 * INVARIANTS: whoever floods does not keep the refusals of other sessions out of the record; memory is bounded.
 */

/** Refused (invalid or unauthenticated) requests recorded one by one in a second; the rest are counted in one entry. */
export const REFUSALS_RECORDED_PER_SECOND = 20;
/** Ended sessions whose refused calls are counted apart; with more of them at once the oldest begin anew. */
const REFUSED_SESSIONS_MAX = 1024;

const WINDOW_MS = 1000;

/** Refusals within a second. */
interface Window {
  startMs: number;
  count: number;
}

/** The refusals of the current second, by session; those of which no session is known are one more. */
export class RefusalRates {
  readonly #windows = new Map<string, Window>();

  /** Counts a refusal: whether it is recorded by itself. */
  admit(sessionId: string, nowMs: number): boolean {
    const window = this.#windowOf(sessionId, nowMs);
    window.count += 1;
    return window.count <= REFUSALS_RECORDED_PER_SECOND;
  }

  #windowOf(sessionId: string, nowMs: number): Window {
    const known = this.#windows.get(sessionId);
    if (known !== undefined && nowMs >= known.startMs && nowMs - known.startMs < WINDOW_MS) return known;
    const window = { startMs: nowMs, count: 0 };
    this.#windows.delete(sessionId); // the map is in the order in which windows began
    this.#windows.set(sessionId, window);
    for (const oldest of this.#windows.keys()) {
      if (this.#windows.size <= REFUSED_SESSIONS_MAX) break;
      this.#windows.delete(oldest);
    }
    return window;
  }
}
