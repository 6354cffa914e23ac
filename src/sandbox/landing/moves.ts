/**
 * Moves of a landing: each changes one name of the workspace, and can be taken back.
 *
 * What stood under the name is moved aside, never removed. What comes to stand there has waited on the same file
 * system, so that each move is one renaming.
 *
 * INVARIANT: a move that finds something else than was looked at changes nothing, and one is only taken back where
 * what it made still stands.
 */
import { closeSync, constants, fchmodSync, fstatSync, lstatSync, readdirSync } from "node:fs";
import { errno, linkThenRemove, type NameIn, openBeneath, renameBetween } from "../native/syscalls.ts";
import { nameOf, parentOf, pathIn, type Standing, standingAt } from "./standing.ts";

/** How directories of the workspace are opened: where they are, no link followed. */
export const OPEN_DIRECTORY = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** Open directories: the workspace, and the two in which things wait or are kept that are not in it. */
export interface Ground {
  readonly root: number;
  /** What the command wrote. */
  readonly upper: number;
  /** What was taken from the workspace, or made ready for it. */
  readonly side: number;
}

/** A place outside of what anybody sees of the workspace. */
export interface Aside {
  readonly in: "upper" | "side";
  readonly path: string;
}

/** What waits aside. */
export interface Waiting {
  readonly inode: number;
  readonly isDirectory: boolean;
  readonly bytes: number;
  /** Nanoseconds, decimal, of the last change of its content. */
  readonly writtenNs: string;
}

/** One change of a name. */
export interface Move {
  /**
   * `put`: what waits aside gets the name, under which nothing stands; `swap`: it changes places with what stands
   * there; `take`: what stands there goes aside; `rights`: the directory gets other rights.
   */
  readonly kind: "put" | "swap" | "take" | "rights";
  readonly path: string;
  readonly aside: Aside;
  /** Which file or directory it is that waits, and what it is then. */
  readonly own?: Waiting;
  /** Which one stood there. */
  readonly old?: number;
  /** Of a directory, before and after: a closed one is opened before it can be moved. */
  readonly rights?: readonly [before: number, after: number];
}

/** What is expected to stand there, of a move that takes it away. */
export interface Expected {
  readonly over: Standing;
  /** It has to be empty. */
  readonly isEmpty?: boolean;
}

/** Where a move is done, and what stands there. */
export interface MovePlace {
  readonly ground: Ground;
  /** The open directory of the workspace. */
  readonly parent: number;
  readonly expected?: Expected | undefined;
}

/** Does a move. @returns 0 or a negative error number; `-EEXIST` where another thing stands */
export function doMove({ ground, parent, expected }: MovePlace, move: Move): number {
  const target = { directory: parent, name: nameOf(move.path) };
  const aside = asideOf(ground, move);
  switch (move.kind) {
    case "put":
      return renameNew(aside, target);
    case "swap": {
      const swapped = swap(ground, aside, target);
      if (swapped < 0 || isExpected(aside, expected)) return swapped;
      return refused(swap(ground, aside, target));
    }
    case "take": {
      if (move.rights !== undefined) setRights(target, move.rights[1], move.old);
      const taken = renameNew(target, aside);
      if (taken < 0 || isExpected(aside, expected)) return taken;
      return refused(putBack(aside, target, move));
    }
    case "rights":
      return setRights(target, move.rights?.[1] ?? 0, move.old);
  }
}

/** Somebody was quicker; what was moved is where it was, unless they went on meanwhile: then both are somewhere. */
function refused(back: number): number {
  return back < 0 ? back : -errno.EEXIST;
}

/** An object of git, which has its content's name: it harms nobody, and another commit may stand on it by now. */
const OBJECT = /(?:^|\/)\.git\/objects\//;

/**
 * Takes a move back, whether or not it was done. Objects of git stay.
 * @param readyNs nanoseconds of a time at which all that waited was ready, and nothing had landed
 * @returns whether the name is as it was before the move; else somebody has changed it since, and it is left
 */
export function* undoMove(ground: Ground, move: Move, readyNs: bigint): Generator<void, boolean> {
  if (move.kind === "put" && OBJECT.test(move.path)) return true;
  const aside = asideOf(ground, move);
  const parent = openBeneath(ground.root, parentOf(move.path) || ".", OPEN_DIRECTORY, "plain");
  if (parent < 0) return move.own !== undefined && inodeAt(aside) === move.own.inode;
  try {
    return yield* undoIn(ground, { move, aside, target: { directory: parent, name: nameOf(move.path) } }, readyNs);
  } finally {
    closeSync(parent);
  }
}

/** Whether a move was done, whatever became of the name since: what waited aside is not there any more. */
export function isDone(ground: Ground, move: Move): boolean {
  const waiting = inodeAt(asideOf(ground, move));
  return move.own === undefined ? waiting === move.old : waiting !== move.own.inode;
}

/**
 * Whether a name is as the landing left it, the move done or not: then it can be taken back.
 * @param readyNs as `undoMove` takes it
 */
export function* isAsLeft(ground: Ground, move: Move, readyNs: bigint): Generator<void, boolean> {
  const { kind, own, old } = move;
  const parent = openBeneath(ground.root, parentOf(move.path) || ".", OPEN_DIRECTORY, "plain");
  const waiting = inodeAt(asideOf(ground, move));
  if (parent < 0) return kind === "take" && waiting === old; // it was taken after what lay in it
  try {
    const target = { directory: parent, name: nameOf(move.path) };
    const wasDone = isDone(ground, move);
    if (wasDone && own !== undefined) return yield* isUntouched(target, own, readyNs);
    const there = standingAt(parent, target.name);
    if (kind === "put" || (kind === "take" && wasDone)) return there === undefined;
    return there !== undefined && there.inode === old && (there.kind === "directory" || there.changedNs < readyNs);
  } finally {
    closeSync(parent);
  }
}

interface Undoing {
  readonly move: Move;
  readonly aside: NameIn;
  readonly target: NameIn;
}

function* undoIn(ground: Ground, { move, aside, target }: Undoing, readyNs: bigint): Generator<void, boolean> {
  const { kind, own, old, rights } = move;
  const [there, waiting] = [inodeAt(target), inodeAt(aside)];
  switch (kind) {
    case "put":
    case "swap": {
      if (own === undefined || waiting === own.inode) return true;
      if (there !== own.inode || (kind === "swap" && waiting !== old)) return false;
      const back = () => (kind === "put" ? renameNew(target, aside) : swap(ground, aside, target));
      const again = () => (kind === "put" ? renameNew(aside, target) : swap(ground, aside, target));
      if (!(yield* isUntouched(target, own, readyNs)) || back() < 0) return false;
      if (yield* isUntouched(aside, own, readyNs)) return true;
      again(); // somebody was quicker: it is theirs now
      return false;
    }
    case "take":
      // it was not taken yet, or was put back already: its rights may be those for the way
      if (waiting !== old) return there === old && closeAgain(target, move) >= 0;
      return putBack(aside, target, move) >= 0;
    case "rights":
      return rights === undefined || there !== old || setRights(target, rights[0], old) >= 0;
  }
}

/** Whether what landed is as it was when it was made ready, a directory with all that is in it. */
function* isUntouched({ directory, name }: NameIn, own: Waiting, readyNs: bigint): Generator<void, boolean> {
  const found = standingAt(directory, name);
  if (found?.inode !== own.inode || String(found.writtenNs) !== own.writtenNs) return false;
  return own.isDirectory ? yield* isUntouchedInside({ directory, name }, readyNs) : found.bytes === own.bytes;
}

/** Whether nothing has been changed in a directory since, however deep. */
export function* isUntouchedInside({ directory, name }: NameIn, readyNs: bigint): Generator<void, boolean> {
  const open = [pathIn(directory, name)];
  for (let next = open.pop(); next !== undefined; next = open.pop())
    for (const entry of readdirSync(next, { encoding: "buffer" })) {
      yield;
      const path = Buffer.concat([Buffer.from(`${next}/`), entry]);
      const inside = lstatSync(path, { bigint: true, throwIfNoEntry: false });
      if (inside === undefined || inside.ctimeNs >= readyNs) return false;
      if (inside.isDirectory()) open.push(path.toString());
    }
  return true;
}

function asideOf(ground: Ground, { aside }: Move): NameIn {
  return { directory: ground[aside.in], name: aside.path };
}

/** Gives what was taken its name again, and its rights. */
function putBack(aside: NameIn, target: NameIn, { rights, old }: Move): number {
  const back = renameNew(aside, target);
  return back < 0 || rights === undefined ? back : setRights(target, rights[0], old);
}

/** Gives a directory its rights again where it still has those for the way. */
function closeAgain(target: NameIn, { rights, old }: Move): number {
  if (rights === undefined || ((standingAt(target.directory, target.name)?.mode ?? 0) & RIGHTS) !== rights[1]) return 0;
  return setRights(target, rights[0], old);
}

const RIGHTS = 0o7777;

function inodeAt({ directory, name }: NameIn): number | undefined {
  return standingAt(directory, name)?.inode;
}

/** Whether what came out is what was looked at: somebody may have written it, or put another in its place. */
function isExpected(aside: NameIn, expected: Expected | undefined): boolean {
  if (expected === undefined) return true;
  const { over, isEmpty = false } = expected;
  const found = standingAt(aside.directory, aside.name);
  if (found?.inode !== over.inode) return false;
  if (over.kind === "directory") return !isEmpty || readdirSync(pathIn(aside.directory, aside.name)).length === 0;
  return found.bytes === over.bytes && found.writtenNs === over.writtenNs;
}

/** A file system that cannot say that nothing may be replaced takes a second name, and loses the first. */
function renameNew(from: NameIn, to: NameIn): number {
  const renamed = renameBetween(from.directory, from.name, to.directory, to.name, "keep");
  if (renamed !== -errno.EINVAL && renamed !== -errno.ENOSYS) return renamed;
  if (standingAt(to.directory, to.name) !== undefined) return -errno.EEXIST;
  const isDirectory = standingAt(from.directory, from.name)?.kind === "directory";
  return isDirectory
    ? renameBetween(from.directory, from.name, to.directory, to.name, "replace")
    : linkThenRemove(from, to);
}

/** One that cannot exchange does it in three steps. */
function swap(ground: Ground, aside: NameIn, target: NameIn): number {
  const swapped = renameBetween(aside.directory, aside.name, target.directory, target.name, "exchange");
  if (swapped !== -errno.EINVAL && swapped !== -errno.ENOSYS) return swapped;
  const between = { directory: ground.side, name: `${SWAPPED}${inodeAt(target)}` };
  const taken = renameNew(target, between);
  if (taken < 0) return taken;
  const put = renameNew(aside, target);
  if (put < 0) return renameNew(between, target) < 0 ? -errno.EIO : put;
  return renameNew(between, aside);
}

const SWAPPED = "swapped-";

/** Gives a directory rights; `-EEXIST` where another one stands there. */
function setRights({ directory, name }: NameIn, rights: number, inode: number | undefined): number {
  const opened = openBeneath(directory, name, OPEN_DIRECTORY, "plain");
  if (opened < 0) return -errno.EEXIST;
  try {
    if (fstatSync(opened).ino !== inode) return -errno.EEXIST;
    fchmodSync(opened, rights);
    return 0;
  } finally {
    closeSync(opened);
  }
}
