/**
 * The tables of the databases of a state directory, version by version. A version that was released is never
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
    // Says that there is an anchor beside the ledger, so that its absence is noticed.
    "ALTER TABLE syncs ADD COLUMN anchored INTEGER NOT NULL DEFAULT 0;",
  ],
};

/** `state.db`: sessions and leases, the marks that follow principals, armings, freezes, and branches. */
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
    `CREATE TABLE marks (
       user_id TEXT NOT NULL, agent_id TEXT NOT NULL, service_root TEXT NOT NULL, trust_level TEXT NOT NULL, data_class TEXT NOT NULL,
       changed_at_ms INTEGER NOT NULL, PRIMARY KEY (user_id, agent_id, service_root)) STRICT, WITHOUT ROWID;`,
    // An empty session stands for all of them.
    `CREATE TABLE armings (
       session_id TEXT PRIMARY KEY, armed_at_ms INTEGER NOT NULL, until_ms INTEGER NOT NULL, armed_by TEXT NOT NULL) STRICT, WITHOUT ROWID;`,
    // What a freeze does not name is empty; the scope says so, because a name may be empty too.
    `CREATE TABLE freezes (
       scope TEXT NOT NULL CHECK (scope IN ('all', 'principal', 'workspace')), user_id TEXT NOT NULL, agent_id TEXT NOT NULL,
       service_root TEXT NOT NULL, cause TEXT NOT NULL CHECK (cause IN ('alert', 'operator')), reason TEXT NOT NULL, frozen_by TEXT NOT NULL,
       at_ms INTEGER NOT NULL, PRIMARY KEY (scope, user_id, agent_id, service_root)) STRICT, WITHOUT ROWID;`,
    `CREATE TABLE branches (
       id TEXT PRIMARY KEY, name TEXT NOT NULL, service_root TEXT NOT NULL, parent_id TEXT,
       state TEXT NOT NULL CHECK (state IN ('making', 'ready', 'merging')), instance_id TEXT NOT NULL,
       user_id TEXT NOT NULL, agent_id TEXT NOT NULL, way TEXT NOT NULL, entries INTEGER NOT NULL,
       created_at_ms INTEGER NOT NULL) STRICT, WITHOUT ROWID;
     CREATE UNIQUE INDEX branches_by_name ON branches (service_root, name);
     ALTER TABLE sessions ADD COLUMN branch_id TEXT;
     ALTER TABLE sessions ADD COLUMN branch_bound INTEGER NOT NULL DEFAULT 0;`,
    `ALTER TABLE sessions ADD COLUMN process INTEGER;
     ALTER TABLE sessions ADD COLUMN one_call INTEGER NOT NULL DEFAULT 0;`,
    "ALTER TABLE sessions ADD COLUMN dialect TEXT;",
  ],
};

/** `locks.db`: file locks. Apart from sessions, because every change of that database empties their cache. */
export const LOCKS_SCHEMA: Schema = {
  applicationId: 0x48_4c_4f_4b,
  migrations: [
    "CREATE TABLE locks (key TEXT PRIMARY KEY, owner TEXT NOT NULL, since_ms INTEGER NOT NULL) STRICT, WITHOUT ROWID;",
  ],
};

/**
 * `violations.db`: the violations of the last minute. Apart from the rest, because every change of that empties its
 * cache.
 */
export const VIOLATIONS_SCHEMA: Schema = {
  applicationId: 0x48_56_49_4f,
  migrations: [
    `CREATE TABLE violations (
       number INTEGER PRIMARY KEY, user_id TEXT NOT NULL, agent_id TEXT NOT NULL, service_root TEXT NOT NULL, at_ms INTEGER NOT NULL) STRICT;
     CREATE INDEX violations_by_principal ON violations (user_id, agent_id, service_root, at_ms);
     CREATE INDEX violations_by_age ON violations (at_ms);`,
  ],
};

/** `dedupe.db`: calls with a dedupe key: claimed by `holder`, or with a kept answer. The largest column stands last. */
export const DEDUPE_SCHEMA: Schema = {
  applicationId: 0x48_44_55_50,
  migrations: [
    `CREATE TABLE calls (
       id INTEGER PRIMARY KEY, session_id TEXT NOT NULL, dedupe_key TEXT NOT NULL, call BLOB NOT NULL, holder TEXT, begun INTEGER NOT NULL,
       at_ms INTEGER NOT NULL, answer TEXT, bytes BLOB, UNIQUE (session_id, dedupe_key)) STRICT;
     CREATE INDEX calls_kept_by_age ON calls (at_ms) WHERE holder IS NULL;
     CREATE INDEX calls_held_by_age ON calls (at_ms) WHERE holder IS NOT NULL;`,
    // What each session takes, so that none takes everything. 512 bytes stand for a row and its indexes.
    `CREATE TABLE taken (session_id TEXT PRIMARY KEY, size INTEGER NOT NULL) STRICT, WITHOUT ROWID;
     INSERT INTO taken SELECT session_id, sum(512 + coalesce(octet_length(answer), 0) + coalesce(octet_length(bytes), 0))
       FROM calls GROUP BY session_id;
     CREATE TRIGGER calls_added AFTER INSERT ON calls BEGIN
       INSERT INTO taken VALUES (NEW.session_id, 512 + coalesce(octet_length(NEW.answer), 0) + coalesce(octet_length(NEW.bytes), 0))
         ON CONFLICT (session_id) DO UPDATE SET size = size + excluded.size;
     END;
     CREATE TRIGGER calls_changed AFTER UPDATE OF answer, bytes ON calls BEGIN
       UPDATE taken SET size = size + coalesce(octet_length(NEW.answer), 0) + coalesce(octet_length(NEW.bytes), 0)
         - coalesce(octet_length(OLD.answer), 0) - coalesce(octet_length(OLD.bytes), 0) WHERE session_id = NEW.session_id;
     END;
     CREATE TRIGGER calls_removed AFTER DELETE ON calls BEGIN
       UPDATE taken SET size = size - 512 - coalesce(octet_length(OLD.answer), 0) - coalesce(octet_length(OLD.bytes), 0)
         WHERE session_id = OLD.session_id;
       DELETE FROM taken WHERE session_id = OLD.session_id AND size <= 0;
     END;`,
  ],
};

/**
 * `content.db`: what is stored, for whom, and what refers to it. Apart from the rest, because uploads come in bursts.
 */
export const CONTENT_SCHEMA: Schema = {
  applicationId: 0x48_43_41_53,
  migrations: [
    `CREATE TABLE objects (
       number INTEGER PRIMARY KEY, hash TEXT NOT NULL UNIQUE, size INTEGER NOT NULL, block_bytes INTEGER NOT NULL, blocks BLOB NOT NULL,
       state TEXT NOT NULL CHECK (state IN ('stored', 'collecting', 'quarantined')),
       created_at_ms INTEGER NOT NULL, touched_at_ms INTEGER NOT NULL) STRICT;
     CREATE INDEX objects_by_age ON objects (touched_at_ms);
     CREATE TABLE holdings (
       hash TEXT NOT NULL, user_id TEXT NOT NULL, workspace TEXT NOT NULL, label TEXT NOT NULL, stored_at_ms INTEGER NOT NULL,
       PRIMARY KEY (hash, user_id, workspace)) STRICT, WITHOUT ROWID;
     CREATE TABLE artifacts (
       workspace TEXT NOT NULL, id TEXT NOT NULL, hash TEXT NOT NULL, category TEXT NOT NULL, metadata TEXT NOT NULL, label TEXT NOT NULL,
       user_id TEXT NOT NULL, agent_id TEXT NOT NULL, session_id TEXT NOT NULL, published_at_ms INTEGER NOT NULL,
       PRIMARY KEY (workspace, id)) STRICT, WITHOUT ROWID;
     CREATE INDEX artifacts_by_hash ON artifacts (hash, workspace, id);
     CREATE TABLE ledger_references (
       hash TEXT NOT NULL, session_id TEXT NOT NULL, request_id TEXT NOT NULL, added_at_ms INTEGER NOT NULL,
       PRIMARY KEY (hash, session_id, request_id)) STRICT, WITHOUT ROWID;
     CREATE TABLE totals (one INTEGER PRIMARY KEY CHECK (one = 1), bytes INTEGER NOT NULL) STRICT;
     INSERT INTO totals VALUES (1, 0);
     CREATE TRIGGER object_added AFTER INSERT ON objects BEGIN UPDATE totals SET bytes = bytes + NEW.size; END;
     CREATE TRIGGER object_removed AFTER DELETE ON objects BEGIN UPDATE totals SET bytes = bytes - OLD.size; END;`,
    // Documents of evidence: a row costs one write where a file costs four.
    `CREATE TABLE documents (number INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT;
     CREATE TRIGGER document_removed AFTER DELETE ON objects BEGIN DELETE FROM documents WHERE number = OLD.number; END;`,
  ],
};

/**
 * `approvals.db`: requests for approval and what became of them. Apart from sessions, because every change of that
 * database empties their cache.
 */
export const APPROVALS_SCHEMA: Schema = {
  applicationId: 0x48_41_50_50,
  migrations: [
    `CREATE TABLE approvals (
       id INTEGER PRIMARY KEY, ref TEXT NOT NULL UNIQUE, call TEXT NOT NULL, binding TEXT NOT NULL,
       state TEXT NOT NULL CHECK (state IN ('pending', 'approved', 'denied', 'expired', 'consumed', 'void')),
       user_id TEXT NOT NULL, agent_id TEXT NOT NULL, service_root TEXT NOT NULL, session_id TEXT NOT NULL, tool TEXT NOT NULL,
       created_at_ms INTEGER NOT NULL, lifetime_ms INTEGER NOT NULL, expires_at_ms INTEGER NOT NULL, session_ends_at_ms INTEGER NOT NULL,
       in_band INTEGER NOT NULL, code TEXT NOT NULL,
       approved INTEGER, decided_at_ms INTEGER, decided_by TEXT, channel TEXT, scope TEXT CHECK (scope IN ('once', 'session', 'until')),
       until_ms INTEGER, reason TEXT, uses INTEGER NOT NULL, used_by TEXT, document TEXT NOT NULL) STRICT;
     CREATE UNIQUE INDEX approvals_live ON approvals (call, binding) WHERE state IN ('pending', 'approved');
     CREATE INDEX approvals_by_call ON approvals (call, id);
     CREATE INDEX approvals_pending ON approvals (user_id, agent_id, service_root, expires_at_ms) WHERE state = 'pending';
     CREATE INDEX approvals_all_pending ON approvals (expires_at_ms) WHERE state = 'pending';
     CREATE INDEX approvals_by_owner ON approvals (user_id, agent_id, service_root, created_at_ms);
     CREATE INDEX approvals_ending ON approvals (expires_at_ms) WHERE state IN ('pending', 'approved');
     CREATE INDEX approvals_over ON approvals (expires_at_ms) WHERE state NOT IN ('pending', 'approved');`,
    "ALTER TABLE approvals ADD COLUMN in_band_answers INTEGER NOT NULL DEFAULT 0;",
    "ALTER TABLE approvals ADD COLUMN recorded INTEGER NOT NULL DEFAULT 1;",
    `ALTER TABLE approvals ADD COLUMN covers TEXT NOT NULL DEFAULT 'call' CHECK (covers IN ('call', 'kind'));
     ALTER TABLE approvals ADD COLUMN kind TEXT NOT NULL DEFAULT '';
     ALTER TABLE approvals ADD COLUMN joined INTEGER NOT NULL DEFAULT 0;
     CREATE INDEX approvals_lasting ON approvals (user_id, agent_id, service_root) WHERE state = 'approved' AND covers = 'kind';
     CREATE INDEX approvals_by_kind ON approvals (kind) WHERE state = 'pending' AND kind <> '';`,
  ],
};

/**
 * `budget.db`: what was spent and reserved, and token buckets. Apart from sessions, because every change of that
 * database empties their cache.
 */
export const BUDGET_SCHEMA: Schema = {
  applicationId: 0x48_42_55_44,
  migrations: [
    `CREATE TABLE accounts (
       key TEXT PRIMARY KEY, began_ms INTEGER NOT NULL, calls INTEGER NOT NULL, duration_ms INTEGER NOT NULL, bytes INTEGER NOT NULL,
       tokens INTEGER NOT NULL, cost_micros INTEGER NOT NULL) STRICT, WITHOUT ROWID;
     CREATE TABLE holds (
       id TEXT NOT NULL, account TEXT NOT NULL, began_ms INTEGER NOT NULL, instance TEXT NOT NULL, session_id TEXT NOT NULL, actor TEXT NOT NULL,
       request_id TEXT NOT NULL, at_ms INTEGER NOT NULL, calls INTEGER NOT NULL, duration_ms INTEGER NOT NULL, bytes INTEGER NOT NULL,
       tokens INTEGER NOT NULL, cost_micros INTEGER NOT NULL, PRIMARY KEY (id, account)) STRICT, WITHOUT ROWID;
     CREATE INDEX holds_by_account ON holds (account, began_ms);
     CREATE INDEX holds_by_instance ON holds (instance, id);
     CREATE TABLE buckets (key TEXT PRIMARY KEY, units INTEGER NOT NULL, at_ms INTEGER NOT NULL, full_ms INTEGER NOT NULL) STRICT, WITHOUT ROWID;
     CREATE INDEX buckets_by_fullness ON buckets (full_ms);
     CREATE TABLE slices (
       key TEXT NOT NULL, instance TEXT NOT NULL, calls INTEGER NOT NULL, until_ms INTEGER NOT NULL,
       PRIMARY KEY (key, instance)) STRICT, WITHOUT ROWID;`,
  ],
};

/**
 * `history.db`: what calls changed in files. Apart from stored content, because every change of a file notes something.
 */
export const HISTORY_SCHEMA: Schema = {
  applicationId: 0x48_48_49_53,
  migrations: [
    // `file` is the absolute path, so that workspaces one within the other have one history.
    `CREATE TABLE entries (
       number INTEGER PRIMARY KEY AUTOINCREMENT, call_id TEXT NOT NULL, session_id TEXT NOT NULL, actor TEXT NOT NULL, role TEXT NOT NULL,
       tool TEXT NOT NULL, root TEXT NOT NULL, at_ms INTEGER NOT NULL, made INTEGER NOT NULL, cut INTEGER NOT NULL) STRICT;
     CREATE INDEX entries_by_call ON entries (call_id, number);
     CREATE INDEX entries_by_age ON entries (at_ms);
     CREATE TABLE changes (
       number INTEGER PRIMARY KEY AUTOINCREMENT, entry INTEGER NOT NULL, file TEXT NOT NULL, before TEXT, after TEXT,
       content TEXT, unkept TEXT) STRICT;
     CREATE INDEX changes_by_entry ON changes (entry, number);
     CREATE INDEX changes_by_file ON changes (file, number);
     CREATE INDEX changes_by_content ON changes (content) WHERE content IS NOT NULL;
     CREATE TABLE contents (content TEXT PRIMARY KEY, bytes INTEGER NOT NULL) STRICT, WITHOUT ROWID;`,
  ],
};

/** `index.db` of a workspace's knowledge: files, their chunks, and the terms that chunks are found by. */
export const KNOWLEDGE_SCHEMA: Schema = {
  applicationId: 0x48_4b_4e_57,
  migrations: [
    `CREATE TABLE files (
       id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, sha256 TEXT NOT NULL, size INTEGER NOT NULL, changed_ms INTEGER NOT NULL) STRICT;
     CREATE TABLE chunks (
       id INTEGER PRIMARY KEY, file INTEGER NOT NULL, first_line INTEGER NOT NULL, last_line INTEGER NOT NULL,
       title TEXT NOT NULL, symbols TEXT NOT NULL) STRICT;
     CREATE INDEX chunks_by_file ON chunks (file);
     CREATE VIRTUAL TABLE terms USING fts5(
       symbols, title, body, content = '', contentless_delete = 1, tokenize = 'porter unicode61 remove_diacritics 0');
     INSERT INTO terms (terms, rank) VALUES ('rank', 'bm25(5.0, 2.0, 1.0)');`,
    `CREATE TABLE vectors (chunk INTEGER PRIMARY KEY, vector BLOB NOT NULL) STRICT;
     CREATE TABLE embedding (model TEXT NOT NULL) STRICT;`,
  ],
};
