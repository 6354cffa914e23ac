/**
 * Plans a merge: what is taken, what is merged line by line, and what is in conflict.
 *
 * A path that changed on the branch alone is taken. One that changed on both sides alike needs nothing; of a text file
 * that changed in different lines both changes are taken, where it is known what it was before. All else is a conflict.
 *
 * INVARIANT: pure but for what it reads; nothing is decided by a side that is not looked at.
 */
import { textOf } from "../../base/bytes.ts";
import { blake3Hex } from "../../base/hash.ts";
import { inSlices } from "../../base/long-steps.ts";
import { threeWayMerge } from "../../text/three-way-merge.ts";
import type { Manifest } from "../copies/manifest.ts";
import type { Standing } from "../landing/standing.ts";
import { bytesAt, standingBeneath } from "./beneath.ts";
import type { BranchChange } from "./branch-changes.ts";
import { hasSameRights, holdsMore, isOther } from "./parent-side.ts";

/** Both sides of a merge. */
export interface MergeSides {
  /** An open descriptor of the branch's tree, and one of its parent's. */
  readonly tree: number;
  readonly parent: number;
  readonly manifest: Manifest;
  /** As `Fork` has it. */
  readonly sinceNs: bigint;
  /** What a file was when the branch was made, where that is known. */
  readonly baseOf: (path: string) => Promise<Uint8Array | undefined>;
}

/** What keeps a branch from being merged. */
export interface MergeConflict {
  readonly path: string;
  readonly why: "changed_on_both" | "removed_on_one" | "made_on_both" | "hidden_from_branch";
}

/** What a merge comes to. */
export interface MergePlan {
  /** Taken as they are on the branch. */
  readonly taken: readonly BranchChange[];
  /** Files with both changes. */
  readonly merged: ReadonlyMap<string, Uint8Array>;
  readonly conflicts: readonly MergeConflict[];
}

/** Plans the merge of `changes`. */
export async function planMerge(sides: MergeSides, changes: readonly BranchChange[]): Promise<MergePlan> {
  const { result } = await inSlices("comparing a branch with its parent", sorted(sides, changes));
  const { taken, both } = result;
  const merged = new Map<string, Uint8Array>();
  const conflicts: MergeConflict[] = [...result.hidden];
  for (const { change, there } of both) {
    const text = await mergedText(sides, change, there);
    if (text === undefined) conflicts.push({ path: change.path, why: whyOf(change, there) });
    else {
      taken.push(change);
      merged.set(change.path, text);
    }
  }
  return { taken, merged, conflicts: conflicts.sort((one, other) => (one.path < other.path ? -1 : 1)) };
}

/** A change of something that differs on the parent's side, too. */
interface OnBoth {
  readonly change: BranchChange;
  readonly there: Standing | undefined;
}

interface Sorted {
  readonly taken: BranchChange[];
  readonly both: readonly OnBoth[];
  readonly hidden: readonly MergeConflict[];
}

function* sorted(sides: MergeSides, changes: readonly BranchChange[]): Generator<void, Sorted> {
  const taken: BranchChange[] = [];
  const both: OnBoth[] = [];
  const hidden: MergeConflict[] = [];
  for (const change of changes) {
    yield;
    if (change.isHidden === true) {
      hidden.push({ path: change.path, why: "hidden_from_branch" });
      continue;
    }
    const there = standingBeneath(sides.parent, change.path);
    if (!isOther(sides, change, there) && !holdsMore(sides, change)) taken.push(change);
    else if (!isAlike(sides, change, there)) both.push({ change, there });
  }
  return { taken, both, hidden };
}

/** Whether both sides have come to the same. */
function isAlike(sides: MergeSides, { path, was, is, mode }: BranchChange, there: Standing | undefined): boolean {
  if (is === undefined) return there === undefined;
  if (there?.kind !== is) return false;
  if (is === "directory") return was !== is || hasSameRights(mode, there.mode);
  const [own, other] = [bytesAt(sides.tree, path, is), bytesAt(sides.parent, path, is)];
  const isSameMode = is === "link" || (mode ?? 0) === (there.mode & 0o7777);
  return own !== undefined && other !== undefined && own.equals(other) && isSameMode;
}

function whyOf({ was, is }: BranchChange, there: Standing | undefined): MergeConflict["why"] {
  if (was === undefined) return "made_on_both";
  return is === undefined || there === undefined ? "removed_on_one" : "changed_on_both";
}

/** Both changes of a text file; `undefined` where they touch the same lines, or it cannot be said. */
async function mergedText(
  { tree, parent, baseOf }: MergeSides,
  { path, was, is, base: digest }: BranchChange,
  there: Standing | undefined,
): Promise<Uint8Array | undefined> {
  if (was !== "file" || is !== "file" || there?.kind !== "file" || isOfGit(path)) return undefined;
  const kept = digest === undefined ? undefined : await baseOf(path);
  // what is kept begins with the first change that is known, which need not be the first
  const base = kept === undefined || blake3Hex(kept) !== digest ? undefined : kept;
  const [ours, theirs] = [tree, parent].map((root) => bytesAt(root, path, "file"));
  if (base === undefined || ours === undefined || theirs === undefined) return undefined;
  if (![base, ours, theirs].every(isText)) return undefined;
  return (await inSlices("merging the lines of a file", threeWayMerge(base, ours, theirs))).result;
}

/** What git keeps is no text, even where it looks like one. */
function isOfGit(path: string): boolean {
  return path.startsWith(".git/");
}

/** Whether it is text that is the same after it was written again; a file with a null byte is none. */
function isText(bytes: Uint8Array): boolean {
  return !bytes.includes(0) && textOf(bytes) !== undefined;
}
