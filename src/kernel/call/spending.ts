/**
 * Measures what one call spends of its reservation, and stops its tool when time runs out.
 *
 * The kernel measures calls, time and bytes itself. Tokens and cost are what the tool reports. As long as it reports
 * nothing, they are what it reserved of them.
 *
 * INVARIANT: no byte of a result is handed over that is not reserved. INVARIANT: whoever cancels a call, or makes it
 * fail, gets none of its tokens and none of its cost back.
 */
import type { Clock } from "../../base/clock.ts";
import { canonicalJson, type JsonObject } from "../../base/json.ts";

import type { Reservation } from "../../budget/budget.ts";
import type { Denial } from "../../model/outcome/decision.ts";
import { type Amounts, type BudgetMember, NOTHING, toAmount } from "../../model/spending/budget.ts";
import type { Consumed } from "../../model/tool/tool.ts";

/**
 * Milliseconds that a call reserves at a time; a call that runs longer reserves again, so that others can run beside
 * it.
 */
export const RESERVED_DURATION_MS = 10_000;

/** The spending of one call. */
export class Spending {
  readonly #reservation: Reservation;
  readonly #bytesIn: number;
  readonly #clock: Clock;
  readonly #stop = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #startedMs: number | undefined;
  #durationMs: number | undefined;
  #bytesOut = 0;
  #consumed: Consumed = {};
  #stoppedBy: Denial | undefined;

  constructor(reservation: Reservation, bytesIn: number, clock: Clock) {
    this.#reservation = reservation;
    this.#bytesIn = bytesIn;
    this.#clock = clock;
  }

  /** What was exhausted when the tool was told to stop. */
  get stoppedBy(): Denial | undefined {
    return this.#stoppedBy;
  }

  /** What the call has spent; the first look stops its clock. */
  get spent(): Amounts {
    this.#end();
    const { granted } = this.#reservation;
    const { tokens = granted.tokens, costMicros = granted.costMicros } = this.#consumed;
    return {
      calls: 1,
      durationMs: toAmount(this.#durationMs ?? 0),
      bytes: toAmount(this.#bytesIn + this.#bytesOut),
      tokens: toAmount(tokens),
      costMicros: toAmount(costMicros),
    };
  }

  /** Whether the reservation still stands. */
  stands(): Promise<boolean> {
    return this.#reservation.stands();
  }

  /** Starts the clock. The signal aborts with `signal`, and when no more time can be reserved. */
  start(signal: AbortSignal, report: (error: unknown) => void): AbortSignal {
    this.#startedMs = this.#clock.monotonicMs();
    if (this.#reservation.limited.has("durationMs")) this.#setTimer(report);
    return AbortSignal.any([signal, this.#stop.signal]);
  }

  /** Reserves tokens and cost that were not known before; the denial says that they cannot be had. */
  async reserveMore({ tokens, costMicros }: Pick<Amounts, "tokens" | "costMicros">): Promise<Denial | undefined> {
    const more = { ...NOTHING, tokens: toAmount(tokens), costMicros: toAmount(costMicros) };
    const extended = await this.#reservation.extend({ least: more, most: more });
    return extended.ok ? undefined : extended.denial;
  }

  /** Whether anything limits what is counted in that unit. */
  limits(member: BudgetMember): boolean {
    return this.#reservation.limited.has(member);
  }

  /** Says whether others may have been paid by now; where not, what was reserved of tokens and cost is given back. */
  notePaid(mayBe: boolean): void {
    this.#consumed = mayBe ? {} : { tokens: 0, costMicros: 0 };
  }

  /** Reserves what a result of so many bytes needs beyond what there is; the denial says that it cannot be had. */
  async charge(bytesOut: number, consumed: Consumed): Promise<Denial | undefined> {
    this.#end();
    this.#consumed = consumed;
    const missing = this.#bytesIn + bytesOut - this.#reservation.granted.bytes;
    if (missing > 0 && this.#reservation.limited.has("bytes")) {
      const more = { ...NOTHING, bytes: missing };
      const extended = await this.#reservation.extend({ least: more, most: more });
      if (!extended.ok) return extended.denial;
    }
    this.#bytesOut = bytesOut;
    return undefined;
  }

  /** Ends the reservation; `spent` of it is gone. Never rejects. */
  async settle(spent: Amounts): Promise<void> {
    this.#end();
    await this.#reservation.settle(spent);
  }

  #end(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#startedMs !== undefined) this.#durationMs ??= this.#clock.monotonicMs() - this.#startedMs;
  }

  #setTimer(report: (error: unknown) => void): void {
    const passedMs = this.#clock.monotonicMs() - (this.#startedMs ?? 0);
    const leftMs = Math.max(1, Math.min(RESERVED_DURATION_MS, this.#reservation.granted.durationMs - passedMs));
    this.#timer = setTimeout(
      () => void this.#more(report).catch((error: unknown) => this.#giveUp(error, report)),
      leftMs,
    );
  }

  async #more(report: (error: unknown) => void): Promise<void> {
    if (this.#durationMs !== undefined) return;
    const extended = await this.#reservation.extend({
      least: { ...NOTHING, durationMs: 1 },
      most: { ...NOTHING, durationMs: RESERVED_DURATION_MS },
    });
    if (this.#durationMs !== undefined) return;
    if (extended.ok) return this.#setTimer(report);
    this.#stoppedBy = extended.denial;
    this.#stop.abort();
  }

  /** A store that cannot say whether there is more time is not asked for more. */
  #giveUp(error: unknown, report: (error: unknown) => void): void {
    if (this.#durationMs !== undefined) return;
    report(error);
    this.#stoppedBy = UNKNOWN_TIME;
    this.#stop.abort();
  }
}

const UNKNOWN_TIME: Denial = {
  layer: "budget",
  reason: "budget_exceeded",
  ruleId: "LIMITS:unknown",
  message: "the kernel's store cannot say whether its budget has time left",
  fix: "a state directory that is readable and writable",
};

/** Bytes that a caller hands in: its arguments as JSON, byte contents as they are. */
export function argumentBytes(args: Readonly<Record<string, unknown>>): number {
  let bytes = 0;
  const plain: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(args)) {
    if (value instanceof Uint8Array) bytes += value.byteLength;
    else plain[name] = value;
  }
  return bytes + Buffer.byteLength(canonicalJson(plain as JsonObject));
}
