/**
 * The tables of the three databases of a state directory, version by version. A version that was released is never
 * edited: a change is a new text at the end of its list.
 */
import type { Schema } from "./database.ts";

/** `ledger.db`: the chain, its payloads, and what follows from it. */
export const LEDGER_SCHEMA: Schema = {
  applicationId: 0x48_4c_44_47,
  migrations: [
    `CREATE TABLE entries (seq INTEGER PRIMARY KEY, entry BLOB NOT NULL, hash BLOB NOT NULL) STRICT;
     CREATE TABLE payloads (seq INTEGER PRIMARY KEY, salt BLOB NOT NULL, payload BLOB NOT NULL) STRICT;
     CREATE TABLE open_intents (seq INTEGER PRIMARY KEY, instance_id TEXT NOT NULL) STRICT;
     CREATE TABLE head (one INTEGER PRIMARY KEY CHECK (one = 1), seq INTEGER NOT NULL, hash BLOB NOT NULL) STRICT;
     CREATE TABLE syncs (one INTEGER PRIMARY KEY CHECK (one = 1), count INTEGER NOT NULL) STRICT;
     INSERT INTO head VALUES (1, 0, zeroblob(32));
     INSERT INTO syncs VALUES (1, 0);`,
    "CREATE TABLE spools (instance_id TEXT PRIMARY KEY, through INTEGER NOT NULL) STRICT, WITHOUT ROWID;",
  ],
};

/** `state.db`: sessions and leases. */
export const STATE_SCHEMA: Schema = {
  applicationId: 0x48_53_54_41,
  migrations: [
    `CREATE TABLE sessions (
       id TEXT PRIMARY KEY, token_hash TEXT NOT NULL, user_id TEXT NOT NULL, agent_id TEXT NOT NULL, role TEXT NOT NULL,
       service_root TEXT NOT NULL, project_root TEXT NOT NULL, isolation_level TEXT NOT NULL CHECK (isolation_level IN ('STRICT', 'SHARED')),
       lease_id TEXT NOT NULL, mode TEXT NOT NULL, skill TEXT, preset TEXT NOT NULL, created_at_ms INTEGER NOT NULL,
       expires_at_ms INTEGER NOT NULL, revoked_at_ms INTEGER, frozen_at_ms INTEGER) STRICT, WITHOUT ROWID;
     CREATE INDEX sessions_by_age ON sessions (created_at_ms);
     CREATE TABLE leases (
       id TEXT PRIMARY KEY, parent_id TEXT, scope TEXT NOT NULL, budget TEXT NOT NULL, created_at_ms INTEGER NOT NULL,
       expires_at_ms INTEGER NOT NULL, released_at_ms INTEGER) STRICT, WITHOUT ROWID;
     CREATE INDEX leases_by_age ON leases (created_at_ms);`,
  ],
};

/** `locks.db`: file locks. Apart from sessions, because every change of that database empties their cache. */
export const LOCKS_SCHEMA: Schema = {
  applicationId: 0x48_4c_4f_4b,
  migrations: ["CREATE TABLE locks (key TEXT PRIMARY KEY, owner TEXT NOT NULL, since_ms INTEGER NOT NULL) STRICT, WITHOUT ROWID;"],
};
