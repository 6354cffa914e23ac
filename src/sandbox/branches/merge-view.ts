/**
 * Puts what a merge takes into a view of the parent, as a command would have left it there.
 *
 * So a merge is judged, shown, journalled and landed by the very code that lands what commands change.
 *
 * INVARIANT: what is put there is what was looked at: a file that changed since is refused.
 */
import {
  type BigIntStats,
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  lchownSync,
  mkdirSync,
  openSync,
  writeFileSync,
} from "node:fs";
import { ToolFailure } from "../../model/outcome/failure.ts";
import { stampOf } from "../copies/manifest.ts";
import { copyBytes } from "../files/copy-content.ts";
import type { Change } from "../landing/changes.ts";
import { dueOwnerBeneath } from "../landing/machine/owners.ts";
import { OPEN_DIRECTORY } from "../landing/moves.ts";
import { nameOf, parentOf, pathIn } from "../landing/standing.ts";
import { accessListOf, cloneFile, setAccessList, setTimes } from "../native/layer-calls.ts";
import { makeLink, openBeneath } from "../native/syscalls.ts";
import { bytesAt } from "./beneath.ts";
import type { BranchChange, BranchKind } from "./branch-changes.ts";
import type { MergePlan } from "./merge-plan.ts";

/** Where the changes come from, and where they are put. */
export interface MergeWork {
  /** Open descriptors: of the branch's tree, of its parent, and of the empty directory. */
  readonly tree: number;
  readonly parent: number;
  readonly upper: number;
}

const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const OWNER_FILE = 0o600;
const RIGHTS = 0o777;
const GROUP = 0o070;
const OWNER_DIRECTORY = 0o700;

/** Fills the view. @returns the changes, directories before what lies in them */
export function* fillMerge(work: MergeWork, plan: Omit<MergePlan, "conflicts">): Generator<void, readonly Change[]> {
  const filling = new Filling(work);
  for (const change of plan.taken) {
    if (change.is === undefined) filling.gone(change);
    else if (change.is === "directory") filling.directory(change);
    else if (change.is === "link") filling.link(change);
    else yield* filling.file(change, plan.merged.get(change.path));
    yield;
  }
  return filling.changes;
}

class Filling {
  readonly #work: MergeWork;
  readonly #made = new Set<string>([""]);
  /** Directories that go, or whose place something else takes. */
  readonly #replaced = new Set<string>();
  readonly #owner: { readonly uid: number; readonly gid: number };
  readonly changes: Change[] = [];

  constructor(work: MergeWork) {
    this.#work = work;
    this.#owner = fstatSync(work.parent);
  }

  gone({ path, was }: BranchChange): void {
    if (this.#isInReplaced(path)) return;
    if (was === "directory") this.#replaced.add(path);
    this.#above(path);
    this.changes.push({ path, kind: "gone", isReplaced: false, isCopy: false });
  }

  directory({ path, was, mode = 0 }: BranchChange): void {
    this.#above(path);
    this.#make(path, mode, was);
  }

  link({ path, was }: BranchChange): void {
    const parent = this.#above(path);
    if (was === "directory") this.#replaced.add(path);
    const points = bytesAt(this.#work.tree, path, "link");
    if (points === undefined) throw changedMeanwhile(path);
    const into = openBeneath(this.#work.upper, parent || ".", OPEN_DIRECTORY, "plain");
    try {
      if (into < 0 || makeLink(into, nameOf(path), points, this.#owner) < 0) throw cannotPut(path);
    } finally {
      if (into >= 0) closeSync(into);
    }
    this.changes.push({
      path,
      kind: "link",
      isReplaced: false,
      isCopy: false,
      bytes: points.length,
      mode: 0o777,
      names: 1,
    });
  }

  *file({ path, was, mode = 0, stamp }: BranchChange, merged: Uint8Array | undefined): Generator<void> {
    this.#above(path);
    if (was === "directory") this.#replaced.add(path);
    const source = openBeneath(this.#work.tree, path, READ, "plain");
    if (source < 0) throw changedMeanwhile(path);
    try {
      const made = openSync(pathIn(this.#work.upper, path), NEW_FILE, OWNER_FILE);
      try {
        if (merged !== undefined) writeFileSync(made, merged);
        else if (cloneFile(source, made) < 0) yield* copyBytes(source, made);
        const found = fstatSync(source, { bigint: true });
        if (!found.isFile() || stampOf(found) !== stamp) throw changedMeanwhile(path);
        this.#giveFile(made, merged === undefined ? found : undefined, path);
        const list = accessListOf(source);
        const isLost = list !== undefined && !setAccessList(`/proc/self/fd/${made}`, list);
        // without the list the group's rights, which bound all whom it names, would be the group's own
        fchmodSync(made, mode & (isLost ? RIGHTS & ~GROUP : RIGHTS));
        const bytes = fstatSync(made).size;
        this.changes.push({
          path,
          kind: "file",
          isReplaced: false,
          isCopy: was === "file",
          bytes,
          mode: constants.S_IFREG | (mode & RIGHTS),
          names: 1,
        });
        if (merged !== undefined) return;
        const into = openBeneath(this.#work.upper, parentOf(path) || ".", OPEN_DIRECTORY, "plain");
        setTimes(into, nameOf(path), found);
        closeSync(into);
      } finally {
        closeSync(made);
      }
    } finally {
      closeSync(source);
    }
  }

  /** Root's merge keeps whose a file is on the branch; lines of both sides belong to whom the parent's file does. */
  #giveFile(made: number, onBranch: BigIntStats | undefined, path: string): void {
    if (process.geteuid?.() !== 0) return; // whose it has to be is looked at where it lands
    const due = onBranch === undefined ? dueOwnerBeneath(this.#work.parent, path, "file") : undefined;
    const { uid, gid } = onBranch ?? { uid: due?.userId ?? this.#owner.uid, gid: due?.groupId ?? this.#owner.gid };
    fchownSync(made, Number(uid), Number(gid));
  }

  /** Whether a directory above goes: what lay in it goes with that. */
  #isInReplaced(path: string): boolean {
    for (let parent = parentOf(path); parent !== ""; parent = parentOf(parent))
      if (this.#replaced.has(parent)) return true;
    return false;
  }

  /** Lets the directories above stand in the view, with the rights that they have. @returns the nearest one */
  #above(path: string): string {
    const parent = parentOf(path);
    if (this.#made.has(parent)) return parent;
    this.#above(parent);
    const there = openBeneath(this.#work.parent, parent, OPEN_DIRECTORY, "plain");
    if (there < 0) throw changedMeanwhile(parent);
    try {
      this.#make(parent, fstatSync(there).mode, "directory");
    } finally {
      closeSync(there);
    }
    return parent;
  }

  #make(path: string, mode: number, was: BranchKind | undefined): void {
    if (this.#made.has(path)) return;
    this.#made.add(path);
    const at = pathIn(this.#work.upper, path);
    mkdirSync(at, OWNER_DIRECTORY);
    if (process.geteuid?.() === 0) lchownSync(at, this.#owner.uid, this.#owner.gid);
    chmodSync(at, (mode & RIGHTS) | OWNER_DIRECTORY);
    this.changes.push({
      path,
      kind: "directory",
      isReplaced: was !== undefined && was !== "directory",
      isCopy: was === "directory",
      bytes: 0,
      mode: constants.S_IFDIR | (mode & RIGHTS) | OWNER_DIRECTORY,
    });
  }
}

function changedMeanwhile(path: string): ToolFailure {
  return new ToolFailure("RESOURCE_BUSY", `\`${path}\` changed while the branch was merged; nothing was merged`, {
    suggestion: "try again once nobody writes there",
    retryAfterMs: 1000,
  });
}

function cannotPut(path: string): ToolFailure {
  return new ToolFailure("IO_ERROR", `\`${path}\` cannot be taken over; nothing was merged`, "try again");
}
