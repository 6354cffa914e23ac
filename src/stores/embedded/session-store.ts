/**
 * Sessions and leases in `state.db`.
 *
 * Found rows are kept in memory until the database changes. SQLite's `data_version` says whether another connection, of
 * this or any other process, committed since. INVARIANT: a cached row is used only after asking in the same turn of the
 * event loop, so that a revocation is seen by every call that was sent after it, in every process.
 */
import { join } from "node:path";
import type { Database, Statement } from "better-sqlite3";
import { KernelError } from "../../base/errors.ts";
import { STORE_CACHE_ENTRIES_MAX, STORE_LIST_MAX } from "../../base/limits.ts";
import { currentTurn, endTurn } from "../../base/turn.ts";
import type { Lease } from "../../model/lease.ts";
import type { Session } from "../../model/session.ts";
import type { LeasePatch, SessionPatch, SessionStore } from "../../session/session-store.ts";
import { guarded, immediately, openDatabase } from "./database.ts";
import { STATE_SCHEMA } from "./schema.ts";
import { type LeaseRow, leaseOf, leaseRow, type SessionRow, sessionOf, sessionRow } from "./session-rows.ts";
import { errorCode, prepareStateDirectory } from "./state-directory.ts";

/** Opens the sessions and leases of a state directory. */
export async function openSessionStore(stateDirectory: string): Promise<SessionStore> {
  await prepareStateDirectory(stateDirectory);
  const path = join(stateDirectory, "state.db");
  return new EmbeddedSessionStore(await openDatabase(path, STATE_SCHEMA, "STORE_UNAVAILABLE"), path);
}

/** One table of records with an id: `Row` as stored, `Value` as used. */
interface Table<Row, Value> {
  readonly noun: string;
  readonly insert: Statement<[Row]>;
  readonly find: Statement<[string], Row>;
  readonly list: Statement<[], Row>;
  readonly decode: (row: Row) => Value;
  readonly cache: Map<string, Value>;
}

class EmbeddedSessionStore implements SessionStore {
  private readonly database: Database;
  private readonly path: string;
  private readonly dataVersion: Statement<[], number>;
  private readonly sessions: Table<SessionRow, Session>;
  private readonly leases: Table<LeaseRow, Lease>;
  private seenVersion: number | undefined;
  private askedInTurn = -1;

  constructor(database: Database, path: string) {
    this.database = database;
    this.path = path;
    this.dataVersion = database.prepare<[], number>("PRAGMA data_version").pluck();
    this.sessions = {
      noun: "session",
      insert: database.prepare(
        `INSERT INTO sessions VALUES (@id, @token_hash, @user_id, @agent_id, @role, @service_root, @project_root, @isolation_level, @lease_id,
           @mode, @skill, @preset, @created_at_ms, @expires_at_ms, @revoked_at_ms, @frozen_at_ms)`,
      ),
      find: database.prepare("SELECT * FROM sessions WHERE id = ?"),
      list: database.prepare(`SELECT * FROM sessions ORDER BY created_at_ms DESC, id LIMIT ${STORE_LIST_MAX}`),
      decode: sessionOf,
      cache: new Map(),
    };
    this.leases = {
      noun: "lease",
      insert: database.prepare(
        "INSERT INTO leases VALUES (@id, @parent_id, @scope, @budget, @created_at_ms, @expires_at_ms, @released_at_ms)",
      ),
      find: database.prepare("SELECT * FROM leases WHERE id = ?"),
      list: database.prepare(`SELECT * FROM leases ORDER BY created_at_ms DESC, id LIMIT ${STORE_LIST_MAX}`),
      decode: leaseOf,
      cache: new Map(),
    };
  }

  async insertSession(session: Session): Promise<void> {
    this.insert(this.sessions, sessionRow(session));
  }

  async findSession(id: string): Promise<Session | undefined> {
    return this.find(this.sessions, id);
  }

  async listSessions(): Promise<readonly Session[]> {
    return this.guarded(() => this.sessions.list.all()).map(sessionOf);
  }

  async updateSession(id: string, patch: SessionPatch): Promise<Session | undefined> {
    return this.change(this.sessions, id, () => {
      const { revokedAtMs, frozenAtMs, expiresAtMs } = patch;
      if (revokedAtMs !== undefined)
        this.set("UPDATE sessions SET revoked_at_ms = coalesce(revoked_at_ms, ?) WHERE id = ?", revokedAtMs, id);
      if (frozenAtMs !== undefined) this.set("UPDATE sessions SET frozen_at_ms = ? WHERE id = ?", frozenAtMs, id);
      if (expiresAtMs !== undefined) this.set("UPDATE sessions SET expires_at_ms = ? WHERE id = ?", expiresAtMs, id);
    });
  }

  async insertLease(lease: Lease): Promise<void> {
    this.insert(this.leases, leaseRow(lease));
  }

  async findLease(id: string): Promise<Lease | undefined> {
    return this.find(this.leases, id);
  }

  async listLeases(): Promise<readonly Lease[]> {
    return this.guarded(() => this.leases.list.all()).map(leaseOf);
  }

  async updateLease(id: string, patch: LeasePatch): Promise<Lease | undefined> {
    return this.change(this.leases, id, () => {
      const { expiresAtMs, releasedAtMs } = patch;
      if (expiresAtMs !== undefined) this.set("UPDATE leases SET expires_at_ms = ? WHERE id = ?", expiresAtMs, id);
      if (releasedAtMs !== undefined)
        this.set("UPDATE leases SET released_at_ms = coalesce(released_at_ms, ?) WHERE id = ?", releasedAtMs, id);
    });
  }

  async close(): Promise<void> {
    this.guarded(() => this.database.close());
  }

  private insert<Row, Value>(table: Table<Row, Value>, row: Row): void {
    this.guarded(() => {
      try {
        table.insert.run(row);
        endTurn();
      } catch (error) {
        if (errorCode(error) !== "SQLITE_CONSTRAINT_PRIMARYKEY") throw error;
        throw new KernelError("STORE_UNAVAILABLE", `there is already a ${table.noun} with this id`, error);
      }
    });
  }

  private find<Row, Value>(table: Table<Row, Value>, id: string): Value | undefined {
    return this.guarded(() => {
      this.forgetIfChanged();
      const cached = table.cache.get(id);
      if (cached !== undefined) return cached;
      const row = table.find.get(id);
      if (row === undefined) return undefined;
      const value = table.decode(row);
      keep(table.cache, id, value);
      return value;
    });
  }

  private change<Row, Value>(table: Table<Row, Value>, id: string, apply: () => void): Value | undefined {
    return this.guarded(() => {
      // The connection's own commits leave `data_version` as it is, so that the cache is told here.
      table.cache.delete(id);
      const changed = immediately(this.database, () => {
        apply();
        const row = table.find.get(id);
        return row === undefined ? undefined : table.decode(row);
      });
      endTurn();
      return changed;
    });
  }

  private set(sql: string, value: number | null, id: string): void {
    this.database.prepare(sql).run(value, id);
  }

  /** Asks once in a turn of the event loop, because asking takes a read lock: several microseconds. */
  private forgetIfChanged(): void {
    const turn = currentTurn();
    if (turn === this.askedInTurn) return;
    this.askedInTurn = turn;
    const version = this.dataVersion.get();
    if (version === this.seenVersion) return;
    this.sessions.cache.clear();
    this.leases.cache.clear();
    this.seenVersion = version;
  }

  private guarded<T>(work: () => T): T {
    return guarded(this.path, "STORE_UNAVAILABLE", work);
  }
}

function keep<Value>(cache: Map<string, Value>, id: string, value: Value): void {
  const oldest = cache.size >= STORE_CACHE_ENTRIES_MAX ? cache.keys().next().value : undefined;
  if (oldest !== undefined) cache.delete(oldest);
  cache.set(id, value);
}
