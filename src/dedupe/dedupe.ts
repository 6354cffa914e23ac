/**
 * Executes calls with the same dedupe key in one session at most once (CTR-0003).
 *
 * This is replay protection: all such calls get the first answer. Inside one kernel it works by single flight, across
 * kernels and restarts by claims in the store. `isAlive` is trusted that an instance which is gone never comes back.
 *
 * INVARIANTS: A call goes on only with a claim that nobody else holds. A claim is settled once, whatever came of the
 * call. A claim that was begun by an instance that is gone is never executed again while it is remembered. Its outcome
 * is unknown unless the evidence recorded it.
 */
import { setTimeout as pause } from "node:timers/promises";
import { equalInConstantTime } from "../base/bytes.ts";
import type { Clock } from "../base/clock.ts";
import { storeUnavailable } from "../base/errors.ts";
import type { ToolFailure } from "../model/outcome/failure.ts";
import type { Mark } from "../model/outcome/label.ts";
import type { CallResponse } from "../model/tool/call.ts";
import type { ClaimOutcome, ClaimRequest, DedupeKey, DedupeStore, HeldClaim } from "./dedupe-store.ts";
import { busy, cancelled, conflict, failureOf, full, outcomeUnknown } from "./failures.ts";
import { type Boarding, Flights, type Landing, type Passenger } from "./flights.ts";
import { decodeAnswer, type Execution, encodeAnswer, isKept } from "./kept-answer.ts";
import { DEDUPE_POLL_MAX_MS, DEDUPE_PURGE_PAUSE_MS, DEDUPE_WAIT_MS } from "./limits.ts";

/** Milliseconds that the answer of a call with a dedupe key is kept: one day (CTR-0003). */
export const DEDUPE_KEPT_MS = 24 * 3_600_000;
/** Milliseconds between two looks at a call that another kernel executes: the first pause … */
const DEDUPE_POLL_MIN_MS = 2;
/** Kept answers that are forgotten at once: deleting one of the largest size takes a fraction of a millisecond. */
export const DEDUPE_PURGE_ROWS_MAX = 64;

export { callDigest } from "./call-digest.ts";

/** An intent of a kernel that is gone. */
export interface BegunCall {
  readonly sessionId: string;
  readonly instanceId: string;
  /** Sequence of the intent. */
  readonly intent: number;
}

/** What the evidence says of calls. */
export interface ExecutionEvidence {
  /** Sequence of the entry that recorded the call as executed; `undefined` when there is none, or none is found. */
  readonly executedAt: (call: BegunCall) => Promise<number | undefined>;
}

/** What replay protection needs of its kernel. */
export interface DedupeParts {
  readonly store: DedupeStore;
  readonly evidence: ExecutionEvidence;
  readonly instanceId: string;
  readonly isAlive: (instanceId: string) => Promise<boolean>;
  readonly clock: Clock;
  readonly onInternalError: (error: unknown) => void;
}

/** A call with a key; `call` is its digest. */
export interface KeyedCall extends DedupeKey {
  readonly call: Uint8Array;
  /** Names the rules that hold for the call now. */
  readonly basis: string;
  /** The call has no effect, so that it is made again when the answer to it rests on other rules. */
  readonly repeatable: boolean;
}

/** The right to execute a call. */
export interface Claim {
  /** Says that the effect is about to happen. @throws KernelError STORE_UNAVAILABLE, and then it must not happen */
  readonly begin: () => Promise<void>;
  /**
   * Puts the answer aside before its outcome is recorded, so that a kernel that is killed afterwards leaves both. Never
   * rejects: without it a killed kernel leaves an unknown outcome.
   */
  readonly prepare: (
    answer: CallResponse,
    execution: Execution,
    more: { readonly intent: number; readonly seen?: Mark },
  ) => Promise<void>;
  /** Keeps the answer or gives the claim up. Never rejects: what the call did stands either way. */
  readonly settle: (answer: CallResponse, execution: Execution, seen?: Mark) => Promise<void>;
}

/** What a call with a key meets; `waited`: time has passed, so that what allowed the call must be looked at again. */
export type Entry = { readonly waited: boolean } & (
  | { readonly kind: "go_on"; readonly claim: Claim }
  | { readonly kind: "replay"; readonly answer: CallResponse; readonly seen?: Mark }
  /** It was executed under other rules, which may have allowed what those of now do not. */
  | { readonly kind: "stale" }
  | { readonly kind: "failure"; readonly failure: ToolFailure }
);

type Patience = Pick<Passenger, "deadlineMs" | "signal">;
type Lead = Extract<Boarding, { kind: "lead" }>;

/** The replay protection of one kernel. */
export class Dedupe {
  readonly #parts: DedupeParts;
  readonly #flights: Flights;
  #purgeAtMs = 0;

  constructor(parts: DedupeParts) {
    this.#parts = parts;
    this.#flights = new Flights(parts.clock);
  }

  /**
   * Decides whether a call with a key is executed, now or after a wait.
   * @throws KernelError STORE_UNAVAILABLE or STORE_CORRUPT when the store cannot say; the call must not be executed
   * then
   */
  async enter(keyed: KeyedCall, signal: AbortSignal): Promise<Entry> {
    const { clock } = this.#parts;
    const startedMs = clock.monotonicMs();
    const deadlineMs = startedMs + DEDUPE_WAIT_MS;
    const key = `${keyed.sessionId}\0${keyed.dedupeKey}`;
    for (let isBehind = false; ; isBehind = true) {
      const boarded = this.#flights.board({ key, call: keyed.call, deadlineMs, signal });
      const boarding = boarded instanceof Promise ? await boarded : boarded;
      if (boarding.kind === "lead") {
        const entry = await this.#leadOn(boarding, keyed, { deadlineMs, signal });
        // A store that another process keeps busy takes time too before it answers.
        return {
          ...entry,
          waited: isBehind || boarding.waited || clock.monotonicMs() - startedMs >= DEDUPE_POLL_MIN_MS,
        };
      }
      if (boarding.kind !== "landed") return { kind: "failure", failure: failureOf(boarding.kind), waited: false };
      const entry = entryOf(boarding.landing, keyed);
      // Behind a flight under other rules the call makes its own; every further wait ends at the same deadline.
      if (entry.kind !== "stale" || !keyed.repeatable) return { ...entry, waited: true };
    }
  }

  async #leadOn(lead: Lead, keyed: KeyedCall, patience: Patience): Promise<Unwaited> {
    try {
      const found = await this.#claim(keyed, patience);
      if (found.kind === "claimed") return { kind: "go_on", claim: this.#claimOf(keyed, lead.land) };
      lead.land(found);
      return found.kind === "next" ? { kind: "failure", failure: found.failure } : entryOf(found, keyed);
    } catch (error) {
      lead.land({ kind: "broken", error });
      throw error;
    }
  }

  /**
   * Claims the key, waiting for other kernels; or says what there is instead, and whether that holds for all who wait.
   */
  async #claim(keyed: KeyedCall, { deadlineMs, signal }: Patience): Promise<Found> {
    await this.#purge().catch(this.#parts.onInternalError); // a store that is down says so to the claim
    for (let pauseMs = DEDUPE_POLL_MIN_MS; ; pauseMs = Math.min(DEDUPE_POLL_MAX_MS, pauseMs * 1.5)) {
      const request = this.#request(keyed);
      const outcome = await this.#parts.store.claim(request);
      if (outcome.kind === "claimed") return outcome;
      if (outcome.kind === "full") return { kind: "next", failure: full() };
      const found = await this.#judge(request, outcome, keyed);
      if (found !== undefined) return found;
      if (this.#parts.clock.monotonicMs() + pauseMs > deadlineMs) return { kind: "next", failure: busy() };
      if (await isCancelledDuring(pauseMs, signal)) return { kind: "next", failure: cancelled() };
    }
  }

  /** What a key that is taken means for the call; `undefined` while somebody is at it. */
  async #judge(
    request: ClaimRequest,
    outcome: Exclude<ClaimOutcome, { kind: "claimed" | "full" }>,
    { basis, repeatable }: KeyedCall,
  ): Promise<Found | undefined> {
    const isSame = equalInConstantTime(outcome.call, request.call);
    if (outcome.kind === "kept") {
      if (!isSame) return CONFLICT();
      const kept = decodeAnswer(outcome.record);
      if (kept.basis === basis || !repeatable) return { kind: "kept", kept };
      return (await this.#parts.store.supersede(request)) ? { kind: "claimed" } : undefined;
    }
    if (await this.#isGone(outcome.holder)) {
      const isForgotten = outcome.sinceMs < request.forgetBeforeMs;
      if (!outcome.begun || isForgotten)
        return (await this.#parts.store.takeOver(request, outcome)) ? { kind: "claimed" } : undefined;
      return isSame ? this.#recorded(request, outcome) : CONFLICT();
    }
    return isSame ? undefined : CONFLICT();
  }

  /**
   * What the evidence says of a call whose kernel is gone: the answer that was put aside counts if its outcome was
   * recorded.
   */
  async #recorded(key: DedupeKey, { holder, prepared }: HeldClaim): Promise<Found> {
    const unknown: Found = { kind: "failure", failure: outcomeUnknown() };
    if (prepared === undefined) return unknown;
    const { intent, answer, ...more } = decodeAnswer(prepared);
    if (intent === undefined) return unknown;
    const { store, evidence, clock } = this.#parts;
    const ledgerSequence = await evidence.executedAt({ sessionId: key.sessionId, instanceId: holder, intent });
    if (ledgerSequence === undefined) return unknown;
    const kept = { answer: { ...answer, ledgerSequence }, ...more };
    // Whoever else asked meanwhile kept the same.
    await store.keep(key, holder, { ...encodeAnswer(kept), nowMs: clock.nowMs() });
    return { kind: "kept", kept };
  }

  /** A claim of this very kernel that no flight stands for is one that could not be settled. */
  async #isGone(holder: string): Promise<boolean> {
    return holder === this.#parts.instanceId || !(await this.#parts.isAlive(holder));
  }

  #request(keyed: KeyedCall): ClaimRequest {
    const nowMs = this.#parts.clock.nowMs();
    const { sessionId, dedupeKey, call } = keyed;
    return {
      sessionId,
      dedupeKey,
      call,
      holder: this.#parts.instanceId,
      nowMs,
      forgetBeforeMs: nowMs - DEDUPE_KEPT_MS,
    };
  }

  #claimOf(key: KeyedCall, land: (landing: Landing) => void): Claim {
    const { store, instanceId, clock, onInternalError } = this.#parts;
    return {
      begin: async () => {
        if (await store.begin(key, instanceId)) return;
        throw storeUnavailable("the claim of a call with a dedupe key was lost");
      },
      prepare: async (answer, execution, more) => {
        if (!isKept(answer.outcome, execution)) return;
        const record = encodeAnswer({ answer, basis: key.basis, ...more });
        await store.prepare(key, instanceId, record).catch(onInternalError);
      },
      settle: async (answer, execution, seen) => {
        const kept = isKept(answer.outcome, execution)
          ? { answer, basis: key.basis, ...(seen && { seen }) }
          : undefined;
        try {
          if (kept) await store.keep(key, instanceId, { ...encodeAnswer(kept), nowMs: clock.nowMs() });
          else await store.release(key, instanceId);
        } catch (error) {
          // The claim stays: while this kernel lives it knows it for one of its own, and afterwards for that of a dead
          // one.
          onInternalError(error);
        }
        land(kept ? { kind: "kept", kept } : { kind: "next" });
      },
    };
  }

  /** Forgets some of what is too old, now and then; what there is to forget beyond that is left to the next calls. */
  async #purge(): Promise<void> {
    const { store, clock } = this.#parts;
    if (clock.monotonicMs() < this.#purgeAtMs) return;
    this.#purgeAtMs = clock.monotonicMs() + DEDUPE_PURGE_PAUSE_MS;
    const beforeMs = clock.nowMs() - DEDUPE_KEPT_MS;
    const purged = await store.purge(beforeMs, DEDUPE_PURGE_ROWS_MAX);
    if (purged === DEDUPE_PURGE_ROWS_MAX) this.#purgeAtMs = 0;
    const holders = new Map<string, boolean>();
    for (const claim of await store.heldBefore(beforeMs, DEDUPE_PURGE_ROWS_MAX)) await this.#forget(claim, holders);
  }

  /** Claims of this kernel are left alone: a flight may stand for them. */
  async #forget(claim: DedupeKey & HeldClaim, alive: Map<string, boolean>): Promise<void> {
    const { store, instanceId, isAlive } = this.#parts;
    const lives = claim.holder === instanceId || (alive.get(claim.holder) ?? (await isAlive(claim.holder)));
    alive.set(claim.holder, lives);
    if (!lives) await store.release(claim, claim.holder);
  }
}

type Unwaited = { readonly [Kind in Entry["kind"]]: Omit<Extract<Entry, { kind: Kind }>, "waited"> }[Entry["kind"]];

/** A claim, or what ends the flight. `next`: this call gives up, but those behind it need not. */
type Found =
  | { readonly kind: "claimed" }
  | Exclude<Landing, { kind: "next" | "broken" }>
  | { readonly kind: "next"; readonly failure: ToolFailure };

const CONFLICT = (): Found => ({ kind: "failure", failure: conflict() });

function entryOf(
  landing: Exclude<Landing, { kind: "next" }>,
  { basis }: KeyedCall,
): Exclude<Unwaited, { kind: "go_on" }> {
  if (landing.kind === "broken") throw landing.error;
  if (landing.kind !== "kept") return landing;
  const { kept } = landing;
  if (kept.basis !== basis) return { kind: "stale" };
  return { kind: "replay", answer: kept.answer, ...(kept.seen && { seen: kept.seen }) };
}

async function isCancelledDuring(delayMs: number, signal: AbortSignal): Promise<boolean> {
  try {
    await pause(delayMs, undefined, { signal });
    return false;
  } catch (error) {
    if (signal.aborted) return true;
    throw error;
  }
}
