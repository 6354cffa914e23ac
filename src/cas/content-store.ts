/**
 * The port behind which content and artifacts are kept.
 *
 * A store keeps bytes under their BLAKE3-256, says who stored them, and never hands out bytes that do not fit their
 * hash. INVARIANT: what an artifact or the ledger refers to is never collected. INVARIANT: content is acknowledged only
 * once it would survive a power failure. Operational failures are `KernelError`s; what agents may be told is a
 * `ToolFailure`.
 */

import type { Label } from "../model/outcome/label.ts";
import type { Artifact, ArtifactWish, StoredContent } from "../model/work/content.ts";

/** Whose the memory of a block is that was read. */
export type BlockMemory = "own" | "lent";

/** Whose content: a user in a workspace (its service root). */
export interface ContentOwner {
  readonly userId: string;
  readonly workspace: string;
}

/** A call that the ledger records, as far as references need it. */
export interface LedgerReference {
  readonly sessionId: string;
  readonly requestId: string;
}

/** Why content is stored: for whom, with which label, and when. */
export interface ContentHolding {
  readonly owner: ContentOwner;
  readonly label: Label;
  readonly nowMs: number;
  /** The call whose result this is: the content stays as long as the ledger has that call's payload. */
  readonly reference?: LedgerReference;
}

/** What a sender says beforehand of the bytes that follow. */
export interface AnnouncedContent {
  /** 64 hexadecimal digits. */
  readonly hash?: string;
  readonly sizeBytes?: number;
  /** The principal at whose pace the bytes come; absent for bytes that the kernel has or makes itself. */
  readonly sender?: string;
}

/** A part of content, in bytes; it may go beyond the end. */
export interface ContentRange {
  readonly offset: number;
  readonly length: number;
}

/** Bytes that were received and hashed, and are not stored yet. */
export interface StagedContent {
  readonly hash: string;
  readonly sizeBytes: number;
  /** Stores them durably. At most once. */
  readonly commit: (holding: ContentHolding) => Promise<StoredContent>;
  /** Forgets them; harmless after `commit`. */
  readonly discard: () => Promise<void>;
}

/** A canonical document that an entry of the ledger is about to name. */
export interface EvidenceDocument {
  /** BLAKE3-256 of its bytes, 64 hexadecimal digits. */
  readonly hash: string;
  readonly bytes: Uint8Array;
}

/** Documents that were kept: they survive a killed process. */
export interface KeptDocuments {
  /** Resolves once they would survive a power failure. @throws KernelError STORE_UNAVAILABLE */
  readonly sync: () => Promise<void>;
}

/** Who publishes an artifact. */
export interface Publisher extends ContentOwner {
  readonly agentId: string;
  readonly sessionId: string;
  readonly label: Label;
  readonly nowMs: number;
}

/** What came of publishing: `taken` when the id stands for other content, `missing` when the content is not stored. */
export type Published =
  | { readonly kind: "published"; readonly artifact: Artifact }
  | { readonly kind: "taken" | "missing" };

/** Content and artifacts of one state directory, as the kernel uses them. */
export interface ContentStore {
  /**
   * Receives bytes into a temporary place.
   * @throws ToolFailure CONTENT_MISMATCH, CONTENT_TOO_LARGE, RESOURCE_BUSY, DISK_FULL or CANCELLED; nothing stays then
   */
  readonly stage: (
    chunks: AsyncIterable<Uint8Array>,
    announced: AnnouncedContent,
    signal: AbortSignal,
  ) => Promise<StagedContent>;
  /** The content as `owner` stored it, if they did. */
  readonly find: (hash: string, owner: ContentOwner) => Promise<StoredContent | undefined>;
  /** The artifact of a workspace. */
  readonly findArtifact: (workspace: string, id: string) => Promise<Artifact | undefined>;
  /**
   * The artifacts of a workspace that name this content, in order of their ids: those after the id `after`, at most
   * `ARTIFACTS_PAGE_MAX`.
   */
  readonly artifactsOf: (workspace: string, hash: string, after: string) => Promise<readonly Artifact[]>;
  /** Publishes stored content under an id that the workspace has not given yet (CTR-0020, CTR-0021). */
  readonly publish: (wish: ArtifactWish, publisher: Publisher) => Promise<Published>;
  /**
   * Verified bytes, block by block; no block leaves before it was compared with its hash. Memory that is `lent` is used
   * again once the next block is asked for, which spares much of the work; blocks with memory of their `own` may be
   * kept.
   * @throws (while iterating) ToolFailure CONTENT_CORRUPT, or CONTENT_NOT_FOUND when it is not stored any more
   */
  readonly read: (hash: string, range: ContentRange, memory?: BlockMemory) => AsyncIterable<Uint8Array>;
  /**
   * Keeps documents of evidence with the reference of the entry that will name them. They have no owner: no session can
   * fetch them.
   * @throws KernelError STORE_UNAVAILABLE when they cannot be kept; then none of them is
   */
  readonly keepDocuments: (
    documents: readonly EvidenceDocument[],
    reference: LedgerReference,
    nowMs: number,
  ) => Promise<KeptDocuments>;
  readonly close: () => Promise<void>;
}

/** One object as the operator sees it. */
export interface ListedContent {
  readonly hash: string;
  readonly sizeBytes: number;
  readonly createdAtMs: number;
  readonly state: "stored" | "collecting" | "quarantined";
  readonly owners: number;
  readonly artifacts: number;
  readonly references: number;
}

/** What a collection removed, or would remove. */
export interface CollectionReport {
  readonly objects: number;
  readonly bytes: number;
  /** Files that no row names. */
  readonly strayFiles: number;
  /** Uploads that nobody finished. */
  readonly temporaryFiles: number;
}

/** What is wrong with stored content. */
export interface ContentProblem {
  readonly hash: string;
  readonly problem: string;
}

/** The operator's look at a store; changes nothing. */
export interface ContentInventory {
  /** Objects after the hash `after`, in order of their hashes, at most `count`. */
  readonly list: (after: string, count: number) => Promise<readonly ListedContent[]>;
  /**
   * Re-hashes one object and compares its row with its file: what is wrong with it, or `undefined`; also for what is
   * not stored.
   */
  readonly inspect: (hash: string) => Promise<string | undefined>;
  /** Artifacts and references whose content is not stored, at most `count`. */
  readonly dangling: (count: number) => Promise<readonly ContentProblem[]>;
  /** How many of those there are. */
  readonly countDangling: () => Promise<number>;
  /** Files that no row names. */
  readonly countStrayFiles: () => Promise<number>;
  readonly hasReference: (hash: string, reference: LedgerReference) => Promise<boolean>;
  /** The size of an object, whoever stored it; `undefined` when there is none. */
  readonly sizeOf: (hash: string) => Promise<number | undefined>;
  /** The whole of an object of at most `bytesMax`, verified; `undefined` when it is not stored, larger, or altered. */
  readonly bytesOf: (hash: string, bytesMax: number) => Promise<Uint8Array | undefined>;
  readonly close: () => Promise<void>;
}

/** What only an operator may do to a store. */
export interface ContentMaintenance extends ContentInventory {
  /** Removes what nothing refers to and what is older than `graceMs`. */
  readonly collect: (graceMs: number, nowMs: number, dryRun: boolean) => Promise<CollectionReport>;
  /**
   * Makes the references those that `entries` name, which are all that the ledger has; references younger than
   * `graceMs` stay, because their entries may not have reached the chain yet.
   */
  readonly rebuildReferences: (
    entries: AsyncIterable<LedgerReference & { readonly hash: string }>,
    graceMs: number,
    nowMs: number,
  ) => Promise<{ readonly added: number; readonly removed: number }>;
}

/** A store with what only an operator may do to it. */
export interface MaintainedContentStore extends ContentStore {
  readonly maintenance: () => Promise<ContentMaintenance>;
}
