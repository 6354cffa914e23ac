/** The steps of a landing, and what is said of those that are not done. */
import type { ExecLanded } from "../../model/work/exec.ts";
import type { Change } from "./changes.ts";
import { parentOf, type Standing } from "./standing.ts";

/** A directory of the view that lands as one thing. */
export interface NewTree {
  /** What lies in it and lands, directories before what lies in them. */
  readonly kept: Change[];
  /** Whether all that lies in it lands, as it lies there. */
  isClean: boolean;
}

/** One step, which is one renaming or one change of rights. */
export interface Step {
  readonly kind: "remove" | "remove_directory" | "set_rights" | "put_file" | "put_link" | "put_tree";
  readonly path: string;
  /** Which directory of the workspace it is done in. */
  readonly parent: number;
  /** What stands there and is removed, or whose place is taken. */
  readonly over?: Standing;
  /** Whether that is of another kind, or a directory whose content goes with it. */
  readonly replaces?: true;
  /** Whether another file takes its place: what was there may have been moved. */
  readonly isOther?: boolean;
  /** Whether what is made may complete a repository with what others make beside it. */
  readonly mayShape?: boolean;
  /** Of a file that is put, how large it is. */
  readonly bytes?: number;
  /** What lands with a directory. */
  readonly tree?: NewTree;
}

/** Whether the step makes something. */
export function puts({ kind }: Pick<Step, "kind">): boolean {
  return kind === "put_file" || kind === "put_link" || kind === "put_tree";
}

/** Whether the step takes the place of a file or link. */
export function overwrites(step: Step): boolean {
  return puts(step) && step.over !== undefined && step.replaces !== true;
}

/** Bytes by which the step lets the workspace grow; negative where it takes away more than it puts. */
export function growth({ kind, bytes = 0, over, tree }: Step): number {
  const gone = kind === "set_rights" || over?.kind !== "file" ? 0 : over.bytes;
  const inside = (tree?.kept ?? []).reduce((sum, one) => sum + (one.kind === "file" ? (one.bytes ?? 0) : 0), 0);
  return bytes + inside - gone;
}

/** Whether the step removes something that stands there. */
export function removes({ kind, replaces }: Step): boolean {
  return kind === "remove" || kind === "remove_directory" || replaces === true;
}

/** Whether the step removes or replaces something of the workspace. */
export function takesAway(step: Step): boolean {
  return removes(step) || overwrites(step);
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
