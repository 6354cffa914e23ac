/**
 * Plans an undo: what each path has to become again, and whether it still is as the call left it.
 *
 * INVARIANT: nothing is planned for a path that is not as the call left it; a directory that the call made goes only
 * with what the call made in it.
 */
import { closeSync, constants, readdirSync } from "node:fs";
import type { FileChange, FileState, UnkeptReason } from "../../model/work/file-history.ts";
import { isPathTooLong } from "../../names/path-size.ts";
import { hashWriter, stateAt } from "../keeping/keeping.ts";
import { canGive, dueOwnerBeneath } from "../landing/machine/owners.ts";
import { openBeneath } from "../native/syscalls.ts";

/** What one call did to a path, all that it did there together. */
export interface WholeChange extends FileChange {
  /** Somebody else changed it between two changes of the call. */
  readonly isBroken?: true;
}

/**
 * What becomes of a path: `ready` to be undone; `done`, as it was before already; `changed` since; `unkept`, so that it
 * cannot come back; `left`, a directory that the call made and that holds more by now.
 */
export type UndoState = "ready" | "done" | "changed" | "unkept" | "left";

/** A path of an undo. */
export interface PlannedUndo {
  readonly change: WholeChange;
  readonly state: UndoState;
  readonly unkept?: UnkeptReason;
}

/** Whether a path that was stored may be one of a workspace: relative, and leading nowhere else. */
export function isInside(path: string): boolean {
  if (path === "" || path.includes("\0") || isPathTooLong(path)) return false;
  return path.split("/").every((name) => name !== "" && name !== "." && name !== "..");
}

/** All changes of a call, each path once. @param changes in the order in which they were made */
export function wholeChanges(changes: Iterable<FileChange>): readonly WholeChange[] {
  const whole = new Map<string, WholeChange>();
  for (const change of changes) {
    const earlier = whole.get(change.path);
    if (earlier === undefined) {
      whole.set(change.path, change);
      continue;
    }
    const { before: _replaced, after: _old, unkept = change.unkept, ...rest } = earlier;
    const isBroken = earlier.isBroken === true || !isAs(change.before, earlier.after);
    whole.set(change.path, {
      ...rest,
      ...(earlier.before && { before: earlier.before }),
      ...(change.after && { after: change.after }),
      ...(unkept !== undefined && { unkept }),
      ...(isBroken && { isBroken: true }),
    });
  }
  return [...whole.values()].sort((one, other) => (one.path < other.path ? -1 : 1));
}

/**
 * The changes of `paths` and of all below them; with a file in a directory that is gone comes the directory.
 * @param paths all when empty
 */
export function chosenChanges(changes: readonly WholeChange[], paths: readonly string[]): readonly WholeChange[] {
  if (paths.length === 0) return changes;
  const isNamed = ({ path }: WholeChange) => paths.some((one) => path === one || path.startsWith(`${one}/`));
  const named = changes.filter(isNamed);
  const above = new Set(named.flatMap(({ path }) => directoriesAbove(path)));
  return changes.filter(
    (one) => isNamed(one) || (above.has(one.path) && one.before?.kind === "directory" && one.after === undefined),
  );
}

function directoriesAbove(path: string): readonly string[] {
  const names = path.split("/");
  return names.slice(1).map((_, index) => names.slice(0, index + 1).join("/"));
}

const MODE = 0o1777;
/** What the owner of a directory keeps, whatever it is given: a closed one could not be moved. */
const OWNER = 0o700;

/** Whether a state is the other, as far as an undo brings states back. */
function isAs(one: FileState | undefined, other: FileState | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  if (one.kind !== other.kind) return false;
  if (one.kind === "directory") return ((one.mode ^ other.mode) & MODE & ~OWNER) === 0;
  const isSameMode = one.kind === "link" || ((one.mode ^ other.mode) & MODE) === 0;
  return isSameMode && one.content !== undefined && one.content === other.content;
}

/** Compares each path with what the call left there. @param root an open descriptor of the workspace */
export function* planUndo(root: number, changes: readonly WholeChange[]): Generator<void, readonly PlannedUndo[]> {
  const planned = new Map<string, PlannedUndo>();
  for (const change of changes) {
    planned.set(change.path, yield* plannedUndo(root, change));
    yield;
  }
  const parents = new Set(changes.flatMap(({ path, before }) => (before?.kind === "directory" ? [path] : [])));
  for (const one of [...planned.values()].reverse()) {
    const { change, state } = one;
    if (state !== "ready") continue;
    if (
      change.after?.kind === "directory" &&
      change.before?.kind !== "directory" &&
      !isOurs(root, change.path, planned)
    )
      planned.set(change.path, { change, state: change.before === undefined ? "left" : "changed" });
    else if (change.before !== undefined && !hasPlace(root, change.path, parents))
      planned.set(change.path, { change, state: "changed" });
    yield;
  }
  return [...planned.values()];
}

function* plannedUndo(root: number, change: WholeChange): Generator<void, PlannedUndo> {
  const { path, before, after, unkept, isBroken } = change;
  if (!isInside(path) || isBroken === true) return { change, state: "changed" };
  if (unkept !== undefined) return { change, state: "unkept", unkept };
  const hasContent = before === undefined || before.kind === "directory" || before.content !== undefined;
  if (!hasContent) return { change, state: "unkept", unkept: "not_stored" };
  const { state: now, unkept: unread } = yield* stateAt({ directory: root, path }, WHOLE);
  if (unread !== undefined) return { change, state: "changed" };
  if (isAs(now, after)) return keepsOwner(root, change) ? { change, state: "ready" } : notOurs(change);
  return { change, state: isAs(now, before) ? "done" : "changed" };
}

/** Whether what comes back can belong to whom it has to. */
function keepsOwner(root: number, { path, before }: WholeChange): boolean {
  const due = before === undefined ? undefined : dueOwnerBeneath(root, path, before.kind);
  return due === undefined || canGive(due);
}

function notOurs(change: WholeChange): PlannedUndo {
  return { change, state: "unkept", unkept: "owner_not_kept" };
}

/** All of a file is hashed, whatever it has. */
const WHOLE = {
  bytesMax: Number.MAX_SAFE_INTEGER,
  beyond: "too_large",
  writer: hashWriter,
  took: () => undefined,
} as const;

const OPEN_DIRECTORY = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** Whether everything in the directory goes with it. */
function isOurs(root: number, path: string, planned: ReadonlyMap<string, PlannedUndo>): boolean {
  const directory = openBeneath(root, path, OPEN_DIRECTORY, "plain");
  if (directory < 0) return false;
  try {
    return readdirSync(`/proc/self/fd/${directory}`, { encoding: "buffer" }).every((name) => {
      const one = planned.get(`${path}/${name.toString()}`);
      return Buffer.from(name.toString()).equals(name) && one?.state === "ready" && one.change.before === undefined;
    });
  } finally {
    closeSync(directory);
  }
}

/** Whether the directory in which it comes to stand is there, or comes with it. */
function hasPlace(root: number, path: string, parents: ReadonlySet<string>): boolean {
  const above = directoriesAbove(path).at(-1);
  if (above === undefined || parents.has(above)) return true;
  const directory = openBeneath(root, above, OPEN_DIRECTORY, "plain");
  if (directory < 0) return false;
  closeSync(directory);
  return true;
}
