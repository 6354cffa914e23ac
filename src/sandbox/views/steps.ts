/** The steps of a landing, and what is said of those that are not done. */
import type { ExecLanded } from "../../model/work/exec.ts";
import { parentOf } from "./standing.ts";

/**
 * One step. What is there before a file lands is replaced; before a directory is made it is removed by a step of its
 * own.
 */
export interface Step {
  readonly kind: "remove" | "remove_directory" | "make_directory" | "set_rights" | "put_file" | "put_link";
  readonly path: string;
  /** Whether something of another kind stands there and is removed before. */
  readonly replaces?: boolean;
  /** Whether a file or link stands there and is replaced. */
  readonly overwrites?: boolean;
  /** Which file or directory stood there, where one is to be removed or replaced. */
  readonly inode?: number;
  /** Bytes of the file or link that is replaced. */
  readonly bytes?: number;
  /** Whether another file takes its place: what was there may have been moved. */
  readonly isOther?: boolean;
  /** Whether what is made may complete a repository with what others make beside it. */
  readonly mayShape?: boolean;
}

/** Whether the step removes something that stands there. */
export function removes({ kind, replaces }: Step): boolean {
  return kind === "remove" || kind === "remove_directory" || replaces === true;
}

/** Whether the step removes or replaces something of the workspace. */
export function takesAway(step: Step): boolean {
  return removes(step) || step.overwrites === true;
}

/**
 * What is said of steps that are not done, so that nothing is taken away whose content may have been moved to where it
 * could not land.
 */
export function heldBack(steps: readonly Step[]): ExecLanded["notKept"] {
  const held = steps.filter(takesAway);
  const isInHeld = lyingBelow(new Set(held.map(({ path }) => path)));
  return held.filter(({ path }) => !isInHeld(path)).map(({ path }) => ({ path, reason: "held_back" }));
}

/** Tells of a path whether a directory above it is one of `paths`, each directory once. */
export function lyingBelow(paths: ReadonlySet<string>): (path: string) => boolean {
  if (paths.size === 0) return () => false;
  const known = new Map([["", false]]);
  const isInside = (directory: string): boolean => {
    const found = known.get(directory) ?? (paths.has(directory) || isInside(parentOf(directory)));
    known.set(directory, found);
    return found;
  };
  return (path) => isInside(parentOf(path));
}
