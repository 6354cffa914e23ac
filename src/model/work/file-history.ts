/**
 * Describes what calls changed in files: what stood there before, and what after.
 *
 * A path is relative to the root of its workspace. Content is named by its BLAKE3-256 (64 hexadecimal digits).
 */

/** What stands, or stood, under a path. */
export interface FileState {
  readonly kind: "file" | "link" | "directory";
  /** Permission bits, those for other users' and groups' names included. */
  readonly mode: number;
  /** Of a file its bytes, of a link the text that it leads to; absent where nobody read them. */
  readonly content?: string;
  readonly bytes?: number;
}

/** Why a change cannot be undone. */
export const UNKEPT_REASONS = [
  /** It has more bytes than a file may have to be kept. */
  "too_large",
  /** The call changed more than is kept of one call. */
  "too_much",
  /** It lies where secrets lie: nothing of it is kept. */
  "secret",
  /** A directory that is one thing, such as `node_modules`: only that it changed is known. */
  "tree",
  /** It is no file, link or directory. */
  "not_a_file",
  /** It could not be read. */
  "unreadable",
  /** The disk of the state directory did not take it. */
  "not_stored",
  /** It made room for later changes. */
  "made_room",
  /** It would replace what belongs to another user or group, and would be neither's. */
  "owner_not_kept",
] as const;
/** One of them. */
export type UnkeptReason = (typeof UNKEPT_REASONS)[number];

/** One change. A side is absent where nothing stood or stands. */
export interface FileChange {
  readonly path: string;
  readonly before?: FileState;
  readonly after?: FileState;
  readonly unkept?: UnkeptReason;
}

/** What a change did. */
export type FileChangeKind = "created" | "modified" | "deleted" | "mode";

/** What a change did, by its sides. */
export function changeKindOf({ before, after }: Pick<FileChange, "before" | "after">): FileChangeKind {
  if (before === undefined) return "created";
  if (after === undefined) return "deleted";
  const isSame = before.kind === after.kind && before.content === after.content && before.mode !== after.mode;
  return isSame && (before.content !== undefined || before.kind === "directory") ? "mode" : "modified";
}

/** Takes the bytes of one content, piece by piece; memory that was handed over may be used again. */
export interface ContentWriter {
  readonly write: (bytes: Uint8Array) => void;
  /** Puts the content in its place. @returns its BLAKE3-256 */
  readonly end: () => string;
  /** The same for content that stands in one piece, of which nothing was written. */
  readonly whole: (bytes: Uint8Array) => string;
  /** Forgets it; harmless after `end`. */
  readonly discard: () => void;
}

/** Changes that were noted before they were made. */
export interface NotedChanges {
  /** Says that they were made; those of which `isMade` says otherwise are forgotten. */
  readonly made: (isMade?: (path: string) => boolean) => Promise<void>;
  /** Says that none was made. */
  readonly forget: () => Promise<void>;
}
