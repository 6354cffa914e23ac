/**
 * Token buckets in `budget.db`, and what kernels hold of them.
 *
 * INVARIANT: what lies in a bucket and what is held of it together stay within its burst. INVARIANT: time that passed
 * counts once: a clock that goes backwards a little stands still for a bucket until it has caught up.
 */
import { storeCorrupt } from "../../../base/errors.ts";
import type { BucketState, BucketWish, Leftover, RateStore, Taken, TakeRequest } from "../../../budget/rate-store.ts";
import { EmbeddedStore } from "../state/store.ts";

/**
 * Milliseconds that a clock may go backwards and count as standing still; beyond it the time of a bucket is set anew.
 */
const RATE_CLOCK_WOBBLE_MS = 60_000;

/**
 * What a call takes of a bucket. A millisecond adds as many units as calls are allowed in a minute, so that nothing is
 * ever rounded.
 */
const UNITS_PER_CALL = 60_000;

interface BucketRow {
  readonly units: number;
  readonly at_ms: number;
}

interface Filled {
  readonly units: number;
  readonly atMs: number;
}

/** The buckets of an open `budget.db`. */
export class EmbeddedRateStore extends EmbeddedStore implements RateStore {
  readonly #find = this.database.prepare<[string], BucketRow>("SELECT units, at_ms FROM buckets WHERE key = ?");
  readonly #put = this.database.prepare<[string, number, number, number]>(
    "INSERT OR REPLACE INTO buckets VALUES (?, ?, ?, ?)",
  );
  readonly #heldByOthers = this.database
    .prepare<[string, string, number], number>(
      "SELECT total(calls) FROM slices WHERE key = ? AND instance <> ? AND until_ms > ?",
    )
    .pluck();
  readonly #forgetOthers = this.database.prepare<[string, string, number]>(
    "DELETE FROM slices WHERE key = ? AND instance <> ? AND until_ms <= ?",
  );
  readonly #heldBy = this.database
    .prepare<[string, string], number>("SELECT calls FROM slices WHERE key = ? AND instance = ?")
    .pluck();
  readonly #hold = this.database.prepare<[string, string, number, number]>(
    "INSERT OR REPLACE INTO slices VALUES (?, ?, ?, ?)",
  );
  readonly #letGo = this.database.prepare<[string, string]>("DELETE FROM slices WHERE key = ? AND instance = ?");

  async take(request: TakeRequest): Promise<Taken> {
    return this.transaction(() => {
      const filled = request.buckets.map((wish) => this.#fill(wish, request));
      const empty = longestWait(request.buckets, filled);
      if (empty !== undefined) return empty;
      const calls = request.buckets.map((wish, index) => {
        const { units, atMs } = filled[index] ?? { units: 0, atMs: 0 };
        const granted = Math.min(Math.max(1, wish.most), Math.floor(units / UNITS_PER_CALL));
        this.#keep(wish, { units: units - granted * UNITS_PER_CALL, atMs });
        // The first of what was granted is used at once.
        if (granted > 1) this.#hold.run(wish.key, request.instance, granted - 1, Math.ceil(request.untilMs));
        else this.#letGo.run(wish.key, request.instance);
        return granted;
      });
      return { kind: "granted", calls };
    });
  }

  async giveBack(instance: string, leftovers: readonly Leftover[], nowMs: number): Promise<void> {
    this.transaction(() => {
      for (const { key, limit, calls } of leftovers) {
        const filled = this.#fill({ key, limit, returned: calls }, { instance, nowMs });
        this.#keep({ key, limit }, filled);
        this.#letGo.run(key, instance);
      }
    });
  }

  async purge(beforeMs: number, limit: number): Promise<void> {
    const buckets = this.database.prepare<[number, number]>(
      "DELETE FROM buckets WHERE key IN (SELECT key FROM buckets WHERE full_ms < ? LIMIT ?)",
    );
    const slices = this.database.prepare<[number]>("DELETE FROM slices WHERE until_ms < ?");
    this.transaction(() => {
      slices.run(Math.floor(beforeMs));
      buckets.run(Math.floor(beforeMs), limit);
    });
  }

  async listBuckets(limit: number): Promise<readonly BucketState[]> {
    const list = this.database.prepare<[number], BucketRow & { readonly key: string }>(
      "SELECT key, units, at_ms FROM buckets ORDER BY key LIMIT ?",
    );
    const rows = this.guarded(() => list.all(limit));
    return rows.map(({ key, units, at_ms: atMs }) => ({ key, calls: units / UNITS_PER_CALL, atMs }));
  }

  /** The bucket with what the instance gives back and what time has added. */
  #fill(
    { key, limit, returned }: Omit<BucketWish, "most">,
    { instance, nowMs }: Pick<TakeRequest, "instance" | "nowMs">,
  ): Filled {
    // What no longer counts as held makes room here, and must not come back on top of what takes that room.
    this.#forgetOthers.run(key, instance, Math.floor(nowMs));
    const heldByOthers = this.#heldByOthers.get(key, instance, Math.floor(nowMs)) ?? 0;
    const room = Math.max(0, limit.burst - heldByOthers) * UNITS_PER_CALL;
    const row = this.#find.get(key);
    if (row === undefined) return { units: room, atMs: nowMs };
    const { units, at_ms: atMs } = row;
    if (!(Number.isSafeInteger(units) && units >= 0))
      throw storeCorrupt("`budget.db` in the state directory holds a bucket that is none");
    const elapsedMs = nowMs - atMs;
    // No more comes back than was taken.
    const leftover = returned > 0 ? Math.min(returned, this.#heldBy.get(key, instance) ?? 0) : 0;
    const added = Math.floor(Math.max(0, elapsedMs)) * limit.callsPerMinute + leftover * UNITS_PER_CALL;
    const isBehind = elapsedMs < 0 && elapsedMs >= -RATE_CLOCK_WOBBLE_MS;
    return { units: Math.min(room, units + added), atMs: isBehind ? atMs : nowMs };
  }

  #keep({ key, limit }: Pick<BucketWish, "key" | "limit">, { units, atMs }: Filled): void {
    const fullMs = atMs + (limit.burst * UNITS_PER_CALL - units) / limit.callsPerMinute;
    this.#put.run(key, units, Math.floor(atMs), Math.ceil(fullMs));
  }
}

/** The bucket that takes longest to hold a call again, when there is one without. */
function longestWait(
  wishes: readonly BucketWish[],
  filled: readonly Filled[],
): Extract<Taken, { kind: "empty" }> | undefined {
  let longest: Extract<Taken, { kind: "empty" }> | undefined;
  for (const [index, { key, limit }] of wishes.entries()) {
    const units = filled[index]?.units ?? 0;
    if (units >= UNITS_PER_CALL) continue;
    const retryAfterMs = Math.max(1, Math.ceil((UNITS_PER_CALL - units) / limit.callsPerMinute));
    if (longest === undefined || retryAfterMs > longest.retryAfterMs) longest = { kind: "empty", key, retryAfterMs };
  }
  return longest;
}
