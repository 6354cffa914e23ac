/**
 * Plans a merge: what is taken, what is merged line by line, and what is in conflict.
 *
 * A path that changed on the branch alone is taken. One that changed on both sides alike needs nothing; of a text file
 * that changed in different lines both changes are taken, where it is known what it was before. All else is a conflict.
 *
 * INVARIANT: pure but for what it reads; nothing is decided by a side that is not looked at.
 */
import { closeSync, constants, fstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { diff3Merge } from "node-diff3";
import { MIB } from "../../base/bytes.ts";
import { blake3Hex } from "../../base/hash.ts";
import { asStep, inSlices } from "../../base/long-steps.ts";
import type { Manifest } from "../copies/manifest.ts";
import { OPEN_DIRECTORY } from "../landing/moves.ts";
import { nameOf, parentOf, pathIn, type Standing, standingAt } from "../landing/standing.ts";
import { openBeneath } from "../native/syscalls.ts";
import type { BranchChange } from "./branch-changes.ts";

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
  readonly why: "changed_on_both" | "removed_on_one" | "made_on_both";
}

/** What a merge comes to. */
export interface MergePlan {
  /** Taken as they are on the branch. */
  readonly taken: readonly BranchChange[];
  /** Files with both changes. */
  readonly merged: ReadonlyMap<string, Uint8Array>;
  readonly conflicts: readonly MergeConflict[];
}

/** Bytes of a file that is compared, shown or merged line by line. */
const READ_BYTES_MAX = MIB;
const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Plans the merge of `changes`. */
export async function planMerge(sides: MergeSides, changes: readonly BranchChange[]): Promise<MergePlan> {
  const { result } = await inSlices("comparing a branch with its parent", sorted(sides, changes));
  const { taken, both } = result;
  const merged = new Map<string, Uint8Array>();
  const conflicts: MergeConflict[] = [];
  for (const { change, there } of both) {
    const text = await mergedText(sides, change, there);
    if (text === undefined) conflicts.push({ path: change.path, why: whyOf(change, there) });
    else {
      taken.push(change);
      merged.set(change.path, text);
    }
  }
  return { taken, merged, conflicts };
}

/** A change of something that differs on the parent's side, too. */
interface OnBoth {
  readonly change: BranchChange;
  readonly there: Standing | undefined;
}

function* sorted(
  sides: MergeSides,
  changes: readonly BranchChange[],
): Generator<void, { readonly taken: BranchChange[]; readonly both: readonly OnBoth[] }> {
  const taken: BranchChange[] = [];
  const both: OnBoth[] = [];
  for (const change of changes) {
    const there = standingBeneath(sides.parent, change.path);
    if (!isChanged(sides, change, there) && !holdsMore(sides, change)) taken.push(change);
    else if (!isAlike(sides, change, there)) both.push({ change, there });
    yield;
  }
  return { taken, both };
}

/** What stands at a path below an open directory. */
export function standingBeneath(root: number, path: string): Standing | undefined {
  const parent = openBeneath(root, parentOf(path) || ".", OPEN_DIRECTORY, "plain");
  if (parent < 0) return undefined;
  try {
    return standingAt(parent, nameOf(path));
  } finally {
    closeSync(parent);
  }
}

/**
 * Whether the parent's side differs from what it was when the branch was made; a directory changes by its kind. A file
 * that came there with a directory of another name has an old time, and is another one.
 */
function isChanged({ sinceNs }: MergeSides, { was, origin }: BranchChange, there: Standing | undefined): boolean {
  if (was === undefined) return there !== undefined;
  if (there === undefined || there.kind !== was) return true;
  return was !== "directory" && (there.changedNs >= sinceNs || there.identity !== origin);
}

/**
 * Whether a directory that goes holds what was not in it when the branch was made, or what no branch sees: that would
 * go with it.
 */
function holdsMore({ parent, manifest }: MergeSides, { path, was, is }: BranchChange): boolean {
  if (was !== "directory" || is === "directory") return false;
  const directory = openBeneath(parent, path, OPEN_DIRECTORY, "plain");
  if (directory < 0) return false;
  try {
    const known = manifest.in(path);
    return readdirSync(`/proc/self/fd/${directory}`, { encoding: "buffer" }).some((bytes) => {
      const name = bytes.toString();
      return !Buffer.from(name).equals(bytes) || (known.get(name) ?? HIDDEN).kind === "hidden";
    });
  } finally {
    closeSync(directory);
  }
}

const HIDDEN = { kind: "hidden" } as const;

/** Whether both sides have come to the same. */
function isAlike(sides: MergeSides, { path, is, mode }: BranchChange, there: Standing | undefined): boolean {
  if (is === undefined) return there === undefined;
  if (there?.kind !== is) return false;
  if (is === "directory") return true;
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
  const base = kept === undefined || blake3Hex(kept) !== digest ? undefined : textOf(kept);
  const [own, other] = [tree, parent].map((root) => textOf(bytesAt(root, path, "file")));
  if (base === undefined || own === undefined || other === undefined) return undefined;
  const [ours, before, theirs] = [own, base, other].map(linesOf) as [string[], string[], string[]];
  if (pairsOf(ours, before) + pairsOf(theirs, before) > LINE_PAIRS_MAX) return undefined;
  const regions = asStep("merging the lines of a file", () =>
    diff3Merge(ours, before, theirs, { excludeFalseConflicts: true }),
  );
  if (regions.some(({ conflict }) => conflict !== undefined)) return undefined;
  return Buffer.from(regions.flatMap(({ ok = [] }) => ok).join(""));
}

/** What git keeps is no text, even where it looks like one. */
function isOfGit(path: string): boolean {
  return path.startsWith(".git/");
}

/** Pairs of equal lines in two versions: the time that comparing them takes grows with their number. */
const LINE_PAIRS_MAX = 1_000_000;

function pairsOf(one: readonly string[], other: readonly string[]): number {
  const counts = new Map<string, number>();
  for (const line of one) counts.set(line, (counts.get(line) ?? 0) + 1);
  return other.reduce((pairs, line) => pairs + (counts.get(line) ?? 0), 0);
}

/** Lines with their ends, so that a last one without an end stays so. */
function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

/** Text that is the same after it was written again; a file with a null byte is none. */
function textOf(bytes: Uint8Array | undefined): string | undefined {
  if (bytes === undefined || bytes.includes(0)) return undefined;
  const text = Buffer.from(bytes).toString("utf8");
  return Buffer.from(text).equals(bytes) ? text : undefined;
}

/** A file's bytes, or where a link leads; `undefined` for one that is too large or cannot be read. */
export function bytesAt(root: number, path: string, kind: "file" | "link"): Buffer | undefined {
  const parent = openBeneath(root, parentOf(path) || ".", OPEN_DIRECTORY, "plain");
  if (parent < 0) return undefined;
  try {
    if (kind === "link")
      return standingAt(parent, nameOf(path))?.kind === "link"
        ? readlinkSync(pathIn(parent, nameOf(path)), { encoding: "buffer" })
        : undefined;
    const file = openBeneath(parent, nameOf(path), READ, "plain");
    if (file < 0) return undefined;
    try {
      const found = fstatSync(file);
      return found.isFile() && found.size <= READ_BYTES_MAX ? readFileSync(file) : undefined;
    } finally {
      closeSync(file);
    }
  } finally {
    closeSync(parent);
  }
}
