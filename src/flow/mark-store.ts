/**
 * Port: the marks that follow a principal in a workspace, whatever session it acts through.
 *
 * INVARIANT: raising only combines, so that concurrent raises of any processes add up; only a declassification, which a
 * person makes, takes a mark back.
 */
import type { Mark } from "../model/label.ts";

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

/** A store of marks. Failures are `KernelError`s: `STORE_UNAVAILABLE` or `STORE_CORRUPT`. */
export interface MarkStore {
  /** The mark, or `undefined` for one that never saw anything. */
  readonly findMark: (owner: MarkOwner) => Promise<Mark | undefined>;
  /** Combines the stored mark (`initial` when there is none) with `seen`; durable once resolved with the mark as it is now. */
  readonly raiseMark: (owner: MarkOwner, initial: Mark, seen: Mark, atMs: number) => Promise<Mark>;
  /** Sets the mark, whatever it was: a declassification. Durable once resolved; `undefined` when there was none. */
  readonly replaceMark: (owner: MarkOwner, mark: Mark, atMs: number) => Promise<Mark | undefined>;
  /** Last changed first, bounded. */
  readonly listMarks: () => Promise<readonly OwnedMark[]>;
}
