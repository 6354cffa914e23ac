/**
 * Runs one call per dedupe key at a time inside one kernel (single flight).
 *
 * Of the calls with one key one leads, and the others wait in the order they came. When the leader's answer is kept,
 * all of them get it. When it is not, the next one leads.
 *
 * INVARIANTS: Each key has one leader at any time. A flight is ended by its leader, once. Every waiter leaves by an
 * answer, by leading, by its own cancellation or at its deadline. The number of waiters is bounded.
 */
import { equalInConstantTime } from "../base/bytes.ts";
import type { Clock } from "../base/clock.ts";

import type { ToolFailure } from "../model/outcome/failure.ts";
import type { KeptAnswer } from "./kept-answer.ts";

/** Calls of one kernel that wait for others with their dedupe key; each costs a timer and its arguments. */
export const DEDUPE_WAITERS_MAX = 16_384;

/** How a flight ended for all who wait; `next`: there is nothing for them, so the next one leads. */
export type Landing =
  | { readonly kind: "kept"; readonly kept: KeptAnswer }
  | { readonly kind: "failure"; readonly failure: ToolFailure }
  | { readonly kind: "broken"; readonly error: unknown }
  | { readonly kind: "next" };

/** What a call that boards gets: the lead and how to end it, what the flight before came to, or why it cannot wait. */
export type Boarding =
  | { readonly kind: "lead"; readonly waited: boolean; readonly land: (landing: Landing) => void }
  | { readonly kind: "landed"; readonly landing: Exclude<Landing, { kind: "next" }> }
  | { readonly kind: "conflict" | "crowded" | "late" | "cancelled" };

/** A call that wants to board, and how long it may wait. */
export interface Passenger {
  readonly key: string;
  /** Digest of the call. */
  readonly call: Uint8Array;
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
}

interface Flight {
  readonly call: Uint8Array;
  /** In the order they came; a set, because any of them may leave. */
  readonly waiting: Set<(boarding: Boarding) => void>;
}

/** The flights of one kernel. */
export class Flights {
  readonly #clock: Clock;
  readonly #flights = new Map<string, Flight>();
  #waiters = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Leads a new flight, or waits for the one that is under way. */
  board(passenger: Passenger): Boarding | Promise<Boarding> {
    const { key, call, signal } = passenger;
    const flight = this.#flights.get(key);
    if (flight === undefined) {
      const begun: Flight = { call, waiting: new Set() };
      this.#flights.set(key, begun);
      return this.#lead(key, begun, false);
    }
    if (!equalInConstantTime(flight.call, call)) return { kind: "conflict" };
    if (signal.aborted) return { kind: "cancelled" };
    if (this.#waiters >= DEDUPE_WAITERS_MAX) return { kind: "crowded" };
    return this.#wait(flight, passenger);
  }

  #wait(flight: Flight, { deadlineMs, signal }: Passenger): Promise<Boarding> {
    return new Promise((resolve) => {
      const leave = (boarding: Boarding) => {
        flight.waiting.delete(leave);
        this.#waiters -= 1;
        clearTimeout(timer);
        signal.removeEventListener("abort", onAbort);
        resolve(boarding);
      };
      const onAbort = () => leave({ kind: "cancelled" });
      const timer = setTimeout(() => leave({ kind: "late" }), Math.max(0, deadlineMs - this.#clock.monotonicMs()));
      signal.addEventListener("abort", onAbort, { once: true });
      flight.waiting.add(leave);
      this.#waiters += 1;
    });
  }

  #lead(key: string, flight: Flight, waited: boolean): Boarding {
    let flying = true;
    const land = (landing: Landing) => {
      if (!flying) return;
      flying = false;
      this.#land(key, flight, landing);
    };
    return { kind: "lead", waited, land };
  }

  #land(key: string, flight: Flight, landing: Landing): void {
    const [next] = flight.waiting;
    if (landing.kind === "next" && next !== undefined) {
      next(this.#lead(key, flight, true));
      return;
    }
    this.#flights.delete(key);
    if (landing.kind !== "next") for (const leave of [...flight.waiting]) leave({ kind: "landed", landing });
  }
}
