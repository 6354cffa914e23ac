/**
 * File locks in `locks.db`, shared by all kernels of a state directory.
 *
 * Not fsynced: a lock means nothing after the machine has died. INVARIANT: a lock changes hands only in a transaction
 * that holds the write lock.
 */
import { join } from "node:path";
import type { Database, Statement } from "better-sqlite3";
import type { LockOutcome, LockRequest, LockStore } from "../../sandbox/ports/lock-store.ts";
import { guarded, immediately, openDatabase } from "./state/database.ts";
import { LOCKS_SCHEMA } from "./state/schema.ts";
import { prepareStateDirectory } from "./state/state-directory.ts";

/** Opens the locks of a state directory. */
export async function openLockStore(stateDirectory: string): Promise<LockStore> {
  await prepareStateDirectory(stateDirectory);
  const path = join(stateDirectory, "locks.db");
  const database = await openDatabase(path, LOCKS_SCHEMA, "STORE_UNAVAILABLE");
  guarded(path, "STORE_UNAVAILABLE", () => database.pragma("synchronous = NORMAL"));
  return new EmbeddedLockStore(database, path);
}

interface LockRow {
  readonly owner: string;
  readonly since_ms: number;
}

class EmbeddedLockStore implements LockStore {
  private readonly database: Database;
  private readonly path: string;
  private readonly find: Statement<[string], LockRow>;
  private readonly put: Statement<[string, string, number]>;
  private readonly remove: Statement<[string, string]>;

  constructor(database: Database, path: string) {
    this.database = database;
    this.path = path;
    this.find = database.prepare("SELECT owner, since_ms FROM locks WHERE key = ?");
    this.put = database.prepare("INSERT OR REPLACE INTO locks VALUES (?, ?, ?)");
    this.remove = database.prepare("DELETE FROM locks WHERE key = ? AND owner = ?");
  }

  async acquire({ key, owner, staleAfterMs, nowMs }: LockRequest): Promise<LockOutcome> {
    return guarded(this.path, "STORE_UNAVAILABLE", () =>
      immediately(this.database, (): LockOutcome => {
        const held = this.find.get(key);
        // A clock that went backwards makes no lock stale: the age is then negative.
        if (held !== undefined && nowMs - held.since_ms < staleAfterMs)
          return { kind: "busy", owner: held.owner, sinceMs: held.since_ms };
        this.put.run(key, owner, Math.floor(nowMs));
        return { kind: "acquired", ...(held === undefined ? {} : { brokenOwner: held.owner }) };
      }),
    );
  }

  async release({ key, owner }: { readonly key: string; readonly owner: string }): Promise<boolean> {
    return guarded(this.path, "STORE_UNAVAILABLE", () => this.remove.run(key, owner).changes === 1);
  }

  async close(): Promise<void> {
    guarded(this.path, "STORE_UNAVAILABLE", () => this.database.close());
  }
}
