/**
 * Opens a SQLite database of the state directory: write-ahead log, versioned schema, errors in the kernel's words.
 *
 * INVARIANT: a database is never deleted, repaired or moved here; a damaged or newer one is refused as it is.
 */
import { basename } from "node:path";
import Sqlite, { type Database } from "better-sqlite3";
import { assert, errorCode, KernelError, type KernelErrorCode, storeCorrupt } from "../../../base/errors.ts";
import { identityAt, OpenedFiles } from "./opened-files.ts";
import { prepareFile } from "./state-directory.ts";

/** Milliseconds to wait for another process's write transaction. */
const STORE_BUSY_MS = 10_000;
/**
 * Milliseconds between two tries to get another process's write lock: SQLite's own back-off grows, and starves waiters.
 */
const STORE_BUSY_POLL_MS = 2;

/** How a database is laid out: one SQL text per schema version, run in order from the version found. */
export interface Schema {
  /** Marks the file as ours: SQLite's application id. */
  readonly applicationId: number;
  readonly migrations: readonly string[];
}

/** Which code an operational failure of this database carries. */
export type UnavailableCode = Extract<KernelErrorCode, "STORE_UNAVAILABLE" | "LEDGER_UNAVAILABLE">;

/** The files of each database that is open for writing. */
const files = new WeakMap<Database, OpenedFiles>();

/** Opens for writing, making or migrating the database where needed. Commits are fsynced unless changed. */
export async function openDatabase(path: string, schema: Schema, code: UnavailableCode): Promise<Database> {
  await prepareFile(path);
  const before = identityAt(path);
  return opened(path, code, () => {
    const database = new Sqlite(path, { timeout: STORE_BUSY_MS });
    return closedOnError(database, () => {
      database.pragma("journal_mode = WAL");
      database.pragma("synchronous = FULL");
      database.pragma("foreign_keys = ON");
      database.pragma("trusted_schema = OFF");
      migrate(database, schema, code);
      files.set(database, new OpenedFiles(path, code));
      if (filesOf(database).identity !== before)
        throw new KernelError(code, `${name(path)} was replaced while it was opened; try again`);
      database.pragma(`busy_timeout = ${STORE_BUSY_POLL_MS}`);
    });
  });
}

/** Opens an existing database for reading. */
export function openDatabaseReadOnly(path: string, schema: Schema, code: UnavailableCode): Database {
  return opened(path, code, () => {
    const database = new Sqlite(path, { timeout: STORE_BUSY_MS, readonly: true, fileMustExist: true });
    return closedOnError(database, () => {
      const version = checkedVersion(database, schema, code);
      if (version === 0)
        throw new KernelError(
          code,
          `${name(path)} holds nothing of handrail's: it was damaged or cut, or its first kernel ended before it was made; nothing was deleted: if it held anything, stop every kernel, keep a copy of the state directory, then restore a backup`,
        );
      if (version < schema.migrations.length)
        throw new KernelError(code, `${name(path)} was made by an older handrail; start a kernel once to migrate it`);
    });
  });
}

/**
 * Runs `work` on a database, turning what SQLite throws into a `KernelError`. While another process holds the lock,
 * `work` is run again, up to the limit: it must be one statement or one transaction, so that a busy try did nothing.
 */
export function guarded<T>(path: string, code: UnavailableCode, work: () => T): T {
  const start = performance.now();
  for (;;) {
    try {
      return work();
    } catch (error) {
      // SQLite slept before it gave up, so that this does not spin.
      if (errorCode(error) === "SQLITE_BUSY" && performance.now() - start < STORE_BUSY_MS) continue;
      throw storeError(path, code, error);
    }
  }
}

/** Waits with the thread until `isSo`, for what others do in a moment. @returns `false` when that takes too long */
export function standsUntil(isSo: () => boolean): boolean {
  const start = performance.now();
  const nothing = new Int32Array(new SharedArrayBuffer(4));
  while (!isSo()) {
    if (performance.now() - start > STORE_BUSY_MS) return false;
    Atomics.wait(nothing, 0, 0, STORE_BUSY_POLL_MS);
  }
  return true;
}

/** The files of a database that was opened for writing. */
export function filesOf(database: Database): OpenedFiles {
  const opened = files.get(database);
  assert(opened !== undefined, "a database that is written was opened for writing");
  return opened;
}

/**
 * Runs `work` in a transaction that holds the write lock from its start, on files that stand where they were opened.
 */
export function immediately<T>(database: Database, work: () => T): T {
  files.get(database)?.checkDatabase();
  database.exec("BEGIN IMMEDIATE");
  try {
    const result = work();
    database.exec("COMMIT");
    return result;
  } catch (error) {
    if (database.inTransaction) database.exec("ROLLBACK");
    throw error;
  }
}

function storeError(path: string, code: UnavailableCode, error: unknown): unknown {
  if (!(error instanceof Sqlite.SqliteError)) return error;
  const sqlite = errorCode(error);
  if (sqlite.startsWith("SQLITE_CORRUPT") || sqlite === "SQLITE_NOTADB") {
    const advice = "nothing was deleted: stop every kernel, keep a copy of the state directory, then restore a backup";
    return storeCorrupt(`${name(path)} is damaged (${sqlite}); ${advice}`, error);
  }
  return new KernelError(code, `${name(path)} cannot be used (${sqlite}); ${adviceFor(sqlite)}`, error);
}

function adviceFor(sqlite: string): string {
  if (sqlite === "SQLITE_FULL") return "make room on its disk";
  if (sqlite.startsWith("SQLITE_BUSY")) return "another process holds it; try again";
  if (sqlite === "SQLITE_CANTOPEN") return "check that it exists and belongs to you";
  return "check the disk and the permissions of the state directory";
}

function opened(path: string, code: UnavailableCode, open: () => Database): Database {
  return guarded(path, code, open);
}

function closedOnError(database: Database, work: () => void): Database {
  try {
    work();
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function migrate(database: Database, schema: Schema, code: UnavailableCode): void {
  if (checkedVersion(database, schema, code) === schema.migrations.length) return;
  immediately(database, () => {
    // Several kernels may start at once: the version is read again under the write lock.
    const version = checkedVersion(database, schema, code);
    if (version === 0 && isForeign(database))
      throw new KernelError(code, `${name(database.name)} is not a database of handrail; use another state directory`);
    for (const migration of schema.migrations.slice(version)) database.exec(migration);
    database.pragma(`application_id = ${schema.applicationId}`);
    database.pragma(`user_version = ${schema.migrations.length}`);
  });
}

function checkedVersion(database: Database, schema: Schema, code: UnavailableCode): number {
  const version = Number(database.pragma("user_version", { simple: true }));
  const application = Number(database.pragma("application_id", { simple: true }));
  if (version > 0 && application !== schema.applicationId)
    throw new KernelError(code, `${name(database.name)} is not a database of handrail; use another state directory`);
  if (version > schema.migrations.length)
    throw new KernelError(
      code,
      `${name(database.name)} was made by a newer handrail; upgrade handrail, or use another state directory`,
    );
  return version;
}

/**
 * Whether a database without a version of ours is somebody else's: ours has its tables and its mark with the version.
 */
function isForeign(database: Database): boolean {
  const tables = database.prepare<[], number>("SELECT count(*) FROM sqlite_schema").pluck().get();
  return tables !== 0 || Number(database.pragma("application_id", { simple: true })) !== 0;
}

/** The file's name alone: the message may reach a peer, who need not know where the state directory is. */
function name(path: string): string {
  return `\`${basename(path)}\` in the state directory`;
}
