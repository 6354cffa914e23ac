/**
 * The write-ahead log of a ledger that is written: its sums are checked before it is written back.
 *
 * SQLite would write back whatever stands in the log, damaged or not, once it is long and when the last connection
 * closes. Here it does neither by itself. The keeper is a second connection, which cannot write: while it is open, no
 * other connection is the last one.
 *
 * INVARIANT: a log whose committed frames are not what was written to it is not written back by this process.
 */
import { closeSync } from "node:fs";
import Sqlite, { type Database } from "better-sqlite3";
import { assert } from "../../../base/errors.ts";
import { LogFrames, openLog, requireSound } from "./sound-log.ts";

/** Frames after which it is written back; as many as SQLite lets it have. */
const FRAMES_MAX = 1_000;

/** The log of one open database. */
export class CheckedLog {
  readonly #database: Database;
  readonly #keeper: Database;
  readonly #frames: LogFrames;
  /** What SQLite has open, also after it was removed from its place. */
  readonly #file: number;
  /** At how many frames it is written back; more than usual while readers need them. */
  #dueAt = FRAMES_MAX;

  /** @param database was opened for writing, from `path` */
  constructor(database: Database, path: string) {
    database.pragma("wal_autocheckpoint = 0");
    this.#database = database;
    this.#frames = new LogFrames(database);
    this.#keeper = new Sqlite(path, { readonly: true, fileMustExist: true });
    this.#keeper.pragma("user_version"); // only a connection that has read counts
    const file = openLog(path);
    assert(file !== undefined, "a database that is written has a log");
    this.#file = file;
  }

  /** Writes a long log back. @throws KernelError STORE_CORRUPT when it is not what was written to it */
  writeBack(): void {
    const frames = this.#frames.count();
    if (frames < FRAMES_MAX) this.#dueAt = FRAMES_MAX;
    if (frames < this.#dueAt) return;
    this.#require();
    this.#database.pragma("wal_checkpoint(PASSIVE)");
    this.#dueAt = frames + FRAMES_MAX;
  }

  /** Closes the database and writes its log back. @throws KernelError STORE_CORRUPT when that is damaged: it stays */
  close(): void {
    if (!this.#database.open) return;
    try {
      this.#require();
    } catch (error) {
      this.leave();
      throw error;
    }
    this.#keeper.close();
    this.#database.close();
    closeSync(this.#file);
  }

  /** Closes the database and leaves its files as they are. */
  leave(): void {
    if (!this.#database.open) return;
    this.#database.close();
    this.#keeper.close();
    closeSync(this.#file);
  }

  #require(): void {
    requireSound(this.#frames, () => this.#file);
  }
}
