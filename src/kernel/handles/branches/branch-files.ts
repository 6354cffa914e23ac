/**
 * Describes what a branch changed, file by file, for somebody who may read it.
 *
 * Each file is compared with its parent's as it is now. INVARIANT: a diff is made of whole versions, so that no line
 * shows a part of a secret, and memory is bounded whatever the branch holds.
 */
import { MIB, textOf } from "../../../base/bytes.ts";
import { blake3Hex } from "../../../base/hash.ts";
import type { BranchFile } from "../../../model/work/branches.ts";
import { bytesAt, standingBeneath } from "../../../sandbox/branches/beneath.ts";
import type { BranchChange } from "../../../sandbox/branches/branch-changes.ts";
import { whyNeverMerged } from "../../../sandbox/branches/parent-side.ts";
import { lineChanges } from "../../../text/line-changes.ts";
import { DIFF_LINES_MAX, type DiffLimits, type HiddenIn, unifiedDiff } from "../../../text/unified-diff.ts";

/** Paths that an agent's description names, and of more than which nobody looks for renamings. */
const FILES_MAX = 1_000;
/** Bytes of all diffs together. */
const DIFFS_BYTES_MAX = 4 * MIB;

/** What is described. */
export interface DescribedBranch {
  readonly changes: readonly BranchChange[];
  /** Open descriptors: of the branch's tree, and of its parent. */
  readonly tree: number;
  readonly parent: number;
  readonly hidden: HiddenIn;
  /** Of a description for people, which names all paths. */
  readonly view?: PersonsView;
}

/** What a person is shown of a branch. */
export interface PersonsView {
  /** What to know of a path before anything else: such paths come first. */
  readonly noticeOf: (change: BranchChange) => string | undefined;
  /** Whether no difference is cut. */
  readonly isWhole?: boolean;
}

/** The files that changed; each step is one. */
export function* branchFiles({ changes, view, ...sides }: DescribedBranch): Generator<void, readonly BranchFile[]> {
  const files: BranchFile[] = [];
  const left = { bytes: view?.isWhole === true ? Number.POSITIVE_INFINITY : DIFFS_BYTES_MAX };
  const renamed = yield* renamings(changes, sides);
  const isTaken = new Set([...renamed.values()].map(({ path }) => path));
  const described = changes.filter(({ path }) => !isTaken.has(path)); // those are named where they went to
  const notices = yield* noticesOf(described, renamed, view);
  const [first, rest] = [true, false].map((is) => described.filter(({ path }) => notices.has(path) === is));
  for (const change of [...(first ?? []), ...(rest ?? [])]) {
    if (view === undefined && files.length >= FILES_MAX) break;
    const from = renamed.get(change.path);
    const file: BranchFile =
      from === undefined
        ? yield* fileOf(change, { ...sides, view }, left)
        : { ...factsOf(change), change: "rename", from: from.path };
    const notice = notices.get(change.path);
    const notMerged = whyNeverMerged(sides.parent, change);
    const isNamedOnly = view !== undefined && from === undefined && !isShownInFull(change, file);
    files.push({
      ...file,
      ...(notMerged !== undefined && { notMerged }),
      ...(notice !== undefined && { notice }),
      ...(isNamedOnly && { isNamedOnly }),
    });
    yield;
  }
  return files;
}

function* noticesOf(
  changes: readonly BranchChange[],
  renamed: ReadonlyMap<string, BranchChange>,
  view: PersonsView | undefined,
): Generator<void, ReadonlyMap<string, string>> {
  const notices = new Map<string, string>();
  if (view === undefined) return notices;
  for (const change of changes) {
    const from = renamed.get(change.path);
    const notice = view.noticeOf(change) ?? (from && view.noticeOf(from));
    if (notice !== undefined) notices.set(change.path, notice);
    yield;
  }
  return notices;
}

/** Whether all that lands of it stands in its description: of what goes nothing lands. */
function isShownInFull({ is }: BranchChange, { change, bytes, diff, linesOmitted }: BranchFile): boolean {
  if (is === undefined || is === "directory" || change === "mode" || bytes === 0) return true;
  return diff !== undefined && linesOmitted === undefined;
}

type Sides = Omit<DescribedBranch, "changes" | "view">;

/** A person sees lines in full. */
const WHOLE_LINES: DiffLimits = { linesMax: DIFF_LINES_MAX, lineMax: Number.POSITIVE_INFINITY };
const WHOLE: DiffLimits = { linesMax: Number.POSITIVE_INFINITY, lineMax: Number.POSITIVE_INFINITY };

/** Files that were made with the content of one that has gone, by their new path. */
function* renamings(
  changes: readonly BranchChange[],
  { tree, parent }: Sides,
): Generator<void, ReadonlyMap<string, BranchChange>> {
  const gone = changes.filter(({ was, is }) => was === "file" && is === undefined);
  const made = changes.filter(({ was, is, isHidden }) => was === undefined && is === "file" && isHidden !== true);
  const renamed = new Map<string, BranchChange>();
  if (gone.length === 0 || made.length === 0 || gone.length + made.length > FILES_MAX) return renamed;
  const byDigest = new Map<string, BranchChange>();
  for (const change of gone) {
    const bytes = bytesAt(parent, change.path, "file");
    if (bytes !== undefined && bytes.length > 0) byDigest.set(blake3Hex(bytes), change);
    yield;
  }
  for (const change of made) {
    const bytes = bytesAt(tree, change.path, "file");
    const digest = bytes === undefined ? "" : blake3Hex(bytes);
    const from = byDigest.get(digest);
    byDigest.delete(digest);
    if (from !== undefined) renamed.set(change.path, from);
    yield;
  }
  return renamed;
}

/** Rights where it was made from as they are now, where the branch has others. */
function rightsBefore({ path, was, is, mode = 0 }: BranchChange, parent: number): Pick<BranchFile, "modeBefore"> {
  const there = is === was && is !== "link" ? standingBeneath(parent, path) : undefined;
  const isOther = there !== undefined && there.kind === is && (there.mode & RIGHTS) !== mode;
  return isOther ? { modeBefore: octal(there.mode & RIGHTS) } : {};
}

const RIGHTS = 0o7777;

function octal(mode: number): string {
  return mode.toString(8).padStart(4, "0");
}

function factsOf({ path, was, is, mode, bytes }: BranchChange): Omit<BranchFile, "change"> {
  return {
    path,
    kind: is ?? was ?? "file",
    ...(is !== undefined && is !== "link" && mode !== undefined && { mode: octal(mode) }),
    ...(is === "file" && bytes !== undefined && { bytes }),
  };
}

function* fileOf(
  change: BranchChange,
  { tree, parent, hidden, view }: Sides & { readonly view: PersonsView | undefined },
  left: { bytes: number },
): Generator<void, BranchFile> {
  const { path, was, is } = change;
  const facts = { ...factsOf(change), ...rightsBefore(change, parent) };
  if (change.isHidden === true) return { ...facts, change: was === undefined ? "create" : "modify" };
  if (is === "directory" || (is === undefined && was === "directory"))
    return { ...facts, change: is === undefined ? "delete" : was === undefined ? "create" : "mode" };
  const kind = was === undefined ? "create" : is === undefined ? "delete" : "modify";
  if (left.bytes <= 0 && kind !== "modify") return { ...facts, change: kind };
  const before = was === undefined || was === "directory" ? NOTHING : bytesAt(parent, path, was);
  const after = is === undefined ? NOTHING : bytesAt(tree, path, is);
  if (before === undefined || after === undefined) return { ...facts, change: kind };
  if (kind === "modify" && before.equals(after)) return { ...facts, change: "mode" };
  if (![before, after].every(isText)) return { ...facts, change: kind, isBinary: true };
  const edited = { original: before, changes: yield* lineChanges(before, after), updated: after };
  const limits = view === undefined ? undefined : view.isWhole === true ? WHOLE : WHOLE_LINES;
  const { text, linesOmitted } = unifiedDiff(path, edited, { hidden, ...(limits && { limits }) });
  left.bytes -= text.length;
  if (left.bytes < 0) return { ...facts, change: kind };
  return { ...facts, change: kind, diff: text, ...(linesOmitted > 0 && { linesOmitted }) };
}

const NOTHING = Buffer.alloc(0);

function isText(bytes: Uint8Array): boolean {
  return !bytes.includes(0) && textOf(bytes) !== undefined;
}
