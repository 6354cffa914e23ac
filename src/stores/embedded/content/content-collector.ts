/**
 * Collection: removes content that nothing refers to, files that no row names, and uploads that nobody finished.
 *
 * Decides inside transactions that hold the write lock, in two steps: objects are marked as being collected, then those
 * that are still marked are removed. Storing the same content in between takes the mark away. INVARIANT: what an
 * artifact or the ledger refers to, and what is younger than the grace, is never marked. A crash at any point leaves
 * objects that are whole, marked, or gone; the next collection goes on with the marked ones.
 */
import type { Statement } from "better-sqlite3";
import { CONTENT_SCANNED_MAX } from "../../../base/limits.ts";
import type { CollectionReport, ContentMaintenance, LedgerReference } from "../../../cas/content-store.ts";
import { guarded, immediately } from "../state/database.ts";
import { removeIfThere } from "./content-files.ts";
import type { ObjectSource } from "./content-inventory.ts";
import { ContentRows } from "./content-rows.ts";

/** Milliseconds after which the temporary file even of a living kernel counts as abandoned. */
export const CONTENT_TEMPORARY_AGE_MS = 24 * 3_600_000;
/** Objects collected in one transaction: others wait that long to store theirs. */
const CONTENT_COLLECTED_AT_ONCE = 64;

/** What a collector works on. */
export interface CollectorParts extends ObjectSource {
  readonly isInstanceAlive: (id: string) => Promise<boolean>;
  readonly ownInstance: string;
}

const UNREFERENCED = `NOT EXISTS (SELECT 1 FROM artifacts a WHERE a.hash = o.hash)
  AND NOT EXISTS (SELECT 1 FROM ledger_references r WHERE r.hash = o.hash)`;
const COLLECTABLE = `(state = 'collecting' OR o.touched_at_ms <= ?) AND ${UNREFERENCED}`;

interface Candidate {
  readonly number: number;
  readonly hash: string;
  readonly size: number;
}

/** Collects the content of one state directory. */
export class ContentCollector {
  readonly #parts: CollectorParts;
  readonly #rows: ContentRows;
  readonly #candidates: Statement<[number, number], Candidate>;
  readonly #mark: Statement<[string]>;
  readonly #remove: Statement<[string]>;
  readonly #disown: Statement<[string]>;
  readonly #keep: Statement<[string]>;

  constructor(parts: CollectorParts) {
    const { database } = parts;
    this.#parts = parts;
    this.#rows = new ContentRows(database);
    this.#candidates = database.prepare(
      `SELECT number, hash, size FROM objects o WHERE ${COLLECTABLE} AND number > ? ORDER BY number LIMIT ${CONTENT_COLLECTED_AT_ONCE}`,
    );
    this.#mark = database.prepare("UPDATE objects SET state = 'collecting' WHERE hash = ?");
    this.#remove = database.prepare("DELETE FROM objects WHERE hash = ? AND state = 'collecting'");
    this.#keep = database.prepare("UPDATE objects SET state = 'stored' WHERE hash = ? AND state = 'collecting'");
    this.#disown = database.prepare("DELETE FROM holdings WHERE hash = ?");
  }

  /** The collector's part of `ContentMaintenance`. */
  acts(): Pick<ContentMaintenance, "collect" | "rebuildReferences"> {
    return {
      collect: (graceMs, nowMs, dryRun) => this.collect(graceMs, nowMs, dryRun),
      rebuildReferences: (entries, graceMs, nowMs) => this.rebuildReferences(entries, graceMs, nowMs),
    };
  }

  /** Removes what nothing refers to and what was last stored `graceMs` or longer ago; only counts it in a dry run. */
  async collect(graceMs: number, nowMs: number, dryRun: boolean): Promise<CollectionReport> {
    const cutoffMs = Math.floor(nowMs - graceMs);
    let objects = 0;
    let bytes = 0;
    let after = 0;
    for (let seen = 0; seen < CONTENT_SCANNED_MAX; ) {
      await nextTurn();
      const batch = this.#select(cutoffMs, after, dryRun);
      const last = batch.at(-1);
      if (last === undefined) break;
      seen += batch.length;
      after = last.number;
      const removed = dryRun ? batch : this.#removeMarked(batch);
      objects += removed.length;
      for (const { size } of removed) bytes += size;
    }
    const strayFiles = await this.#collectStrays(cutoffMs, dryRun);
    return { objects, bytes, strayFiles, temporaryFiles: await this.#collectTemporaries(nowMs, dryRun) };
  }

  /** The next objects that may go; marked, unless it is a dry run. */
  #select(cutoffMs: number, after: number, dryRun: boolean): readonly Candidate[] {
    return this.#locked(() => {
      const batch = this.#candidates.all(cutoffMs, after);
      if (!dryRun) for (const { hash } of batch) this.#mark.run(hash);
      return batch;
    });
  }

  #removeMarked(batch: readonly Candidate[]): readonly Candidate[] {
    return this.#locked(() =>
      batch.filter(({ hash }) => {
        if (this.#rows.object(hash)?.state !== "collecting") return false; // stored again meanwhile
        this.#parts.files.remove(hash);
        this.#disown.run(hash);
        return this.#remove.run(hash).changes === 1;
      }),
    );
  }

  /** Files that a crash left between their place and their row. */
  async #collectStrays(cutoffMs: number, dryRun: boolean): Promise<number> {
    let strays = 0;
    let scanned = 0;
    for (const { hash, changedAtMs } of this.#parts.files.objects()) {
      scanned += 1;
      if (scanned % CONTENT_COLLECTED_AT_ONCE === 0) await nextTurn();
      if (changedAtMs > cutoffMs || this.#guard(() => this.#rows.object(hash)) !== undefined) continue;
      const isStray = this.#locked(() => {
        // Under the lock: whoever stores it now has not put it in place yet, or has its row.
        if (this.#rows.object(hash) !== undefined) return false;
        if (!dryRun) this.#parts.files.remove(hash);
        return true;
      });
      if (isStray) strays += 1;
    }
    return strays;
  }

  async #collectTemporaries(nowMs: number, dryRun: boolean): Promise<number> {
    const { files, isInstanceAlive, ownInstance } = this.#parts;
    let removed = 0;
    for (const { path, instanceId, changedAtMs } of files.temporaries()) {
      if (instanceId === ownInstance) continue;
      const isOld = nowMs - changedAtMs > CONTENT_TEMPORARY_AGE_MS;
      if (!isOld && (await isInstanceAlive(instanceId).catch(() => true))) continue;
      if (!dryRun) removeIfThere(path);
      removed += 1;
    }
    return removed;
  }

  /** Makes the references those of the ledger; young ones stay, whose entries may still be on their way. */
  async rebuildReferences(
    entries: AsyncIterable<LedgerReference & { readonly hash: string }>,
    graceMs: number,
    nowMs: number,
  ): Promise<{ readonly added: number; readonly removed: number }> {
    const { database } = this.#parts;
    this.#guard(() =>
      database.exec(
        "CREATE TEMP TABLE IF NOT EXISTS found (hash TEXT, session_id TEXT, request_id TEXT); DELETE FROM found",
      ),
    );
    const find = database.prepare("INSERT INTO found VALUES (?, ?, ?)");
    let added = 0;
    for await (const entry of entries) {
      const { hash, sessionId, requestId } = entry;
      this.#guard(() => find.run(hash, sessionId, requestId));
      if (this.#locked(() => this.#refer(hash, entry, nowMs))) added += 1;
    }
    const forget = database.prepare<[number]>(
      `DELETE FROM ledger_references WHERE added_at_ms <= ? AND (hash, session_id, request_id) NOT IN (SELECT hash, session_id, request_id FROM found)`,
    );
    const removed = this.#guard(() => forget.run(Math.floor(nowMs - graceMs)).changes);
    this.#guard(() => database.exec("DROP TABLE temp.found"));
    return { added, removed };
  }

  /** Adds a reference to an object, and takes away the mark of a collection that has not reached it. */
  #refer(hash: string, reference: LedgerReference, nowMs: number): boolean {
    if (this.#rows.object(hash) === undefined) return false; // there is nothing to keep
    this.#keep.run(hash);
    return this.#rows.putReference(hash, reference, nowMs);
  }

  #locked<T>(work: () => T): T {
    return this.#guard(() => immediately(this.#parts.database, work));
  }

  #guard<T>(work: () => T): T {
    return guarded(this.#parts.path, "STORE_UNAVAILABLE", work);
  }
}

/** Lets others have the thread, and the write lock. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
