/**
 * Does the work of branches on the machine: copies one, compares it, merges it.
 *
 * Who may do so, and which branch is whose, was decided before.
 */
import { closeSync, constants, openSync } from "node:fs";
import { GIB } from "../../base/bytes.ts";
import { inSlices } from "../../base/long-steps.ts";
import { FailureWithoutEffect, ToolFailure } from "../../model/outcome/failure.ts";
import type { Branch } from "../../model/place/branch.ts";
import type { CopyLimits } from "../copies/copy-limits.ts";
import { copyWorkspace } from "../copies/copy-workspace.ts";
import { nextTick } from "../landing/file-clock.ts";
import type { LandingTerms } from "../landing/land-view.ts";
import type { Landed } from "../landing/landing.ts";
import { neverMade } from "../landing/machine/failures.ts";
import type { ViewDirectories } from "../layers/view-directories.ts";
import { type BranchChange, branchChanges } from "./branch-changes.ts";
import { type Fork, readFork, writeFork } from "./fork-record.ts";
import { landMerge } from "./merge-landing.ts";
import { type MergeConflict, type MergeSides, planMerge } from "./merge-plan.ts";
import { isLookedAt, nestedRepositoriesIn } from "./nested-repositories.ts";
import { digestOf, sortedByPath } from "./whole-changes.ts";

/** Where a branch lies: its files, and the record of what it was made of; absolute. */
export interface BranchPlace {
  readonly tree: string;
  readonly fork: string;
}

/** What is compared. */
export interface Comparing {
  /** Whether a path is not looked at, nor what lies below it. */
  readonly isLeftOut: (path: string) => boolean;
  readonly signal?: AbortSignal;
}

/** What came of a merge. */
export type Merged =
  | { readonly kind: "conflict"; readonly conflicts: readonly MergeConflict[] }
  | ({ readonly kind: "landed"; readonly landed: Landed; readonly isLeft: boolean } & Compared);

/** What else is known of a comparison. */
export interface Compared {
  /** Directories with repositories of their own, whose commits and references a merge does not take. */
  readonly nested: readonly string[];
}

/** What one branch may hold: it is copied once, and not for each command. */
const BRANCH_LIMITS: CopyLimits = { entriesMax: 1_000_000, bytesMax: 16 * GIB };

const OPEN = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** A branch in the making; its tree is an empty directory. */
export interface CopiedBranch {
  /** An open descriptor of its parent. */
  readonly root: number;
  /** What is not in it. */
  readonly isHidden: (path: string) => boolean;
  readonly place: BranchPlace;
}

/** Copies one, and notes what was copied. @throws ToolFailure NOT_SUPPORTED where it is too large */
export async function copyBranch(
  { root, isHidden, place }: CopiedBranch,
  signal: AbortSignal,
): Promise<Pick<Branch, "way" | "entries">> {
  try {
    return await copied({ root, isHidden, place }, signal);
  } catch (error) {
    throw unmade(error);
  }
}

async function copied({ root, isHidden, place }: CopiedBranch, signal: AbortSignal) {
  const into = openSync(place.tree, OPEN);
  try {
    const sinceNs = await nextTick();
    const copying = copyWorkspace({ root, into, hidden: { has: isHidden }, limits: BRANCH_LIMITS, notesOrigins: true });
    const { result } = await inSlices("copying a workspace", copying, signal);
    const { manifest, isShared } = result;
    const noting = writeFork(place.fork, sinceNs, manifest);
    const { result: entries } = await inSlices("noting what was copied", noting, signal);
    return { way: isShared ? ("clone" as const) : ("copy" as const), entries };
  } finally {
    closeSync(into);
  }
}

/** What was changed on a branch since it was made. @param work gets it with an open descriptor of the branch's tree */
export async function compareBranch<Result>(
  place: BranchPlace,
  { isLeftOut, signal }: Comparing,
  work: (changes: readonly BranchChange[], tree: number, compared: Compared) => Promise<Result>,
): Promise<Result> {
  return await withTree(place, async (tree, fork) => {
    const { changes, nested } = await changesOf({ tree, fork, isLeftOut }, signal);
    return await work(changes, tree, { nested });
  });
}

/** What is merged into its parent. */
export interface MergedBranch extends Pick<Comparing, "isLeftOut">, Pick<MergeSides, "baseOf"> {
  readonly place: BranchPlace;
  /** An open descriptor of the parent, and its real path. */
  readonly parent: number;
  readonly parentPath: string;
  readonly terms: Omit<LandingTerms, "isWhole">;
  readonly views: () => Promise<ViewDirectories>;
  /**
   * Lets nobody begin to work on the branch any more, before it is looked whether somebody has written there meanwhile.
   * @returns whether somebody is still at work on it
   */
  readonly onLanded: () => Promise<boolean>;
  /** Told what would be merged, with an open descriptor of the branch's tree, before any of it is judged. */
  readonly onPlanned?: ((changes: readonly BranchChange[], tree: number) => Promise<void>) | undefined;
  /** What was shown to whoever merges, as `factsOf` says it: with other changes nothing happens. */
  readonly shown?: string | undefined;
}

/** Merges a branch into its parent; where it is in conflict, nothing happens. */
export async function mergeBranch(
  { place, parent, parentPath, isLeftOut, terms, views, baseOf, onPlanned, onLanded, shown }: MergedBranch,
  signal: AbortSignal,
): Promise<Merged> {
  return await withTree(place, async (tree, fork): Promise<Merged> => {
    const sinceNs = await nextTick();
    const { changes, nested } = await changesOf({ tree, fork, isLeftOut }, signal);
    if (shown !== undefined && (await factsOf(changes)) !== shown) throw otherThanShown();
    const plan = await planMerge({ tree, parent, ...fork, baseOf }, changes);
    if (plan.conflicts.length > 0) return { kind: "conflict", conflicts: plan.conflicts };
    await onPlanned?.(changes, tree);
    const directories = await views();
    const landed = await landMerge({ directories, tree, parent, parentPath, sinceNs, plan }, terms, signal);
    if (landed.isCut || landed.isAwaited === true || landed.notKept.length > 0)
      return { kind: "landed", landed, isLeft: true, nested };
    // calls that began before may have written there since, or do so yet
    const isOpen = (await onLanded()) || !(await isSame(changes, (await changesOf({ tree, fork, isLeftOut })).changes));
    return { kind: "landed", landed, isLeft: isOpen || nested.length > 0, nested };
  });
}

async function withTree<Result>(
  place: BranchPlace,
  work: (tree: number, fork: Fork) => Promise<Result>,
): Promise<Result> {
  const tree = openSync(place.tree, OPEN);
  try {
    return await work(tree, await readFork(place.fork));
  } finally {
    closeSync(tree);
  }
}

async function changesOf(
  { tree, fork, isLeftOut }: { readonly tree: number; readonly fork: Fork } & Pick<Comparing, "isLeftOut">,
  signal?: AbortSignal,
): Promise<Compared & { readonly changes: readonly BranchChange[] }> {
  const comparing = branchChanges(tree, fork.manifest, (path) => isLeftOut(path) && !isLookedAt(path));
  const { result } = await inSlices("comparing a branch with what it was", comparing, signal);
  const nested = nestedRepositoriesIn(result.filter(({ path }) => isLeftOut(path)));
  const sorting = sortedByPath(result.filter(({ path }) => !isLeftOut(path)));
  return { changes: (await inSlices("sorting what a branch changed", sorting, signal)).result, nested };
}

async function isSame(one: readonly BranchChange[], other: readonly BranchChange[]): Promise<boolean> {
  return (await factsOf(one)) === (await factsOf(other));
}

/** What was looked at of changes, as one short text: another text, another branch. */
export async function factsOf(changes: readonly BranchChange[]): Promise<string> {
  return (await inSlices("noting what a branch changed", digestOf(changes))).result;
}

function otherThanShown(): ToolFailure {
  return new FailureWithoutEffect(
    "RESOURCE_BUSY",
    "somebody has written on the branch since its changes were shown; nothing was merged",
    "look at what it changes now, once nobody works on it",
  );
}

/** `error` as the failure of a branch that could not be made: that of a copy says that a command did not run. */
export function unmade(error: unknown): unknown {
  if (!(error instanceof ToolFailure)) return neverMade(error);
  if (error.code !== "SANDBOX_UNAVAILABLE" && error.code !== "DISK_FULL") return error;
  const code = error.code === "DISK_FULL" ? error.code : "NOT_SUPPORTED";
  const message = error.message.replace(/; the command did not run$/, "");
  return new FailureWithoutEffect(code, `no branch could be made: ${message}`, error.suggestion);
}
