/**
 * Keeps documents of evidence in rows of `content.db`, with one write for all documents of a call.
 *
 * The commit is not fsynced by itself: the database's log is, by a request beside the thread, which the documents of
 * several calls share. So a document becomes durable while the ledger does the same for its own entry.
 *
 * INVARIANT: `keep` returns once the documents survive a killed process; `sync` resolves once they survive a power
 * failure. INVARIANT: after a failed fsync nothing is kept any more, because the next one can succeed falsely.
 */
import { close, constants, fdatasync, openSync } from "node:fs";
import { promisify } from "node:util";
import type { Database } from "better-sqlite3";
import { BlockHasher, type ContentDigest } from "../../../base/block-hashes.ts";
import { errorCode, storeUnavailable } from "../../../base/errors.ts";
import { CONTENT_BLOCK_BYTES } from "../../../base/limits.ts";
import type { EvidenceDocument, LedgerReference } from "../../../cas/content-store.ts";
import { guarded, immediately } from "../state/database.ts";
import type { ContentRows } from "./content-rows.ts";

const syncAsync = promisify(fdatasync);
const closeAsync = promisify(close);

/** What a keeper works on. */
export interface DocumentKeeperParts {
  readonly database: Database;
  /** Of the database. */
  readonly path: string;
  readonly rows: ContentRows;
  /** Bytes of all objects beyond which nothing is kept. */
  readonly bytesMax: number;
}

/** Keeps the documents of one kernel. */
export class DocumentKeeper {
  readonly #parts: DocumentKeeperParts;
  #log: number | undefined;
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;
  #failed: unknown;
  /** Whether something was kept since the last request for an fsync. */
  #isUnsynced = false;
  #closed = false;

  constructor(parts: DocumentKeeperParts) {
    this.#parts = parts;
  }

  /** Writes all documents, or none. @throws KernelError STORE_UNAVAILABLE */
  keep(documents: readonly EvidenceDocument[], reference: LedgerReference, nowMs: number): void {
    const { database, path, rows, bytesMax } = this.#parts;
    if (this.#failed !== undefined) throw notSynced(this.#failed);
    const digests = documents.map(digestOf);
    this.#isUnsynced = true;
    guarded(path, "STORE_UNAVAILABLE", () => {
      database.exec("PRAGMA synchronous = NORMAL");
      try {
        immediately(database, () => {
          if (rows.totalBytes() >= bytesMax) throw full();
          for (const [index, { bytes }] of documents.entries())
            rows.putDocument(digests[index] as ContentDigest, bytes, { ...reference, nowMs });
        });
      } finally {
        database.exec("PRAGMA synchronous = FULL");
      }
    });
  }

  /** Makes durable what was kept until now. Those who ask while it is under way share the next one. */
  sync(): Promise<void> {
    if (this.#closed) return CLOSED; // closing has done it
    this.#next ??= this.#afterRunning();
    return this.#next;
  }

  /** Makes durable what is left, and closes what `sync` uses. @throws KernelError STORE_UNAVAILABLE */
  async close(): Promise<void> {
    if (this.#closed) return;
    const left = this.#isUnsynced && this.#failed === undefined ? this.sync() : undefined;
    this.#closed = true;
    await Promise.allSettled([this.#running, this.#next]);
    const log = this.#log;
    this.#log = undefined;
    if (log !== undefined) await closeAsync(log);
    await left;
  }

  async #afterRunning(): Promise<void> {
    await this.#running?.catch(() => undefined); // whoever asked for that one is told
    this.#next = undefined;
    this.#isUnsynced = false;
    this.#running = this.#syncLog().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #syncLog(): Promise<void> {
    if (this.#failed !== undefined) throw notSynced(this.#failed);
    try {
      // SQLite keeps this file as long as a connection is open, and holds no lock on it that closing would let go.
      this.#log ??= openSync(`${this.#parts.path}-wal`, constants.O_RDONLY | constants.O_NOFOLLOW);
      await syncAsync(this.#log);
    } catch (error) {
      this.#failed = error;
      throw notSynced(error);
    }
  }
}

const CLOSED = Promise.resolve();

function digestOf({ hash, bytes }: EvidenceDocument): ContentDigest {
  const sizeBytes = bytes.byteLength;
  if (sizeBytes <= CONTENT_BLOCK_BYTES) return { hash, sizeBytes, blocks: Buffer.from(hash, "hex") };
  const hasher = new BlockHasher();
  for (let start = 0; start < bytes.byteLength; start += CONTENT_BLOCK_BYTES)
    hasher.add(bytes.subarray(start, start + CONTENT_BLOCK_BYTES));
  return hasher.digest();
}

function full(): Error {
  return storeUnavailable(
    "the content store is full, so no document of a call can be kept; make room with `handrail cas gc`",
  );
}

function notSynced(cause: unknown): Error {
  return storeUnavailable(
    `documents of calls could not be brought to disk (${errorCode(cause)}); check the disk of the state directory, then restart the kernel`,
    cause,
  );
}
