/**
 * Port: the marks that follow a principal in a workspace, whatever session it acts through.
 *
 * INVARIANT: raising only combines, so that concurrent raises of any processes add up; only a declassification, which a
 * person makes, takes a mark back.
 */
import type { Mark } from "../model/outcome/label.ts";

/** Who is marked, and where. */
export interface MarkOwner {
  readonly userId: string;
  readonly agentId: string;
  readonly serviceRoot: string;
}

/** A mark as listed. */
export interface OwnedMark extends MarkOwner {
  readonly mark: Mark;
  /** Milliseconds since the Unix epoch of the last change. */
  readonly changedAtMs: number;
}

/** Whose marks, and where; absent members mean every one. */
export type MarkSelection = Partial<MarkOwner>;

/** What came of a raise: `after` is `before` itself when nothing changed. */
export interface RaisedMark {
  readonly before: Mark;
  readonly after: Mark;
}

/** What an owner has seen, and the mark that it began with. */
export interface MarkRaise {
  readonly initial: Mark;
  readonly seen: Mark;
}

/** The mark that is expected, and the one in its place. */
export interface MarkChange {
  readonly expected: Mark;
  readonly mark: Mark;
}

/** A store of marks. Failures are `KernelError`s: `STORE_UNAVAILABLE` or `STORE_CORRUPT`. */
export interface MarkStore {
  /** The mark, or `undefined` for one that never saw anything. */
  readonly findMark: (owner: MarkOwner) => Promise<Mark | undefined>;
  /**
   * Combines the stored mark (`initial` when there is none) with `seen`; durable once resolved. Writes only what
   * changes.
   */
  readonly raiseMark: (owner: MarkOwner, by: MarkRaise, atMs: number) => Promise<RaisedMark>;
  /**
   * Sets a mark that is as `expected`: a declassification. Durable once resolved; resolves with the mark that was
   * there, and leaves it alone when it was another one. `undefined` when there was none.
   */
  readonly replaceMark: (owner: MarkOwner, change: MarkChange, atMs: number) => Promise<Mark | undefined>;
  /** The selected marks, last changed first, at most `STORE_LIST_MAX`. */
  readonly listMarks: (selection: MarkSelection) => Promise<readonly OwnedMark[]>;
}
