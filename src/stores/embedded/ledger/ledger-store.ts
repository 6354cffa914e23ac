/**
 * The ledger in SQLite.
 *
 * Several processes append to one file: the write transaction starts with the write lock, then reads the head.
 * Durable appends commit with `synchronous=FULL`, which fsyncs the write-ahead log, and with it everything that was
 * committed before; buffered ones commit with `NORMAL`, which leaves the log in the page cache: safe from the death of
 * the process, not of the machine. `sync` commits a small change with `FULL`.
 *
 * INVARIANT: what is acknowledged was committed to the files that stand at their paths, after the head that this store
 * saw last.
 *
 * INVARIANT: the head row, the last entry, the open intents and the marks of spools change in the same transaction as
 * the entries.
 */
import { statSync } from "node:fs";
import { join } from "node:path";
import type { Database } from "better-sqlite3";
import { assert, type KernelError, ledgerUnavailable, storeCorrupt } from "../../../base/errors.ts";
import { HASH_SIZE, LEDGER_PROBLEMS_MAX, LEDGER_READ_ROWS_MAX } from "../../../base/limits.ts";
import type {
  AppendRequest,
  AppendView,
  Head,
  LedgerPlace,
  LedgerRow,
  LedgerStore,
  OpenIntentRow,
  SpoolMark,
  StoredEntry,
} from "../../../ledger/ledger-store.ts";
import type { Durability } from "../../../model/outcome/event.ts";
import { filesOf, guarded, immediately, openDatabase, openDatabaseReadOnly } from "../state/database.ts";
import { identityAt } from "../state/opened-files.ts";
import { LEDGER_SCHEMA } from "../state/schema.ts";
import { checkStateDirectory, prepareStateDirectory } from "../state/state-directory.ts";
import { CheckedLog } from "./checked-log.ts";
import { requireSoundAt } from "./sound-log.ts";

/** Kibibytes of pages that the ledger's writer keeps: it appends, and reads no page twice but the last ones. */
const LEDGER_CACHE_KIB = 1024;
/** Frames of a log that a look checks, some 8 MiB; it is written back long before it has as many. */
const LOOKED_AT_FRAMES_MAX = 2_048;

/**
 * Opens the ledger of a state directory for writing; refuses one whose tail does not agree with its head.
 * @param known where it stood before: another file, or one that does not hold that head, is refused, and none is made
 */
export async function openLedgerStore(stateDirectory: string, known?: LedgerPlace): Promise<LedgerStore> {
  const path = join(stateDirectory, "ledger.db");
  if (known !== undefined && identityAt(path) !== known.file) throw lostLedger();
  await prepareStateDirectory(stateDirectory);
  const database = await openDatabase(path, LEDGER_SCHEMA, "LEDGER_UNAVAILABLE");
  let log: CheckedLog | undefined;
  try {
    log = guarded(path, "LEDGER_UNAVAILABLE", () => new CheckedLog(database, path));
    guarded(path, "LEDGER_UNAVAILABLE", () => {
      database.pragma(`cache_size = -${LEDGER_CACHE_KIB}`);
      if (known !== undefined && statSync(path).size < known.bytes) requireWhole(database);
      checkTail(database);
    });
    const store = new EmbeddedLedgerStore(database, path, log);
    if (known !== undefined) store.continueAfter(known.head);
    return store;
  } catch (error) {
    if (log === undefined) database.close();
    else log.leave(); // what is left of a damaged ledger is evidence
    throw error;
  }
}

/** Opens the ledger of a state directory for reading; kernels may append meanwhile. */
export async function openLedgerStoreReadOnly(stateDirectory: string): Promise<LedgerStore> {
  await checkStateDirectory(stateDirectory);
  const path = join(stateDirectory, "ledger.db");
  return new EmbeddedLedgerStore(openDatabaseReadOnly(path, LEDGER_SCHEMA, "LEDGER_UNAVAILABLE"), path);
}

/**
 * Opens it for reading once its log was found to be what was written to it.
 * @throws KernelError STORE_CORRUPT when it is not
 */
export async function openSoundLedgerStore(stateDirectory: string): Promise<LedgerStore> {
  await checkStateDirectory(stateDirectory);
  const path = join(stateDirectory, "ledger.db");
  const database = openDatabaseReadOnly(path, LEDGER_SCHEMA, "LEDGER_UNAVAILABLE");
  try {
    guarded(path, "LEDGER_UNAVAILABLE", () => requireSoundAt(database, path, LOOKED_AT_FRAMES_MAX));
    return new EmbeddedLedgerStore(database, path);
  } catch (error) {
    database.close();
    throw error;
  }
}

/**
 * A file that is shorter than it was has been compacted or cut: of a cut one the log may still hold the newest pages.
 */
function requireWhole(database: Database): void {
  const said = database.pragma("quick_check(1)", { simple: true });
  if (said !== "ok") throw storeCorrupt(`\`ledger.db\` was cut or damaged while it was open: ${String(said)}`);
}

interface HeadRow {
  readonly seq: number;
  readonly hash: Uint8Array;
}
interface EntryRow extends HeadRow {
  readonly entry: Uint8Array;
  readonly salt: Uint8Array | null;
  readonly payload: Uint8Array | null;
}
interface SpoolRow {
  readonly instance_id: string;
  readonly through: number;
}
interface IntentRow {
  readonly seq: number;
  readonly instance_id: string;
}

/** Rows that one statement takes: each statement that is run costs as much as several rows. */
const ROWS = 16;
const TRIPLES = new Array<string>(ROWS).fill("(?, ?, ?)").join(", ");

const SELECT_HEAD = "SELECT seq, hash FROM head WHERE one = 1";

class EmbeddedLedgerStore implements LedgerStore {
  private readonly database: Database;
  private readonly path: string;
  /** Absent where nothing is written. */
  private readonly log: CheckedLog | undefined;
  private readonly statements: Statements;
  private synchronous: "FULL" | "NORMAL" = "FULL";
  /** The last head that this connection saw committed; absent until it was asked for. */
  private known: Head | undefined;

  constructor(database: Database, path: string, log?: CheckedLog) {
    this.database = database;
    this.path = path;
    this.log = log;
    this.statements = prepareStatements(database);
  }

  async append(request: AppendRequest): Promise<Head> {
    return this.guarded(() => {
      this.log?.writeBack();
      this.promise(request.durability);
      const head = immediately(this.database, () => this.write(request));
      filesOf(this.database).check();
      this.known = head;
      return head;
    });
  }

  /** @throws KernelError STORE_CORRUPT when `head` does not stand in the ledger */
  continueAfter(head: Head): void {
    this.guarded(() => this.requireHead(head, this.readHead()));
    this.known = head;
  }

  place(): LedgerPlace {
    this.known ??= this.guarded(() => this.readHead());
    const { identity, bytes, changedNs } = filesOf(this.database);
    return { file: identity, bytes, changedNs, head: this.known };
  }

  inPlace(): boolean {
    return this.guarded(() => filesOf(this.database).inPlace());
  }

  changedNs(): bigint {
    return filesOf(this.database).changedNs;
  }

  async anchored(): Promise<boolean> {
    return (
      this.guarded(() =>
        this.database.prepare<[], number>("SELECT anchored FROM syncs WHERE one = 1").pluck().get(),
      ) === 1
    );
  }

  async markAnchored(): Promise<void> {
    this.guarded(() => {
      this.promise("durable");
      this.database.exec("UPDATE syncs SET anchored = 1");
    });
  }

  async sync(): Promise<void> {
    this.guarded(() => {
      this.promise("durable");
      // A commit without a changed page would not sync anything, so that a counter changes.
      this.database.exec("UPDATE syncs SET count = count + 1");
      filesOf(this.database).check();
    });
  }

  async head(): Promise<Head> {
    return this.guarded(() => this.readHead());
  }

  async read(from: number, limit: number): Promise<readonly LedgerRow[]> {
    const bounded = Math.min(limit, LEDGER_READ_ROWS_MAX);
    return this.guarded(() => this.statements.read.all(from, bounded)).map(({ seq, entry, hash, salt, payload }) => ({
      sequence: seq,
      entry,
      hash,
      ...(salt === null ? {} : { salt }),
      ...(payload === null ? {} : { payload }),
    }));
  }

  async openIntents(limit: number): Promise<readonly OpenIntentRow[]> {
    return this.guarded(() => this.statements.intents.all(limit)).map((row) => ({
      sequence: row.seq,
      instanceId: row.instance_id,
    }));
  }

  async spools(limit: number): Promise<readonly SpoolMark[]> {
    return this.guarded(() => this.statements.spools.all(limit)).map((row) => ({
      instanceId: row.instance_id,
      through: row.through,
    }));
  }

  async forgetSpool(instanceId: string): Promise<void> {
    this.guarded(() => {
      this.promise("durable");
      this.statements.forgetSpool.run(instanceId);
    });
  }

  async prunePayloads(throughSequence: number): Promise<number> {
    return this.guarded(() => {
      this.promise("durable");
      return this.database.prepare("DELETE FROM payloads WHERE seq <= ?").run(throughSequence).changes;
    });
  }

  async strayPayloads(limit: number): Promise<readonly number[]> {
    const sql =
      "SELECT p.seq FROM payloads p LEFT JOIN entries e ON e.seq = p.seq WHERE e.seq IS NULL ORDER BY p.seq LIMIT ?";
    return this.guarded(() => this.database.prepare<[number], number>(sql).pluck().all(limit));
  }

  async integrity(): Promise<readonly string[]> {
    const rows = this.guarded(() =>
      this.database.prepare<[], string>(`PRAGMA integrity_check(${LEDGER_PROBLEMS_MAX})`).pluck().all(),
    );
    return rows.filter((row) => row !== "ok");
  }

  async close(): Promise<void> {
    this.guarded(() => (this.log ?? this.database).close());
  }

  async leave(): Promise<void> {
    this.guarded(() => (this.log === undefined ? this.database.close() : this.log.leave()));
  }

  private write({ build, closes, spooled }: AppendRequest): Head {
    const head = this.readHead();
    if (this.known !== undefined) this.requireHead(this.known, head);
    const announced = new Set(closes);
    const view: AppendView = {
      head,
      isOpen: (sequence) => {
        assert(announced.has(sequence), "an append announces the intents that it may close");
        return this.statements.isOpen.get(sequence) !== undefined;
      },
      spooledThrough: (instanceId) => this.statements.spool.get(instanceId)?.through ?? 0,
    };
    const entries = build(view);
    entries.forEach((entry, index) => {
      assert(
        entry.sequence === head.sequence + 1 + index && entry.hash.byteLength === HASH_SIZE,
        "appended entries follow the head",
      );
    });
    this.insert(entries);
    if (spooled !== undefined) this.statements.setSpool.run(spooled.instanceId, spooled.through);
    const last = entries.at(-1);
    if (last === undefined) return head;
    this.statements.setHead.run(last.sequence, last.hash);
    return { sequence: last.sequence, hash: last.hash };
  }

  private insert(entries: readonly StoredEntry[]): void {
    const { insertEntries, insertPayloads, insertEntry, insertPayload } = this.statements;
    let at = 0;
    for (; at + ROWS <= entries.length; at += ROWS) {
      const [rows, payloadRows]: [(number | Uint8Array)[], (number | Uint8Array)[]] = [[], []];
      for (const { sequence, entry, hash, salt, payload } of entries.slice(at, at + ROWS)) {
        rows.push(sequence, entry, hash);
        payloadRows.push(sequence, salt, payload);
      }
      insertEntries.run(rows);
      insertPayloads.run(payloadRows);
    }
    for (const { sequence, entry, hash, salt, payload } of entries.slice(at)) {
      insertEntry.run(sequence, entry, hash);
      insertPayload.run(sequence, salt, payload);
    }
    for (const { sequence, opensFor, closes } of entries) {
      if (opensFor !== undefined) this.statements.openIntent.run(sequence, opensFor);
      if (closes !== undefined)
        assert(this.statements.closeIntent.run(closes).changes === 1, "an entry closes an open intent");
    }
  }

  /** The chain only grows: whatever other kernels appended, the head that was seen is still an entry of it. */
  private requireHead({ sequence, hash }: Head, now: Head): void {
    const stands = now.sequence === sequence ? now.hash : this.statements.hash.get(sequence)?.hash;
    if (sequence === 0 || (stands !== undefined && Buffer.from(stands).equals(hash))) return;
    throw lostLedger();
  }

  private readHead(): Head {
    const row = this.statements.head.get();
    if (row === undefined)
      throw storeCorrupt("`ledger.db` in the state directory has lost its head; run `handrail ledger verify`");
    return { sequence: row.seq, hash: row.hash };
  }

  /** The pragma takes effect at once; it is sent only when it changes. */
  private promise(durability: Durability): void {
    const wanted = durability === "durable" ? "FULL" : "NORMAL";
    if (this.synchronous === wanted) return;
    this.database.pragma(`synchronous = ${wanted}`);
    this.synchronous = wanted;
  }

  private guarded<T>(work: () => T): T {
    return guarded(this.path, "LEDGER_UNAVAILABLE", work);
  }
}

type Statements = ReturnType<typeof prepareStatements>;

function prepareStatements(database: Database) {
  return {
    head: database.prepare<[], HeadRow>(SELECT_HEAD),
    setHead: database.prepare<[number, Uint8Array]>("UPDATE head SET seq = ?, hash = ? WHERE one = 1"),
    insertEntry: database.prepare<[number, Uint8Array, Uint8Array]>("INSERT INTO entries VALUES (?, ?, ?)"),
    // A payload without an entry is no evidence: whoever put it there must not stop the entry that gets its sequence.
    insertPayload: database.prepare<[number, Uint8Array, Uint8Array]>(
      "INSERT OR REPLACE INTO payloads VALUES (?, ?, ?)",
    ),
    insertEntries: database.prepare<[readonly (number | Uint8Array)[]]>(`INSERT INTO entries VALUES ${TRIPLES}`),
    insertPayloads: database.prepare<[readonly (number | Uint8Array)[]]>(
      `INSERT OR REPLACE INTO payloads VALUES ${TRIPLES}`,
    ),
    openIntent: database.prepare<[number, string]>("INSERT INTO open_intents VALUES (?, ?)"),
    closeIntent: database.prepare<[number]>("DELETE FROM open_intents WHERE seq = ?"),
    isOpen: database.prepare<[number], IntentRow>("SELECT seq FROM open_intents WHERE seq = ?"),
    read: database.prepare<[number, number], EntryRow>(
      "SELECT e.seq, e.entry, e.hash, p.salt, p.payload FROM entries e LEFT JOIN payloads p ON p.seq = e.seq WHERE e.seq >= ? ORDER BY e.seq LIMIT ?",
    ),
    hash: database.prepare<[number], Pick<HeadRow, "hash">>("SELECT hash FROM entries WHERE seq = ?"),
    intents: database.prepare<[number], IntentRow>("SELECT seq, instance_id FROM open_intents ORDER BY seq LIMIT ?"),
    spool: database.prepare<[string], SpoolRow>("SELECT instance_id, through FROM spools WHERE instance_id = ?"),
    setSpool: database.prepare<[string, number]>(
      "INSERT INTO spools VALUES (?, ?) ON CONFLICT (instance_id) DO UPDATE SET through = max(through, excluded.through)",
    ),
    spools: database.prepare<[number], SpoolRow>(
      "SELECT instance_id, through FROM spools ORDER BY instance_id LIMIT ?",
    ),
    forgetSpool: database.prepare<[string]>("DELETE FROM spools WHERE instance_id = ?"),
  };
}

function lostLedger(): KernelError {
  const what = "`ledger.db` in the state directory is not the ledger that this kernel wrote to";
  return ledgerUnavailable(`${what}; stop every kernel, put the file back, then run \`handrail ledger verify\``);
}

/** A ledger whose tail was cut must not be continued: later entries would hide where. */
function checkTail(database: Database): void {
  const { head, last } = database.transaction(() => ({
    head: database.prepare<[], HeadRow>(SELECT_HEAD).get(),
    last: database.prepare<[], HeadRow>("SELECT seq, hash FROM entries ORDER BY seq DESC LIMIT 1").get(),
  }))();
  const sound =
    head !== undefined &&
    head.seq === (last?.seq ?? 0) &&
    (last === undefined || Buffer.from(last.hash).equals(head.hash));
  if (sound) return;
  throw storeCorrupt(
    "the head of `ledger.db` in the state directory is not its last entry; run `handrail ledger verify`, then restore a backup",
  );
}
