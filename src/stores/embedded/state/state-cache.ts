/**
 * Rows of `state.db` kept in memory until the database changes.
 *
 * SQLite's `data_version` says whether another connection, of this or any other process, committed since. INVARIANT: a
 * cached row is used only after asking in the same turn of the event loop. INVARIANT: it is not used for longer than a
 * pause when the files of the database were removed or replaced: what others freeze or revoke then stands elsewhere.
 */
import type { Database, Statement } from "better-sqlite3";

import { currentTurn } from "../../../base/turn.ts";
import { filesOf } from "./database.ts";
import type { OpenedFiles } from "./opened-files.ts";

/** Sessions and leases kept in memory between two changes of the store; the oldest go first. */
const STORE_CACHE_ENTRIES_MAX = 4096;
/** Milliseconds between two looks whether the sessions and freezes that are read still stand in the state directory. */
const STORE_LOOK_MS = 100;

/** Says when what was read of one connection's database may be out of date. */
export class StateFreshness {
  readonly #files: OpenedFiles;
  #lookedAtMs = -Infinity;
  readonly #dataVersion: Statement<[], number>;
  #seenVersion: number | undefined;
  #askedInTurn = -1;
  /** Changes when everything that was read before must be read again. */
  #generation = 0;

  constructor(database: Database) {
    this.#files = filesOf(database);
    this.#dataVersion = database.prepare<[], number>("PRAGMA data_version").pluck();
  }

  /** Asks once in a turn of the event loop, because asking takes a read lock: several microseconds. */
  generation(): number {
    const turn = currentTurn();
    if (turn === this.#askedInTurn) return this.#generation;
    this.#look();
    this.#askedInTurn = turn;
    const version = this.#dataVersion.get();
    if (version !== this.#seenVersion) this.#generation += 1;
    this.#seenVersion = version;
    return this.#generation;
  }

  /** Looking costs more than asking, and a file that is gone does not come back. */
  #look(): void {
    const nowMs = performance.now();
    if (nowMs - this.#lookedAtMs < STORE_LOOK_MS) return;
    this.#files.checkNames();
    this.#lookedAtMs = nowMs;
  }
}

/** Values by key, as long as the database has not changed; bounded, the oldest go first. */
export class RowCache<Value> {
  readonly #freshness: StateFreshness;
  readonly #values = new Map<string, Value>();
  #generation = -1;

  constructor(freshness: StateFreshness) {
    this.#freshness = freshness;
  }

  /** What is known of `key`; `undefined` when it must be read. */
  get(key: string): Value | undefined {
    const generation = this.#freshness.generation();
    if (generation !== this.#generation) {
      this.#values.clear();
      this.#generation = generation;
    }
    return this.#values.get(key);
  }

  /** Keeps what was read after `get` found nothing. */
  set(key: string, value: Value): void {
    const oldest = this.#values.size >= STORE_CACHE_ENTRIES_MAX ? this.#values.keys().next().value : undefined;
    if (oldest !== undefined) this.#values.delete(oldest);
    this.#values.set(key, value);
  }

  /** Forgets `key`: the connection's own commits leave `data_version` as it is. */
  delete(key: string): void {
    this.#values.delete(key);
  }

  /** Forgets everything, for a change that concerns more than one key. */
  clear(): void {
    this.#values.clear();
  }
}
