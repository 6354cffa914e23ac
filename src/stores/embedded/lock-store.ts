/**
 * File locks in `locks.db`, shared by all kernels of a state directory.
 *
 * Not fsynced: a lock means nothing after the machine has died. INVARIANT: a lock changes hands only in a transaction
 * that holds the write lock.
 */
import type { LockOutcome, LockRequest, LockStore } from "../../sandbox/ports/lock-store.ts";
import { LOCKS_SCHEMA } from "./state/schema.ts";
import { EmbeddedStore, withRelaxed } from "./state/store.ts";

/** Opens the locks of a state directory. */
export function openLockStore(stateDirectory: string): Promise<LockStore> {
  const place = { stateDirectory, file: "locks.db", schema: LOCKS_SCHEMA };
  return withRelaxed(place, (database) => new EmbeddedLockStore(database));
}

interface LockRow {
  readonly owner: string;
  readonly since_ms: number;
}

class EmbeddedLockStore extends EmbeddedStore implements LockStore {
  private readonly find = this.database.prepare<[string], LockRow>("SELECT owner, since_ms FROM locks WHERE key = ?");
  private readonly put = this.database.prepare<[string, string, number]>(
    "INSERT OR REPLACE INTO locks VALUES (?, ?, ?)",
  );
  private readonly remove = this.database.prepare<[string, string]>("DELETE FROM locks WHERE key = ? AND owner = ?");

  async acquire({ key, owner, staleAfterMs, nowMs }: LockRequest): Promise<LockOutcome> {
    return this.transaction((): LockOutcome => {
      const held = this.find.get(key);
      // A clock that went backwards makes no lock stale: the age is then negative.
      if (held !== undefined && nowMs - held.since_ms < staleAfterMs)
        return { kind: "busy", owner: held.owner, sinceMs: held.since_ms };
      this.put.run(key, owner, Math.floor(nowMs));
      return { kind: "acquired", ...(held === undefined ? {} : { brokenOwner: held.owner }) };
    });
  }

  async release({ key, owner }: { readonly key: string; readonly owner: string }): Promise<boolean> {
    return this.guarded(() => this.remove.run(key, owner).changes === 1);
  }
}
