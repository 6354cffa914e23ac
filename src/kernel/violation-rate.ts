/**
 * Counts violations by who made them, to raise the alarm when there are too many within a minute (Flow §7.2).
 *
 * INVARIANT: memory is bounded by the offenders of two minutes and by the limit; nobody stays in it for ever.
 */
import { VIOLATION_WINDOW_MS } from "../base/limits.ts";

/** The violations of the last minute; one per kernel process. */
export class ViolationRate {
  readonly #limit: number;
  readonly #times = new Map<string, readonly number[]>();
  #prunedMs = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** How many principals are remembered. */
  get principals(): number {
    return this.#times.size;
  }

  /** Counts a violation; true exactly when it is the first beyond the limit within a minute. */
  count(principal: string, nowMs: number): boolean {
    this.#prune(nowMs);
    const recent = (this.#times.get(principal) ?? []).filter((at) => nowMs - at < VIOLATION_WINDOW_MS);
    recent.push(nowMs);
    this.#times.set(principal, recent.slice(-(this.#limit + 2)));
    return recent.length === this.#limit + 1;
  }

  /** Forgets, once a minute, those whose last violation no longer counts. */
  #prune(nowMs: number): void {
    if (nowMs >= this.#prunedMs && nowMs - this.#prunedMs < VIOLATION_WINDOW_MS) return;
    this.#prunedMs = nowMs;
    for (const [principal, times] of this.#times) {
      if (times.every((at) => nowMs - at >= VIOLATION_WINDOW_MS)) this.#times.delete(principal);
    }
  }
}
