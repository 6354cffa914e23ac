/**
 * Stored content and artifacts, and the handle through which tools reach them.
 *
 * Content is named by the BLAKE3-256 of its bytes (64 hexadecimal digits) and never changes. It belongs to whoever
 * stored it: a user in a workspace. An artifact is a name for content that a workspace gave once and for all; every
 * session of that workspace may read it, as far as policy and lease go. INVARIANT: what a caller may not read is
 * answered exactly as what does not exist.
 */
import type { Label } from "../outcome/label.ts";

/** How a resource of kind `artifact` names content by its hash; no artifact's own id begins like this. */
export const CONTENT_ID_PREFIX = "blake3:";

/** How the address of stored content begins where it is a resource of MCP; its hash follows. */
export const CONTENT_URI = "handrail://content/";

/** A BLAKE3-256 hash as text: 64 lower-case hexadecimal digits. */
export const HASH_PATTERN = /^[0-9a-f]{64}$/;

/** What an agent asks for. */
export type ContentName =
  | { readonly kind: "artifact"; readonly id: string }
  | { readonly kind: "content"; readonly hash: string };

/** What an access to `name` is called in policy, leases and evidence. */
export function contentResourceId(name: ContentName): string {
  return name.kind === "artifact" ? name.id : CONTENT_ID_PREFIX + name.hash;
}

/** Content as it is stored for somebody. */
export interface StoredContent {
  readonly hash: string;
  readonly sizeBytes: number;
  readonly label: Label;
}

/** What an artifact is published as. */
export interface ArtifactWish {
  readonly id: string;
  readonly contentHash: string;
  readonly category: string;
  /** `key=value` entries. */
  readonly metadata: readonly string[];
}

/** A published artifact. Times are milliseconds since the Unix epoch. */
export interface Artifact extends ArtifactWish {
  readonly sizeBytes: number;
  readonly label: Label;
  readonly userId: string;
  readonly agentId: string;
  readonly publishedAtMs: number;
}

/** Content that the call may read, and the artifact through which it was found, if it was. */
export interface FoundContent extends StoredContent {
  readonly artifact?: Artifact;
}

/** A part of stored content. */
export interface ContentRange {
  readonly offset: number;
  readonly length: number;
}

/**
 * Stored content for one call. Methods throw `ToolFailure`: CONTENT_NOT_FOUND for what the caller may not read or what
 * does not exist, CONTENT_CORRUPT for what was altered on disk.
 */
export interface ContentAccess {
  /** What `name` stands for. */
  readonly find: (name: ContentName) => Promise<FoundContent>;
  /** Verified bytes of what `find` answered to this call, all of them in memory: fewer than asked for at its end. */
  readonly read: (found: FoundContent, range: ContentRange) => Promise<Uint8Array>;
  /** Hands verified bytes of what `find` answered to this call to a caller that takes a stream. */
  readonly stream: (found: FoundContent, range: ContentRange) => Promise<void>;
  /** Stores `bytes` for the caller; refuses those that hold a secret of the kernel. */
  readonly put: (bytes: Uint8Array) => Promise<StoredContent>;
  /**
   * Stores bytes that an upstream server answered the call with, for its caller, labelled as the tool's results are;
   * refuses those that hold a secret, and any other tool.
   */
  readonly keepAnswer: (bytes: Uint8Array) => Promise<StoredContent>;
  /** Stores what was uploaded with the call, or `undefined` when nothing was. */
  readonly commitUpload: () => Promise<StoredContent | undefined>;
  /** Publishes content that the caller may read; the same content again is no error (CTR-0020, CTR-0021). */
  readonly publish: (wish: ArtifactWish) => Promise<Artifact>;
}
