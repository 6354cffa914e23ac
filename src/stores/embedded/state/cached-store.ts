/**
 * Provides the base class of the stores that cache rows of `state.db`: marks, armings and freezes.
 *
 * These stores share the connection and the cache. Their rows are looked up with every call and changed rarely.
 *
 * INVARIANTS: what was read is used again only as long as no process has committed since. A change forgets everything
 * that was read, because one row may concern many principals, and the connection's own commits are not noticed. What
 * the machine refuses is a `KernelError`.
 */
import { endTurn } from "../../../base/turn.ts";
import { immediately } from "./database.ts";
import { RowCache, type StateFreshness } from "./state-cache.ts";
import { EmbeddedStore, type OpenedDatabase } from "./store.ts";

/** A store of `state.db` that remembers what it read by a key. */
export abstract class CachedStore<Value> extends EmbeddedStore {
  readonly #cache: RowCache<{ readonly value: Value }>;

  constructor(opened: OpenedDatabase, freshness: StateFreshness) {
    super(opened);
    this.#cache = new RowCache(freshness);
  }

  /** What `read` finds for `key`, remembered, also when that is nothing. */
  protected cached(key: string, read: () => Value): Value {
    return this.guarded(() => {
      const known = this.#cache.get(key);
      if (known) return known.value;
      const value = read();
      this.#cache.set(key, { value });
      return value;
    });
  }

  /** Changes rows in one transaction, durable when it returns. */
  protected change<T>(work: () => T): T {
    return this.guarded(() => {
      try {
        return immediately(this.database, work);
      } finally {
        // Also when it failed: nobody knows then what stands.
        this.#cache.clear();
        endTurn();
      }
    });
  }
}
