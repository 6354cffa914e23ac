/**
 * Finds what a command changed in its copy, and moves that to where an overlay would have put it.
 *
 * What is as it was copied stays. What is new or other moves to the upper directory of the view; what has gone is named
 * alone. So planning, judging and landing are the same for both kinds of views.
 *
 * INVARIANT: it is called when nothing of the command is left; a directory is gone into only where it is the one that
 * was copied, so that no link is followed.
 */
import { type BigIntStats, chmodSync, lstatSync, mkdirSync, renameSync } from "node:fs";
import { identityOf } from "../host/file-identity.ts";
import {
  addChange,
  type Change,
  changeOf,
  changesIn,
  isNameable,
  openedEntries,
  SANDBOX_CHANGES_MAX,
  type Upper,
} from "../landing/changes.ts";
import { hasSameBytesBeneath } from "../landing/standing.ts";
import { SANDBOX_ENTRIES_PER_STEP } from "../plan/workspace-mounts.ts";
import { type CopiedEntry, type Manifest, stampOf } from "./manifest.ts";

/** A copy whose command has ended. */
export interface EndedCopy {
  /** A path of the copy that stays short, such as one of a descriptor. */
  readonly merged: string;
  readonly manifest: Manifest;
  /**
   * Where the copy's file system does not tell of everything that is written by its times: an open descriptor of the
   * workspace, and nanoseconds of the time from which on what changed there is somebody else's.
   */
  readonly unlike?: { readonly root: number; readonly sinceNs: bigint } | undefined;
}

/**
 * Lists the changes, directories before what lies in them, in no other order.
 * @param upper the empty directory for what has changed
 * @throws ToolFailure OUTPUT_LIMIT when there are too many
 */
export function* copiedChanges(copy: EndedCopy, upper: Omit<Upper, "isCopied">): Generator<void, readonly Change[]> {
  return yield* new Comparing(copy, { ...upper, isCopied: true }).all();
}

const RIGHTS = 0o7777;
/** What the owner of a directory keeps, so that whoever looks after it can. */
const OWNER = 0o700;

class Comparing {
  readonly #copy: EndedCopy;
  readonly #upper: Upper;
  readonly #changes: Change[] = [];
  /** Directories that stand in the upper directory because of what lies in them. */
  readonly #stands = new Set<string>([""]);
  /** Rights of directories as the command left them. */
  readonly #modes = new Map<string, number>();

  constructor(copy: EndedCopy, upper: Upper) {
    this.#copy = copy;
    this.#upper = upper;
  }

  *all(): Generator<void, readonly Change[]> {
    const open = [""];
    for (let directory = open.pop(); directory !== undefined; directory = open.pop()) {
      for (const name of yield* this.#compare(directory)) open.push(below(directory, name));
      yield;
    }
    for (const path of this.#stands)
      if (path !== "") chmodSync(this.#aside(path), (this.#modes.get(path) ?? 0) | OWNER);
    return this.#changes;
  }

  /** Compares one directory. @returns the names of directories in it that are those that were copied */
  *#compare(directory: string): Generator<void, readonly string[]> {
    const known = this.#copy.manifest.in(directory);
    const found = yield* openedEntries(this.#at(directory), known.size + SANDBOX_CHANGES_MAX);
    const same: string[] = [];
    const seen = new Set<string>();
    for (const [index, { name: bytes }] of found.entries()) {
      if (index % SANDBOX_ENTRIES_PER_STEP === SANDBOX_ENTRIES_PER_STEP - 1) yield;
      const name = bytes.toString();
      const path = below(directory, name);
      if (!isNameable(path, bytes, this.#upper.pathBytesMax)) {
        this.#note(path, changeOf(this.#upper, path, bytes));
        continue;
      }
      seen.add(name);
      const entry = known.get(name);
      if (entry?.kind === "hidden") continue;
      const now = lstatSync(this.#at(path), { bigint: true });
      const isSame = entry !== undefined && kindOf(now) === entry.kind && identityOf(now) === entry.identity;
      if (isSame && entry.kind === "directory") {
        this.#modes.set(path, Number(now.mode) & RIGHTS);
        if (Number(now.mode) !== entry.mode) this.#stand(path);
        same.push(name);
      } else if (!isSame || (yield* this.#isOther(path, entry, now))) yield* this.#take(path, bytes, { entry, isSame });
    }
    for (const [name, { kind }] of known)
      if (!seen.has(name) && kind !== "hidden")
        this.#note(below(directory, name), {
          path: below(directory, name),
          kind: "gone",
          isReplaced: false,
          isCopy: false,
        });
    return same;
  }

  *#isOther(path: string, entry: CopiedEntry, now: BigIntStats): Generator<void, boolean> {
    if (entry.kind === "directory" || entry.kind === "hidden") return false;
    if (stampOf(now) !== entry.stamp) return true;
    const { unlike } = this.#copy;
    if (unlike === undefined || entry.kind === "link") return false;
    return (yield* hasSameBytesBeneath(this.#at(path), path, unlike)) === false;
  }

  /** Moves what is new, or other than it was. */
  *#take(
    path: string,
    name: Buffer,
    { entry, isSame }: { readonly entry: CopiedEntry | undefined; readonly isSame: boolean },
  ): Generator<void> {
    this.#standAbove(path);
    const found = lstatSync(this.#at(path));
    const isClosed = found.isDirectory() && (found.mode & OWNER) !== OWNER; // where its parent is stands in it
    if (isClosed) chmodSync(this.#at(path), (found.mode & RIGHTS) | OWNER);
    renameSync(this.#at(path), this.#aside(path));
    const moved = changeOf(this.#upper, path, name);
    const isReplaced = moved.kind === "directory" && entry !== undefined;
    addChange(this.#changes, { ...moved, mode: found.mode, isReplaced, isCopy: isSame && moved.kind === "file" });
    if (moved.kind === "directory") yield* changesIn(this.#upper, path, this.#changes);
  }

  #note(path: string, change: Change): void {
    this.#standAbove(path);
    addChange(this.#changes, change);
  }

  #standAbove(path: string): void {
    this.#stand(path.slice(0, Math.max(0, path.lastIndexOf("/"))));
  }

  /** Makes the directory stand in the upper one, as it does where something in it has changed. */
  #stand(path: string): void {
    if (this.#stands.has(path)) return;
    this.#standAbove(path);
    this.#stands.add(path);
    mkdirSync(this.#aside(path), OWNER);
    const mode = this.#modes.get(path) ?? 0;
    addChange(this.#changes, { path, kind: "directory", isReplaced: false, isCopy: true, bytes: 0, mode });
  }

  #at(path: string): string {
    return `${this.#copy.merged}/${path}`;
  }

  #aside(path: string): string {
    return `${this.#upper.upper}/${path}`;
  }
}

function below(directory: string, name: string): string {
  return directory === "" ? name : `${directory}/${name}`;
}

function kindOf(found: BigIntStats): CopiedEntry["kind"] | undefined {
  if (found.isFile()) return "file";
  if (found.isDirectory()) return "directory";
  return found.isSymbolicLink() ? "link" : undefined;
}
