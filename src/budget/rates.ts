/**
 * Rate limits: a call takes one from each of its token buckets, or is told how long to wait.
 *
 * A kernel takes a few calls of a bucket at once and admits the next ones from memory. INVARIANTS: what it holds counts
 * as taken in the store for as long as it may be used; a call that is not admitted takes nothing; one transaction at a
 * time.
 */
import type { Clock } from "../base/clock.ts";

import { ToolFailure } from "../model/outcome/failure.ts";
import type { Session } from "../model/people/session.ts";
import type { RateLimit, SpendingLimits } from "../model/spending/spending-limits.ts";
import { principalKey, sessionKey } from "./accounts.ts";
import type { BucketWish, RateStore } from "./rate-store.ts";

/** A kernel takes at most this part of a bucket at once beyond what it needs, so that sixteen others find some … */
const RATE_SLICE_PART = 1 / 16;
/** Calls that a kernel takes of a bucket at once at most. */
const RATE_SLICE_CALLS_MAX = 64;
/**
 * Milliseconds that a kernel may keep a part of a bucket: what it does not use meanwhile is not kept from others for
 * longer.
 */
export const RATE_SLICE_MS = 250;
/**
 * Milliseconds by which a part of a bucket counts as taken beyond `RATE_SLICE_MS`, because clocks and threads are not
 * exact.
 */
const RATE_SLICE_MARGIN_MS = 250;
/** Buckets of which a kernel keeps parts in memory; the oldest go first, and what they held is lost. */
const RATE_BUCKETS_KEPT_MAX = 4096;
/** Full buckets that are forgotten at once: a full one says no more than none. */
const RATE_PURGE_ROWS_MAX = 256;
/** Milliseconds between two times that full buckets are forgotten. */
const RATE_PURGE_PAUSE_MS = 60_000;

/** What rate limits need of their kernel. */
export interface RateParts {
  readonly store: RateStore;
  readonly instanceId: string;
  readonly clock: Clock;
  readonly onInternalError: (error: unknown) => void;
}

/** A bucket that a call takes from. */
interface Bucket {
  readonly key: string;
  readonly limit: RateLimit;
}

/** Calls of a bucket that this kernel may admit by itself. */
interface Slice {
  calls: number;
  readonly limit: RateLimit;
  /** Monotonic: afterwards they are only given back. */
  readonly untilMs: number;
}

/** What came of asking: `undefined` admits the call. */
type Paced = ToolFailure | undefined;

/** The rate limits of one kernel. */
export class Rates {
  readonly #parts: RateParts;
  readonly #slices = new Map<string, Slice>();
  #taking: Promise<unknown> = Promise.resolve();
  #purgeAtMs = 0;
  #returning: NodeJS.Timeout | undefined;

  constructor(parts: RateParts) {
    this.#parts = parts;
  }

  /**
   * Admits one call: at once, with `undefined`, where this kernel holds what it needs.
   * @throws KernelError STORE_UNAVAILABLE or STORE_CORRUPT when nobody can say; the call must not be executed then
   */
  admit(session: Session, tool: string, limits: SpendingLimits): undefined | Promise<Paced> {
    const { rates } = limits;
    if (rates === undefined) return undefined;
    const buckets = bucketsOf(session, tool, rates);
    if (buckets.every((bucket) => this.#has(bucket))) {
      for (const { key } of buckets) this.#use(key);
      return undefined;
    }
    // One after the other: who waits here may find what the one before it took.
    const turn = this.#taking.then(() => this.#take(buckets));
    this.#taking = turn.catch(() => undefined); // told to the caller of this turn, and not to the next one
    return turn;
  }

  /** Gives back everything that this kernel holds. Never rejects: what cannot be given back is refilled by time. */
  async close(): Promise<void> {
    clearTimeout(this.#returning);
    await this.#taking;
    await this.#giveBack(() => true);
  }

  /** What is held and not used in time goes back, so that others find it. */
  #returnLater(): void {
    this.#returning ??= setTimeout(() => {
      this.#returning = undefined;
      this.#taking = this.#taking.then(() =>
        this.#giveBack(({ untilMs }) => this.#parts.clock.monotonicMs() >= untilMs),
      );
    }, RATE_SLICE_MS).unref();
  }

  async #giveBack(isOver: (slice: Slice) => boolean): Promise<void> {
    const { store, instanceId, clock, onInternalError } = this.#parts;
    const over = [...this.#slices].filter(([, slice]) => isOver(slice));
    for (const [key] of over) this.#slices.delete(key);
    if (this.#slices.size > 0) this.#returnLater();
    const leftovers = over.flatMap(([key, { limit, calls }]) => (calls > 0 ? [{ key, limit, calls }] : []));
    if (leftovers.length > 0) await store.giveBack(instanceId, leftovers, clock.nowMs()).catch(onInternalError);
  }

  async #take(buckets: readonly Bucket[]): Promise<Paced> {
    const { store, instanceId, clock } = this.#parts;
    const missing = buckets.filter((bucket) => !this.#has(bucket));
    const present = buckets.filter((bucket) => !missing.includes(bucket));
    for (const { key } of present) this.#use(key);
    if (missing.length === 0) return undefined;
    const untilMs = clock.monotonicMs() + RATE_SLICE_MS;
    const nowMs = clock.nowMs();
    const wishes = missing.map((bucket) => this.#wish(bucket));
    const taken = await store.take({
      instance: instanceId,
      buckets: wishes,
      nowMs,
      untilMs: nowMs + RATE_SLICE_MS + RATE_SLICE_MARGIN_MS,
    });
    if (taken.kind === "empty") {
      for (const { key } of present) this.#unuse(key);
      return tooFast(taken.key, taken.retryAfterMs);
    }
    for (const [index, { key, limit }] of missing.entries())
      this.#keep(key, { calls: (taken.calls[index] ?? 1) - 1, limit, untilMs });
    this.#purge(nowMs);
    return undefined;
  }

  #wish({ key, limit }: Bucket): BucketWish {
    const beyond = Math.min(RATE_SLICE_CALLS_MAX, Math.floor(limit.burst * RATE_SLICE_PART));
    return { key, limit, most: 1 + beyond, returned: this.#slices.get(key)?.calls ?? 0 };
  }

  #has({ key, limit }: Bucket): boolean {
    const slice = this.#slices.get(key);
    if (slice === undefined || slice.calls < 1 || this.#parts.clock.monotonicMs() >= slice.untilMs) return false;
    return slice.limit.burst === limit.burst && slice.limit.callsPerMinute === limit.callsPerMinute;
  }

  #use(key: string): void {
    const slice = this.#slices.get(key);
    if (slice) slice.calls -= 1;
  }

  #unuse(key: string): void {
    const slice = this.#slices.get(key);
    if (slice) slice.calls += 1;
  }

  #keep(key: string, slice: Slice): void {
    this.#returnLater();
    this.#slices.delete(key); // the map is in the order in which slices were taken
    this.#slices.set(key, slice);
    const oldest = this.#slices.size > RATE_BUCKETS_KEPT_MAX ? this.#slices.keys().next().value : undefined;
    if (oldest !== undefined) this.#slices.delete(oldest);
  }

  #purge(nowMs: number): void {
    const { store, clock, onInternalError } = this.#parts;
    if (clock.monotonicMs() < this.#purgeAtMs) return;
    this.#purgeAtMs = clock.monotonicMs() + RATE_PURGE_PAUSE_MS;
    store.purge(nowMs, RATE_PURGE_ROWS_MAX).catch(onInternalError);
  }
}

function bucketsOf(session: Session, tool: string, rates: NonNullable<SpendingLimits["rates"]>): readonly Bucket[] {
  const buckets: Bucket[] = [];
  const ofTool = rates.tools.get(tool);
  if (ofTool) buckets.push({ key: toolKey(tool, session), limit: ofTool });
  if (rates.session) buckets.push({ key: sessionKey(session), limit: rates.session });
  if (rates.principal) buckets.push({ key: principalKey(session), limit: rates.principal });
  return buckets;
}

function toolKey(tool: string, session: Session): string {
  return `tool:${tool}:${principalKey(session)}`;
}

function tooFast(key: string, retryAfterMs: number): ToolFailure {
  const whose = key.startsWith("tool:")
    ? "calls of this tool"
    : key.startsWith("session:")
      ? "calls of this session"
      : "calls of this agent";
  return new ToolFailure(
    "RATE_LIMITED",
    `${whose} come faster than the operator allows, so that this one was not made`,
    { suggestion: `send it again in ${retryAfterMs} ms`, retryAfterMs },
  );
}
