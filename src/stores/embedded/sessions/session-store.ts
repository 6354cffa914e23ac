/**
 * Sessions and leases in `state.db`. Found rows are kept in memory until the database changes, so that a revocation is
 * seen by every call that was sent after it, in every process.
 */
import type { Statement } from "better-sqlite3";
import { errorCode, storeUnavailable } from "../../../base/errors.ts";
import { STORE_LIST_MAX } from "../../../base/limits.ts";
import { endTurn } from "../../../base/turn.ts";
import type { Lease } from "../../../model/people/lease.ts";
import type { Session } from "../../../model/people/session.ts";
import type { LeasePatch, SessionPatch, SessionStore } from "../../../session/session-store.ts";
import { RowCache, type StateFreshness } from "../state/state-cache.ts";
import { EmbeddedStore, type OpenedDatabase } from "../state/store.ts";
import { type LeaseRow, leaseOf, leaseRow, type SessionRow, sessionOf, sessionRow } from "./session-rows.ts";

/** One table of records with an id: `Row` as stored, `Value` as used. */
interface Table<Row, Value> {
  readonly noun: string;
  readonly insert: Statement<[Row]>;
  readonly find: Statement<[string], Row>;
  readonly list: Statement<[], Row>;
  readonly decode: (row: Row) => Value;
  readonly cache: RowCache<Value>;
}

/** The sessions and leases of an open `state.db`, which it closes. */
export class EmbeddedSessionStore extends EmbeddedStore implements SessionStore {
  private readonly sessions: Table<SessionRow, Session>;
  private readonly leases: Table<LeaseRow, Lease>;

  constructor(opened: OpenedDatabase, freshness: StateFreshness) {
    super(opened);
    const { database } = opened;
    this.sessions = {
      noun: "session",
      insert: database.prepare(
        `INSERT INTO sessions VALUES (@id, @token_hash, @user_id, @agent_id, @role, @service_root, @project_root, @isolation_level, @lease_id,
           @mode, @skill, @preset, @created_at_ms, @expires_at_ms, @revoked_at_ms, @frozen_at_ms, @branch_id, @branch_bound,
           @process, @one_call, @dialect)`,
      ),
      find: database.prepare("SELECT * FROM sessions WHERE id = ?"),
      list: database.prepare(`SELECT * FROM sessions ORDER BY created_at_ms DESC, id LIMIT ${STORE_LIST_MAX}`),
      decode: sessionOf,
      cache: new RowCache(freshness),
    };
    this.leases = {
      noun: "lease",
      insert: database.prepare(
        "INSERT INTO leases VALUES (@id, @parent_id, @scope, @budget, @created_at_ms, @expires_at_ms, @released_at_ms)",
      ),
      find: database.prepare("SELECT * FROM leases WHERE id = ?"),
      list: database.prepare(`SELECT * FROM leases ORDER BY created_at_ms DESC, id LIMIT ${STORE_LIST_MAX}`),
      decode: leaseOf,
      cache: new RowCache(freshness),
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
      const { revokedAtMs, frozenAtMs, expiresAtMs, branchId, agentId } = patch;
      if (agentId !== undefined) this.set("UPDATE sessions SET agent_id = ? WHERE id = ?", agentId, id);
      if (revokedAtMs !== undefined)
        this.set("UPDATE sessions SET revoked_at_ms = coalesce(revoked_at_ms, ?) WHERE id = ?", revokedAtMs, id);
      if (frozenAtMs !== undefined) this.set("UPDATE sessions SET frozen_at_ms = ? WHERE id = ?", frozenAtMs, id);
      if (expiresAtMs !== undefined) this.set("UPDATE sessions SET expires_at_ms = ? WHERE id = ?", expiresAtMs, id);
      if (branchId !== undefined)
        this.set("UPDATE sessions SET branch_id = ? WHERE id = ? AND branch_bound = 0", branchId, id);
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

  private insert<Row, Value>(table: Table<Row, Value>, row: Row): void {
    this.guarded(() => {
      try {
        table.insert.run(row);
        endTurn();
      } catch (error) {
        if (errorCode(error) !== "SQLITE_CONSTRAINT_PRIMARYKEY") throw error;
        throw storeUnavailable(`there is already a ${table.noun} with this id`, error);
      }
    });
  }

  private find<Row, Value>(table: Table<Row, Value>, id: string): Value | undefined {
    return this.guarded(() => {
      const cached = table.cache.get(id);
      if (cached !== undefined) return cached;
      const row = table.find.get(id);
      if (row === undefined) return undefined;
      const value = table.decode(row);
      table.cache.set(id, value);
      return value;
    });
  }

  private change<Row, Value>(table: Table<Row, Value>, id: string, apply: () => void): Value | undefined {
    // The connection's own commits leave `data_version` as it is, so that the cache is told here.
    table.cache.delete(id);
    const changed = this.transaction(() => {
      apply();
      const row = table.find.get(id);
      return row === undefined ? undefined : table.decode(row);
    });
    endTurn();
    return changed;
  }

  private set(sql: string, value: number | string | null, id: string): void {
    this.database.prepare(sql).run(value, id);
  }
}
