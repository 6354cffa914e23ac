/**
 * Content in files under their BLAKE3-256, and in `content.db` what is stored, for whom, and what refers to it.
 *
 * The database's write lock orders everything that changes an object: its file is put in place, put aside or removed
 * only inside a transaction that holds the lock, whichever of the kernels of the state directory does it. INVARIANT:
 * content is acknowledged after its bytes, its directory and its rows were fsynced, in that order; a crash in between
 * leaves a file without a row, which a collection removes.
 *
 * Opens its database with the first use: most kernels never store anything.
 */
import { join } from "node:path";
import { GIB } from "../../../base/bytes.ts";
import { blake3Hex } from "../../../base/hash.ts";
import type { RandomBytes } from "../../../base/ids.ts";
import type {
  BlockMemory,
  ContentHolding,
  ContentMaintenance,
  ContentRange,
  ContentStore,
  EvidenceDocument,
  KeptDocuments,
  LedgerReference,
  MaintainedContentStore,
  Published,
  Publisher,
  StagedContent,
} from "../../../cas/content-store.ts";
import type { Artifact, ArtifactWish, StoredContent } from "../../../model/work/content.ts";
import { contentCorrupt, contentNotFound, contentStoreFull } from "../../../model/work/content-failures.ts";
import { guarded, immediately, openDatabase } from "../state/database.ts";
import { CONTENT_SCHEMA } from "../state/schema.ts";
import { prepareStateDirectory } from "../state/state-directory.ts";
import { CONTENT_TEMPORARY_AGE_MS, ContentCollector } from "./content-collector.ts";
import { ContentFiles, removeIfThere } from "./content-files.ts";
import { type ObjectSource, openInventory } from "./content-inventory.ts";
import { verifiedBytes } from "./content-reader.ts";
import { ContentRows } from "./content-rows.ts";
import { atDisk, type StagedFile, StagingArea } from "./content-staging.ts";
import { DocumentKeeper } from "./document-keeper.ts";

/** Bytes of all stored objects of a state directory; beyond it nothing is stored until a collection made room. */
export const CONTENT_STORE_BYTES_MAX = 64 * GIB;

const CODE = "STORE_UNAVAILABLE";
/** Times that an object is opened which is stored again just when it is found missing. */
const READ_ATTEMPTS_MAX = 3;

/** What an embedded content store is made of. */
export interface ContentStoreParts {
  readonly stateDirectory: string;
  /** The kernel instance that stores; temporaries of dead ones are removed. */
  readonly instanceId: string;
  readonly isInstanceAlive: (id: string) => Promise<boolean>;
  readonly nowMs: () => number;
  readonly random: RandomBytes;
  /** Told of content that was found altered and put aside. */
  readonly onCorrupt: (hash: string) => void;
}

/** Opens the content of a state directory; the files are looked at with the first use. */
export function openContentStore(parts: ContentStoreParts): MaintainedContentStore {
  return new LazyContentStore(parts);
}

/** One connection and what works on it. */
interface Opened extends ObjectSource {
  readonly rows: ContentRows;
  readonly documents: DocumentKeeper;
}

class LazyContentStore implements MaintainedContentStore {
  readonly #parts: ContentStoreParts;
  readonly #path: string;
  readonly #files: ContentFiles;
  readonly #staging: StagingArea;
  #opening: Promise<Opened> | undefined;

  constructor(parts: ContentStoreParts) {
    this.#parts = parts;
    this.#path = join(parts.stateDirectory, "content.db");
    this.#files = new ContentFiles(parts.stateDirectory);
    this.#staging = new StagingArea(() => this.#files.temporaryPath(parts.instanceId, this.#name()), this.#files);
  }

  async stage(
    chunks: AsyncIterable<Uint8Array>,
    announced: Parameters<ContentStore["stage"]>[1],
    signal: AbortSignal,
  ): Promise<StagedContent> {
    const opened = await this.#open();
    if (this.#guard(() => opened.rows.totalBytes()) >= CONTENT_STORE_BYTES_MAX) throw contentStoreFull();
    const staged = await this.#staging.receive(chunks, announced, signal);
    return {
      hash: staged.digest.hash,
      sizeBytes: staged.digest.sizeBytes,
      commit: async (holding) => this.#commit(opened, staged, holding),
      discard: async () => staged.discard(),
    };
  }

  async find(hash: string, owner: Parameters<ContentStore["find"]>[1]): Promise<StoredContent | undefined> {
    const { rows } = await this.#open();
    return this.#guard(() => rows.held(hash, owner));
  }

  async findArtifact(workspace: string, id: string): Promise<Artifact | undefined> {
    const { rows } = await this.#open();
    return this.#guard(() => rows.artifact(workspace, id));
  }

  async artifactsOf(workspace: string, hash: string, after: string): Promise<readonly Artifact[]> {
    const { rows } = await this.#open();
    return this.#guard(() => rows.artifactsOf(workspace, hash, after));
  }

  async publish(wish: ArtifactWish, publisher: Publisher): Promise<Published> {
    const { database, rows } = await this.#open();
    return this.#guard(() =>
      immediately(database, (): Published => {
        const before = rows.artifact(publisher.workspace, wish.id);
        if (before !== undefined)
          return before.contentHash === wish.contentHash ? { kind: "published", artifact: before } : { kind: "taken" };
        if (rows.object(wish.contentHash)?.state !== "stored") return { kind: "missing" };
        rows.putArtifact(wish, publisher);
        const artifact = rows.artifact(publisher.workspace, wish.id);
        return artifact ? { kind: "published", artifact } : { kind: "missing" };
      }),
    );
  }

  async *read(hash: string, range: ContentRange, memory: BlockMemory = "own"): AsyncGenerator<Uint8Array> {
    const { rows } = await this.#open();
    for (let attempt = 1; attempt <= READ_ATTEMPTS_MAX; attempt += 1) {
      const row = this.#guard(() => rows.object(hash));
      if (row === undefined || row.state === "collecting") throw contentNotFound({ kind: "content", hash });
      if (row.state === "quarantined") throw contentCorrupt(hash);
      const document = await this.#document(hash);
      if (document !== undefined) {
        yield document.subarray(range.offset, range.offset + range.length);
        return;
      }
      const file = this.#files.open(hash);
      if (file === undefined) {
        // It may have been stored again since then; it is opened again.
        await this.#putAside(hash, undefined);
        continue;
      }
      const object = { ...file, sizeBytes: row.size, blockBytes: row.block_bytes, blocks: row.blocks };
      if ((yield* verifiedBytes(object, range, memory)) === "intact") return;
      await this.#putAside(hash, file.stats);
      throw contentCorrupt(hash); // some of it may have been handed out
    }
    throw contentCorrupt(hash);
  }

  async keepDocuments(
    kept: readonly EvidenceDocument[],
    reference: LedgerReference,
    nowMs: number,
  ): Promise<KeptDocuments> {
    const { documents } = await this.#open();
    documents.keep(kept, reference, nowMs);
    return { sync: () => documents.sync() };
  }

  async maintenance(): Promise<ContentMaintenance> {
    const opened = await this.#open();
    const collector = new ContentCollector({
      ...opened,
      isInstanceAlive: this.#parts.isInstanceAlive,
      ownInstance: this.#parts.instanceId,
    });
    return { ...openInventory(opened), ...collector.acts() };
  }

  async close(): Promise<void> {
    this.#staging.discardAll();
    const opened = await this.#opening?.catch(() => undefined); // what failed to open has told whoever opened it
    this.#opening = undefined;
    if (opened === undefined) return;
    try {
      await opened.documents.close();
    } finally {
      this.#guard(() => opened.database.close());
    }
  }

  /** The bytes of a document that stands in a row; one that was altered is dropped, so that it counts as lost. */
  async #document(hash: string): Promise<Uint8Array | undefined> {
    const { database, rows } = await this.#open();
    const bytes = this.#guard(() => rows.document(hash));
    if (bytes === undefined || blake3Hex(bytes) === hash) return bytes;
    this.#guard(() => immediately(database, () => rows.dropDocument(hash)));
    return undefined;
  }

  /** Puts staged bytes in place. What is there under the hash is replaced: these bytes were just hashed. */
  #commit({ database, rows }: Opened, staged: StagedFile, holding: ContentHolding): StoredContent {
    const { hash, sizeBytes } = staged.digest;
    atDisk(() => this.#files.prepareFor(hash));
    return this.#guard(() =>
      immediately(database, () => {
        if (rows.totalBytes() + sizeBytes > CONTENT_STORE_BYTES_MAX && rows.object(hash) === undefined)
          throw contentStoreFull();
        staged.moveTo((temporary) => this.#files.place(temporary, hash));
        return rows.put(staged.digest, holding);
      }),
    );
  }

  /**
   * Puts an altered or lost object aside and says so to whoever reads; returns when it was replaced meanwhile.
   * @throws ToolFailure CONTENT_CORRUPT, or CONTENT_NOT_FOUND when it was collected meanwhile
   */
  async #putAside(hash: string, seen: Parameters<ContentFiles["quarantine"]>[1]): Promise<void> {
    const { database, rows } = await this.#open();
    const found = this.#guard(() =>
      immediately(database, () => {
        const state = rows.object(hash)?.state;
        if (state !== "stored" || !this.#files.quarantine(hash, seen, this.#name())) return state ?? "collecting";
        database.prepare("UPDATE objects SET state = 'quarantined' WHERE hash = ?").run(hash);
        return "altered";
      }),
    );
    if (found === "stored") return;
    if (found === "altered") this.#parts.onCorrupt(hash);
    throw found === "collecting" ? contentNotFound({ kind: "content", hash }) : contentCorrupt(hash);
  }

  #open(): Promise<Opened> {
    this.#opening ??= this.#start();
    const opening = this.#opening;
    opening.catch(() => {
      if (this.#opening === opening) this.#opening = undefined; // the next use tries again
    });
    return opening;
  }

  async #start(): Promise<Opened> {
    await prepareStateDirectory(this.#parts.stateDirectory);
    const database = await openDatabase(this.#path, CONTENT_SCHEMA, CODE);
    this.#files.prepare();
    await this.#removeAbandoned();
    const rows = new ContentRows(database);
    const documents = new DocumentKeeper({ database, path: this.#path, rows, bytesMax: CONTENT_STORE_BYTES_MAX });
    return { database, files: this.#files, path: this.#path, rows, documents };
  }

  /** Removes the uploads of dead instances, and those that nobody can still be sending. */
  async #removeAbandoned(): Promise<void> {
    const { instanceId, isInstanceAlive, nowMs } = this.#parts;
    for (const { path, instanceId: maker, changedAtMs } of this.#files.temporaries()) {
      if (maker === instanceId) continue;
      const isOld = nowMs() - changedAtMs > CONTENT_TEMPORARY_AGE_MS;
      if (isOld || !(await isInstanceAlive(maker).catch(() => true))) removeIfThere(path);
    }
  }

  #name(): string {
    return Buffer.from(this.#parts.random(12)).toString("hex");
  }

  #guard<T>(work: () => T): T {
    return guarded(this.#path, CODE, work);
  }
}
