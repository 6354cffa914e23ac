/**
 * The rows of `content.db`: objects, who stored them, artifacts, and the ledger's references.
 *
 * Everything here runs inside a transaction of the caller or is one statement. A row that cannot be read is damage,
 * never guessed at.
 */
import type { Database, Statement } from "better-sqlite3";
import type { ContentDigest } from "../../../base/block-hashes.ts";
import { type KernelError, storeCorrupt } from "../../../base/errors.ts";
import { isJsonObject } from "../../../base/json.ts";
import { ARTIFACTS_PAGE_MAX, CONTENT_BLOCK_BYTES } from "../../../base/limits.ts";
import type {
  ContentHolding,
  ContentOwner,
  LedgerReference,
  ListedContent,
  Publisher,
} from "../../../cas/content-store.ts";
import { combineLabels, DATA_CLASSES, type Label, TRUST_LEVELS } from "../../../model/outcome/label.ts";
import type { Artifact, ArtifactWish, StoredContent } from "../../../model/work/content.ts";

/** What is known of one object. */
export interface ObjectRow {
  readonly hash: string;
  readonly size: number;
  readonly block_bytes: number;
  readonly blocks: Uint8Array;
  readonly state: ListedContent["state"];
  readonly touched_at_ms: number;
}

interface ArtifactRow {
  readonly id: string;
  readonly hash: string;
  readonly category: string;
  readonly metadata: string;
  readonly label: string;
  readonly user_id: string;
  readonly agent_id: string;
  readonly published_at_ms: number;
  readonly size: number;
}

const ARTIFACT_COLUMNS =
  "a.id, a.hash, a.category, a.metadata, a.label, a.user_id, a.agent_id, a.published_at_ms, o.size";
const ARTIFACT_TABLES = "artifacts a JOIN objects o ON o.hash = a.hash AND o.state != 'collecting'";

/** Prepared statements over one connection. */
export class ContentRows {
  readonly #object: Statement<[string], ObjectRow>;
  readonly #holding: Statement<[string, string, string], { size: number; label: string }>;
  readonly #heldLabel: Statement<[string, string, string], { label: string }>;
  readonly #putObject: Statement<[string, number, number, Uint8Array, number, number]>;
  readonly #putHolding: Statement<[string, string, string, string, number]>;
  readonly #putReference: Statement<[string, string, string, number]>;
  readonly #reference: Statement<[string, string, string], object>;
  readonly #artifact: Statement<[string, string], ArtifactRow>;
  readonly #artifacts: Statement<[string, string, string], ArtifactRow>;
  readonly #putArtifact: Statement<[string, string, string, string, string, string, string, string, string, number]>;
  readonly #total: Statement<[], { bytes: number }>;
  readonly #document: Statement<[string], { bytes: Uint8Array }>;
  readonly #putDocument: Statement<[string, Uint8Array]>;
  readonly #dropDocument: Statement<[string]>;

  constructor(database: Database) {
    this.#object = database.prepare(
      "SELECT hash, size, block_bytes, blocks, state, touched_at_ms FROM objects WHERE hash = ?",
    );
    this.#holding = database.prepare(
      `SELECT o.size, h.label FROM holdings h JOIN objects o ON o.hash = h.hash AND o.state != 'collecting'
       WHERE h.hash = ? AND h.user_id = ? AND h.workspace = ?`,
    );
    this.#heldLabel = database.prepare("SELECT label FROM holdings WHERE hash = ? AND user_id = ? AND workspace = ?");
    this.#putObject = database.prepare(
      `INSERT INTO objects (hash, size, block_bytes, blocks, state, created_at_ms, touched_at_ms) VALUES (?, ?, ?, ?, 'stored', ?, ?)
       ON CONFLICT (hash) DO UPDATE SET block_bytes = excluded.block_bytes, blocks = excluded.blocks, state = 'stored',
         touched_at_ms = max(touched_at_ms, excluded.touched_at_ms)`,
    );
    this.#putHolding = database.prepare("INSERT OR REPLACE INTO holdings VALUES (?, ?, ?, ?, ?)");
    this.#putReference = database.prepare("INSERT OR IGNORE INTO ledger_references VALUES (?, ?, ?, ?)");
    this.#reference = database.prepare(
      "SELECT 1 FROM ledger_references WHERE hash = ? AND session_id = ? AND request_id = ?",
    );
    this.#artifact = database.prepare(
      `SELECT ${ARTIFACT_COLUMNS} FROM ${ARTIFACT_TABLES} WHERE a.workspace = ? AND a.id = ?`,
    );
    this.#artifacts = database.prepare(
      `SELECT ${ARTIFACT_COLUMNS} FROM ${ARTIFACT_TABLES} WHERE a.hash = ? AND a.workspace = ? AND a.id > ?
       ORDER BY a.id LIMIT ${ARTIFACTS_PAGE_MAX}`,
    );
    this.#putArtifact = database.prepare("INSERT INTO artifacts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    this.#total = database.prepare("SELECT bytes FROM totals");
    this.#document = database.prepare(
      "SELECT bytes FROM documents WHERE number = (SELECT number FROM objects WHERE hash = ?)",
    );
    this.#putDocument = database.prepare(
      "INSERT OR REPLACE INTO documents VALUES ((SELECT number FROM objects WHERE hash = ?), ?)",
    );
    this.#dropDocument = database.prepare(
      "DELETE FROM documents WHERE number = (SELECT number FROM objects WHERE hash = ?)",
    );
  }

  /** The object's row, whatever its state. */
  object(hash: string): ObjectRow | undefined {
    return this.#object.get(hash);
  }

  /** Bytes of all objects. */
  totalBytes(): number {
    return this.#total.get()?.bytes ?? 0;
  }

  /** Says that an object is stored, and for whom; returns it under the label that it now has for them. */
  put(digest: ContentDigest, { owner, label, nowMs, reference }: ContentHolding): StoredContent {
    const { hash, sizeBytes, blocks } = digest;
    const now = Math.floor(nowMs);
    this.#putObject.run(hash, sizeBytes, CONTENT_BLOCK_BYTES, blocks, now, now);
    const held = this.#heldLabel.get(hash, owner.userId, owner.workspace);
    // What was stored twice under different labels has the more careful one.
    const together = held ? combineLabels(label, labelOf(held.label)) : label;
    this.#putHolding.run(hash, owner.userId, owner.workspace, JSON.stringify(together), now);
    if (reference) this.putReference(hash, reference, now);
    return { hash, sizeBytes, label: together };
  }

  /** Keeps a document, without an owner, and says that the ledger refers to it. */
  putDocument(digest: ContentDigest, bytes: Uint8Array, reference: LedgerReference & { readonly nowMs: number }): void {
    const { hash, sizeBytes, blocks } = digest;
    const now = Math.floor(reference.nowMs);
    this.#putObject.run(hash, sizeBytes, CONTENT_BLOCK_BYTES, blocks, now, now);
    this.#putDocument.run(hash, bytes);
    this.putReference(hash, reference, now);
  }

  /** The bytes of a document as they stand in its row, not verified. */
  document(hash: string): Uint8Array | undefined {
    return this.#document.get(hash)?.bytes;
  }

  /** Forgets the bytes of a document that was altered. */
  dropDocument(hash: string): void {
    this.#dropDocument.run(hash);
  }

  /** Says that the ledger refers to an object. Returns whether it did not before. */
  putReference(hash: string, { sessionId, requestId }: LedgerReference, nowMs: number): boolean {
    return this.#putReference.run(hash, sessionId, requestId, Math.floor(nowMs)).changes === 1;
  }

  /** Whether that reference is known. */
  hasReference(hash: string, { sessionId, requestId }: LedgerReference): boolean {
    return this.#reference.get(hash, sessionId, requestId) !== undefined;
  }

  /** What `owner` stored under `hash`. */
  held(hash: string, owner: ContentOwner): StoredContent | undefined {
    const row = this.#holding.get(hash, owner.userId, owner.workspace);
    return row && { hash, sizeBytes: row.size, label: labelOf(row.label) };
  }

  /** The artifact of a workspace. */
  artifact(workspace: string, id: string): Artifact | undefined {
    const row = this.#artifact.get(workspace, id);
    return row && artifactOf(row);
  }

  /** A page of the artifacts of a workspace with that content. */
  artifactsOf(workspace: string, hash: string, after: string): readonly Artifact[] {
    return this.#artifacts.all(hash, workspace, after).map(artifactOf);
  }

  /** Adds an artifact whose id is free. */
  putArtifact(wish: ArtifactWish, publisher: Publisher): void {
    const { workspace, userId, agentId, sessionId, label, nowMs } = publisher;
    const texts = [JSON.stringify(wish.metadata), JSON.stringify(label)] as const;
    this.#putArtifact.run(
      workspace,
      wish.id,
      wish.contentHash,
      wish.category,
      ...texts,
      userId,
      agentId,
      sessionId,
      Math.floor(nowMs),
    );
  }
}

function artifactOf(row: ArtifactRow): Artifact {
  return {
    id: row.id,
    contentHash: row.hash,
    category: row.category,
    metadata: textsOf(row.metadata),
    sizeBytes: row.size,
    label: labelOf(row.label),
    userId: row.user_id,
    agentId: row.agent_id,
    publishedAtMs: row.published_at_ms,
  };
}

function textsOf(text: string): readonly string[] {
  const value = jsonOf(text);
  if (Array.isArray(value) && value.every((entry): entry is string => typeof entry === "string")) return value;
  throw damaged();
}

function labelOf(text: string): Label {
  const value = jsonOf(text);
  if (!isJsonObject(value)) throw damaged();
  const { source } = value;
  const trustLevel = TRUST_LEVELS.find((level) => level === value["trustLevel"]);
  const dataClass = DATA_CLASSES.find((name) => name === value["dataClass"]);
  if (!trustLevel || !dataClass || !isJsonObject(source)) throw damaged();
  const { origin, timestamp } = source;
  if (typeof origin !== "string" || typeof timestamp !== "string") throw damaged();
  return { trustLevel, dataClass, source: { origin, timestamp } };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw storeCorrupt(DAMAGED, error);
  }
}

const DAMAGED = "`content.db` in the state directory has a row that cannot be read; restore a backup";

function damaged(): KernelError {
  return storeCorrupt(DAMAGED);
}
