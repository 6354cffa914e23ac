/**
 * Provides what stores share that have a database of their own: opening, transactions and closing.
 *
 * INVARIANT: what the machine refuses is a `KernelError`, STORE_UNAVAILABLE or STORE_CORRUPT.
 */
import { join } from "node:path";
import type { Database } from "better-sqlite3";
import { guarded, immediately, openDatabase, type Schema } from "./database.ts";
import { LogSync } from "./log-sync.ts";
import { prepareStateDirectory } from "./state-directory.ts";

/** Which database of a state directory. */
export interface DatabasePlace {
  readonly stateDirectory: string;
  readonly file: string;
  readonly schema: Schema;
}

/** A database that is open, and where it lies. */
export interface OpenedDatabase {
  readonly database: Database;
  readonly path: string;
}

/** A database whose commits can be made durable one by one. */
export interface SyncedDatabase extends OpenedDatabase {
  readonly log: LogSync;
}

/**
 * Opens a database whose commits survive a killed process, and are not fsynced, as what `work` makes of it; closes it
 * when that fails.
 */
export async function withRelaxed<T>(
  { stateDirectory, file, schema }: DatabasePlace,
  work: (opened: OpenedDatabase) => T | Promise<T>,
): Promise<T> {
  await prepareStateDirectory(stateDirectory);
  const path = join(stateDirectory, file);
  const database = await openDatabase(path, schema, "STORE_UNAVAILABLE");
  try {
    guarded(path, "STORE_UNAVAILABLE", () => database.pragma("synchronous = NORMAL"));
    return await work({ database, path });
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Opens a database as `withRelaxed` does, with the log by which its commits are made durable where it matters. */
export function withSynced<T>(place: DatabasePlace, work: (opened: SyncedDatabase) => T): Promise<T> {
  return withRelaxed(place, async (opened) => {
    // The log exists from the first read on.
    guarded(opened.path, "STORE_UNAVAILABLE", () =>
      opened.database.prepare("SELECT count(*) FROM sqlite_schema").get(),
    );
    return work({ ...opened, log: await LogSync.open(opened.path) });
  });
}

/** What is opened at its first use. */
export interface Lazy<T> {
  /** Opens it if nobody has; after a failure the next use tries again. */
  readonly open: () => Promise<T>;
  /** What was opened, or is being opened; absent before the first use. */
  readonly opened: () => Promise<T> | undefined;
}

/** Opens at the first use, once for all. */
export function lazily<T>(start: () => Promise<T>): Lazy<T> {
  let opening: Promise<T> | undefined;
  return {
    open() {
      opening ??= start().catch((error: unknown) => {
        opening = undefined; // what kept it from opening may be gone the next time
        throw error;
      });
      return opening;
    },
    opened: () => opening,
  };
}

/** A store on an open database. */
export abstract class EmbeddedStore {
  protected readonly database: Database;
  readonly #path: string;

  constructor({ database, path }: OpenedDatabase) {
    this.database = database;
    this.#path = path;
  }

  /** Closes the database. */
  async close(): Promise<void> {
    this.guarded(() => this.database.close());
  }

  /** Runs `work` in one transaction that holds the write lock from its start. */
  protected transaction<T>(work: () => T): T {
    return this.guarded(() => immediately(this.database, work));
  }

  /** Runs `work` on the database. @throws KernelError STORE_UNAVAILABLE or STORE_CORRUPT */
  protected guarded<T>(work: () => T): T {
    return guarded(this.#path, "STORE_UNAVAILABLE", work);
  }
}

/** A store whose commits become durable when it waits for them; closing it closes the log and the database. */
export abstract class SyncedStore extends EmbeddedStore {
  protected readonly log: LogSync;

  constructor({ log, ...opened }: SyncedDatabase) {
    super(opened);
    this.log = log;
  }

  override async close(): Promise<void> {
    await this.log.close();
    await super.close();
  }
}
