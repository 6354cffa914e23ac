/**
 * The file handle that tools get: contained in the workspace, judged again on what was really opened.
 *
 * Paths are what the agent wrote. Methods throw `ToolFailure` (not found, too large, busy …) or `Refusal` (a link led
 * out of the scope, a hard link, a device …) and never touch anything outside the workspace.
 */

/** Bytes of a file, or of a part of it. */
export interface FileContent {
  readonly bytes: Uint8Array;
  /** First byte that was read. */
  readonly offset: number;
  /** Size of the whole file in bytes. */
  readonly sizeBytes: number;
}

/**
 * A file, or a part of it, piece by piece: all pieces come from the file that was opened, whatever its name stands for
 * later.
 */
export interface FileStream {
  /** First byte that is read. */
  readonly offset: number;
  /** Bytes that the pieces have together; fewer come when the file becomes shorter meanwhile. */
  readonly length: number;
  /** Size of the whole file in bytes. */
  readonly sizeBytes: number;
  /**
   * Reads once. The file stays open until all was read, or until an iterator's `return`, even of one that never began.
   */
  readonly chunks: AsyncIterable<Uint8Array>;
}

/** What to read: `limit` absent reads to the end, and is refused beyond `bytesMax`. */
export interface ReadOptions {
  readonly offset?: number;
  readonly limit?: number;
  readonly bytesMax: number;
  /** Bytes that are read besides before and after that, where the file has them. */
  readonly margin?: number;
  /**
   * A result that is there at once may be lent: whoever reads makes of it what is wanted before anything else runs, and
   * keeps none of the bytes.
   */
  readonly lent?: true;
}

/** One entry of a listing; `path` is relative to the listed directory. */
export interface ListEntry {
  readonly path: string;
  readonly kind: "file" | "directory" | "symlink" | "other";
  readonly sizeBytes?: number;
  /** The name is not valid UTF-8: its odd bytes stand as `\xNN`, and no path of a call can name it. */
  readonly escaped?: true;
}

/** A listing in stable order, and whether entries were left out because they did not fit. */
export interface Listing {
  readonly entries: readonly ListEntry[];
  readonly truncated: boolean;
}

/** How deep and how much to list. */
export interface ListOptions {
  readonly depthMax: number;
  readonly entriesMax: number;
  /** Which entries are shown; directories are entered whether they are or not. */
  readonly shows?: (entry: ListEntry) => boolean;
  /** The last entry that was shown before: what comes behind it is wanted. */
  readonly after?: string;
}

/** What a write did: to which file, whether it was new, and its size afterwards. */
export interface WriteReceipt {
  readonly path: string;
  readonly created: boolean;
  readonly sizeBytes: number;
}

/** What was deleted. */
export interface RemoveReceipt {
  readonly path: string;
  readonly sizeBytes: number;
}

/** How to write. */
export interface WriteOptions {
  readonly mode: "overwrite" | "append" | "create_only";
}

/** How a file is to be replaced by what is made of it. */
export interface FileTransform {
  readonly path: string;
  readonly bytesMax: number;
  readonly transform: (original: Uint8Array) => Uint8Array | Promise<Uint8Array>;
}

/** Contained access to the files of one workspace, for one call. */
export interface FileAccess {
  readonly read: (path: string, options: ReadOptions) => FileContent | Promise<FileContent>;
  /** The same in pieces, for more than fits the memory. */
  readonly stream: (path: string, options: ReadOptions) => FileStream;
  readonly list: (path: string, options: ListOptions) => Promise<Listing>;
  readonly write: (path: string, content: Uint8Array, options: WriteOptions) => Promise<WriteReceipt>;
  /** Deletes one regular file. */
  readonly remove: (path: string) => Promise<RemoveReceipt>;
  /**
   * Replaces an existing file by what `transform` makes of it, under the file's cross-process lock: nobody else's
   * change is lost, and nothing changes when `transform` throws.
   */
  readonly transform: (
    path: string,
    bytesMax: number,
    transform: (original: Uint8Array) => Uint8Array | Promise<Uint8Array>,
  ) => Promise<WriteReceipt>;
  /**
   * The same for several files, under the locks of all: all are replaced, or none. Where a failure half-way could not
   * be taken back, `OUTCOME_UNKNOWN` says how each file is.
   */
  readonly transformAll: (files: readonly FileTransform[]) => Promise<readonly WriteReceipt[]>;
}
