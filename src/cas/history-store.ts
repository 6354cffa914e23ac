/**
 * The port behind which it is kept what calls changed in files, and the content that stood there before.
 *
 * A change is noted before it is made, so that a kernel that is killed leaves no change without a note; whoever undoes
 * one compares what stands there. INVARIANT: no session can read from it: content has no owner, and nobody but the
 * operator names it. INVARIANT: content is compared with its hash whenever it is read. Operational failures are
 * `KernelError`s.
 */
import type { ContentWriter, FileChange, NotedChanges } from "../model/work/file-history.ts";

/** The call that changes something. */
export interface ChangingCall {
  /** As its client named it. */
  readonly callId: string;
  /** Empty for what a person does. */
  readonly sessionId: string;
  /** Who acts, as the ledger names them. */
  readonly actor: string;
  /** Empty for what a person does. */
  readonly role: string;
  readonly tool: string;
  /** The root of its workspace, a real path. */
  readonly root: string;
  readonly atMs: number;
}

/** A change that was noted. */
export interface PastChange extends FileChange {
  readonly number: number;
  /** Whether it is known to have been made; else the kernel ended right then. */
  readonly isMade: boolean;
}

/** What a call noted at a time: a call that writes twice has two. */
export interface PastEntry extends ChangingCall {
  readonly number: number;
  /** Whether it changed more than was noted. */
  readonly isCut: boolean;
}

/** A change with the call that made it. */
export interface PathChange {
  readonly entry: PastEntry;
  readonly change: PastChange;
}

/** How long and how much is kept. */
export interface HistoryBounds {
  readonly keepMs: number;
  /** Of all before-content of a state directory. */
  readonly bytesMax: number;
}

/** What a sweep removed. */
export interface HistorySweep {
  readonly entries: number;
  readonly contents: number;
  readonly bytes: number;
}

/** The history of files of one state directory. */
export interface HistoryStore {
  /**
   * Notes what a call is about to change. Survives a killed process; content that is not stored after all makes its
   * change `not_stored`.
   * @param isCut whether it changes more than that
   */
  readonly note: (call: ChangingCall, changes: readonly FileChange[], isCut?: boolean) => Promise<NotedChanges>;
  /** Takes one content; at once, for whoever works in slices. @throws errors of the file system */
  readonly writer: () => ContentWriter;
  /** The changes of `path` below `root`, and of all below it, newest first; at most `count`. */
  readonly ofPath: (root: string, path: string, count: number) => Promise<readonly PathChange[]>;
  /** What a call noted, oldest first, with its changes in the order in which they were made. */
  readonly ofCall: (
    callId: string,
  ) => Promise<readonly { readonly entry: PastEntry; readonly changes: readonly PastChange[] }[]>;
  /**
   * The oldest change of the very path `path` below `root` that was noted at `sinceMs` or later: its `before` is what
   * stood there at that time. `undefined` where none was: then it is what stands there now.
   */
  readonly earliestSince: (root: string, path: string, sinceMs: number) => Promise<PathChange | undefined>;
  /**
   * Content piece by piece, in memory that is used again.
   * @throws (while iterating) ToolFailure CONTENT_NOT_FOUND, or CONTENT_CORRUPT at its end when it is not what was kept
   */
  readonly read: (content: string) => Iterable<Uint8Array>;
  /**
   * Removes what is too old, and content of the oldest changes while there is too much of it.
   * @param isThorough looks for all content that nothing names, also where nothing was removed
   */
  readonly sweep: (bounds: HistoryBounds, nowMs: number, isThorough?: boolean) => Promise<HistorySweep>;
  readonly close: () => Promise<void>;
}
