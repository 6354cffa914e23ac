/**
 * Brings back what a call changed in the files of a workspace, all of it or nothing.
 *
 * What stood there before is written to a view of its own, which then lands as what commands change lands: prepared
 * aside, noted on disk, moved name by name, taken back as a whole where anything is not as it was looked at, or by the
 * next kernel where this one is killed.
 *
 * INVARIANTS: the workspace is reached from one open directory, and no link is followed in it; the locks of file tools
 * are held from before the comparison until all has landed; what anybody changed after the comparison keeps all of it
 * from landing; content is compared with its hash before anything is moved.
 */
import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  lchownSync,
  mkdirSync,
  openSync,
  statSync,
  symlinkSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { type KernelError, usageError } from "../../base/errors.ts";
import { inSlices } from "../../base/long-steps.ts";
import type { FileState } from "../../model/work/file-history.ts";
import type { NewFiles } from "../files/new-files.ts";
import { repositoryLockOf } from "../git/lock-names.ts";
import type { Keeping } from "../keeping/keeping.ts";
import type { Change } from "../landing/changes.ts";
import { nextTick, timeOf } from "../landing/file-clock.ts";
import { landView } from "../landing/land-view.ts";
import { dueOwnerBeneath } from "../landing/machine/owners.ts";
import { ViewDirectories, type ViewDirectory, type ViewNames } from "../layers/view-directories.ts";
import { O_PATH, ownPath } from "../native/syscalls.ts";
import type { ScopeJudge } from "../plan/workspace-mounts.ts";
import { type HeldFiles, type HoldingScope, holdFiles } from "./held-files.ts";
import { type PlannedUndo, planUndo, type WholeChange } from "./undo-plan.ts";

/** What an undo works with. */
export interface UndoParts extends HoldingScope {
  /** The root of the workspace, a real path. */
  readonly rootPath: string;
  /** Where views lie, and their names. */
  readonly viewsDirectory: string;
  readonly viewNames: ViewNames;
  readonly newFiles: NewFiles;
  /** Notes what the undo changes, so that it can be undone. */
  readonly keeping?: Keeping | undefined;
  /** Content that was kept. @throws (while iterating) ToolFailure where it is not there, or not what was kept */
  readonly read: (content: string) => Iterable<Uint8Array>;
  /** Told what would be undone, before anything is; what it throws keeps all of it from being. */
  readonly before: (planned: readonly PlannedUndo[]) => Promise<void>;
}

/** What came of it. */
export interface Undone {
  readonly planned: readonly PlannedUndo[];
  readonly isUndone: boolean;
  /** Paths that somebody changed while it was undone, so that nothing was. */
  readonly meanwhile: readonly string[];
}

/** Whether all that is planned can be undone. */
export function isPossible(planned: readonly PlannedUndo[]): boolean {
  return planned.every(({ state }) => state !== "changed" && state !== "unkept");
}

/** Compares the workspace with what the call left. @throws KernelError USAGE where the workspace is not there */
export async function lookAtUndo(rootPath: string, changes: readonly WholeChange[]): Promise<readonly PlannedUndo[]> {
  const root = openRoot(rootPath);
  try {
    return (await inSlices("comparing what is to be undone", planUndo(root, changes))).result;
  } finally {
    closeSync(root);
  }
}

/**
 * Undoes `changes`, if each is as the call left it.
 * @throws KernelError USAGE where the workspace is not there; ToolFailure for content that is not there, files that
 * others change at the time, or a disk that takes no more
 */
export async function undoChanges(parts: UndoParts, changes: readonly WholeChange[]): Promise<Undone> {
  const root = openRoot(parts.rootPath);
  const directories = new ViewDirectories(parts.viewsDirectory, parts.viewNames);
  let held: HeldFiles | undefined;
  let view: ViewDirectory | undefined;
  let isKept = false;
  const keep = () => {
    isKept = true;
  };
  try {
    held = await holdFiles(parts, root, changes);
    view = directories.make(undefined);
    const place = { root, view, held, keep };
    return await undoIn(parts, place, changes);
  } finally {
    await held?.release();
    if (!isKept) view?.dispose();
    await directories.settled();
    closeSync(root);
  }
}

/** Where it is done. */
interface UndoPlace {
  readonly root: number;
  readonly view: ViewDirectory;
  readonly held: HeldFiles;
  readonly keep: () => void;
}

async function undoIn(parts: UndoParts, place: UndoPlace, changes: readonly WholeChange[]): Promise<Undone> {
  const { root, view, held, keep } = place;
  const isSame = fstatSync(root).dev === statSync(view.path).dev;
  const sinceNs = isSame ? timeOf(view.path) : await nextTick();
  const planned = (await inSlices("comparing what is to be undone", planUndo(root, changes))).result;
  const ready = planned.filter(({ state }) => state === "ready").map(({ change }) => change);
  if (!isPossible(planned) || ready.length === 0) return { planned, isUndone: false, meanwhile: [] };
  const upperPath = join(view.path, "upper");
  await inSlices("reading what is brought back", writeUpper({ ...parts, root, upperPath }, ready));
  await parts.before(planned);
  const upper = openSync(upperPath, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    held.requireFresh();
    const ended = {
      directory: view.path,
      rootPath: parts.rootPath,
      root,
      upper,
      sinceNs,
      known: () => undefined,
      admit: () => undefined,
      keep,
    };
    const { newFiles, keeping, signal } = parts;
    const terms = { judge: EVERYTHING, newFiles, keeping, isWhole: true, lockOf: repositoryLockOf };
    const landed = await landView({ view: ended, changes: landingOf(ready) }, terms, signal);
    const isUndone = landed.created + landed.changed + landed.removed > 0;
    const others = landed.notKept.map(({ path }) => path);
    // what was to go and has gone by somebody else's hand is named by nobody
    const meanwhile = isUndone || others.length > 0 ? others : ready.map(({ path }) => path);
    return { planned, isUndone, meanwhile };
  } finally {
    closeSync(upper);
  }
}

/** A person's undo writes whatever the call wrote. A repository is one thing: git's own files have any name. */
const EVERYTHING: ScopeJudge = {
  entry: () => "write",
  below: () => "write",
  isWhole: (directory) => directory === ".git" || directory.endsWith("/.git"),
};

function openRoot(path: string): number {
  const opened = tryOpen(path);
  if (ownPath(opened) === path) return opened;
  closeSync(opened);
  throw gone(path);
}

function tryOpen(path: string): number {
  try {
    return openSync(path, O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  } catch (error) {
    throw gone(path, error);
  }
}

function gone(path: string, cause?: unknown): KernelError {
  return usageError(`the workspace \`${path}\` of that call is not there any more; put it back first`, cause);
}

interface UpperPlace extends Pick<UndoParts, "read"> {
  readonly root: number;
  readonly upperPath: string;
}

const OWNER = 0o700;
const DIRECTORY_RIGHTS = 0o1777;
const RIGHTS = 0o777;
const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/** Writes what comes back where it waits. */
function* writeUpper(place: UpperPlace, changes: readonly WholeChange[]): Generator<void> {
  const directories: [string, number][] = [];
  for (const { path, before } of changes) {
    if (before === undefined) continue;
    const at = join(place.upperPath, path);
    mkdirSync(before.kind === "directory" ? at : dirname(at), { recursive: true, mode: OWNER });
    if (before.kind === "directory") directories.push([at, (before.mode & DIRECTORY_RIGHTS) | OWNER]);
    else yield* writeState(place, at, before);
    giveToOwner(place, path, before.kind);
    yield;
  }
  for (const [at, mode] of directories.reverse()) chmodSync(at, mode);
}

function* writeState({ read }: UpperPlace, at: string, { kind, mode, content = "" }: FileState): Generator<void> {
  if (kind === "link") {
    const text: Buffer[] = [];
    for (const piece of read(content)) text.push(Buffer.from(piece));
    symlinkSync(Buffer.concat(text), at);
    return;
  }
  const descriptor = openSync(at, NEW_FILE, OWNER);
  try {
    for (const piece of read(content)) {
      for (let done = 0; done < piece.byteLength; ) done += writeSync(descriptor, piece, done);
      yield;
    }
  } finally {
    closeSync(descriptor);
  }
  chmodSync(at, mode & RIGHTS);
}

/** What a kernel of root makes belongs to whom what it replaces does, or else the workspace. */
function giveToOwner({ root, upperPath }: UpperPlace, path: string, kind: FileState["kind"]): void {
  if (process.geteuid?.() !== 0) return;
  const { uid, gid } = fstatSync(root);
  const due = dueOwnerBeneath(root, path, kind);
  lchownSync(join(upperPath, path), due?.userId ?? uid, due?.groupId ?? gid);
}

/** The changes as a landing takes them: of what goes the outermost, with all that is in it. */
function landingOf(changes: readonly WholeChange[]): readonly Change[] {
  const going = new Set<string>();
  const landing: Change[] = [];
  for (const { path, before, after } of changes) {
    const isCovered = [...above(path)].some((one) => going.has(one));
    if (before === undefined || (after?.kind === "directory" && before.kind !== "directory")) going.add(path);
    if (isCovered && before === undefined) continue;
    if (before === undefined) landing.push({ path, kind: "gone", isReplaced: false, isCopy: false });
    else {
      const { kind, mode, bytes = 0 } = before;
      landing.push({ path, kind, isReplaced: false, isCopy: after?.kind === kind, bytes, mode, names: 1 });
    }
  }
  return landing;
}

function* above(path: string): Generator<string> {
  for (let slash = path.indexOf("/"); slash >= 0; slash = path.indexOf("/", slash + 1)) yield path.slice(0, slash);
}
