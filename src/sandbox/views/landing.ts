/**
 * Lands a plan: does its steps to the workspace, one after the other.
 *
 * INVARIANTS: every step names a file by its open parent directory and one name, so that no link leads elsewhere; what
 * changed since the plan was made is left alone; of two that make one name the first one has it; where something could
 * not be made, nothing is overwritten or removed any more.
 */
import {
  type BigIntStats,
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  ftruncateSync,
  lchownSync,
  lstatSync,
  openSync,
  readlinkSync,
  readSync,
  type Stats,
  writeSync,
} from "node:fs";
import { GIB } from "../../base/bytes.ts";
import { shapesRepository } from "../../model/place/repository-shape.ts";
import type { ExecLanded, NotKeptReason } from "../../model/work/exec.ts";
import { FILE_CHUNK_BYTES } from "../files/read.ts";
import { accessList, removeOverlayAttribute, setAccessList, setTimes } from "../native/layer-calls.ts";
import { errno, makeDirectory, makeLink, openBeneath, removeName, renameBetween } from "../native/syscalls.ts";
import type { Change } from "./changes.ts";
import { type LandingPlace, OPEN_DIRECTORY, planLanding } from "./landing-plan.ts";
import { nameOf, parentOf, pathIn, standingAt } from "./standing.ts";
import { heldBack, type Step, takesAway } from "./steps.ts";

/** What has landed, and whether it was all that could. */
export interface Landed extends ExecLanded {
  readonly isCut: boolean;
}

/**
 * Lands `changes`, in which directories come before what lies in them.
 * @param signal cuts it short as long as nothing is overwritten or removed
 */
export function* landChanges(
  place: LandingPlace,
  changes: readonly Change[],
  signal?: AbortSignal,
): Generator<void, Landed> {
  const plan = yield* planLanding(place, changes);
  const steps = plan.stages.flat();
  place.admit(steps.filter((step) => makes(step) && !takesAway(step)).length);
  const landing = new Landing(place, signal);
  const notKept = new Map<string, NotKeptReason>(plan.notKept.map(({ path, reason }) => [path, reason]));
  let isWhole = true;
  const isCut = () => signal?.aborted === true && landing.counts.changed + landing.counts.removed === 0;
  const held: Step[] = [];
  const heldPaths = new Set<string>();
  for (const step of steps) {
    if (isCut()) break;
    if (!isWhole && (takesAway(step) || heldPaths.has(parentOf(step.path)))) {
      held.push(step);
      heldPaths.add(step.path);
      continue;
    }
    const reason = yield* landing.does(step);
    if (reason !== undefined && !notKept.has(step.path)) notKept.set(step.path, reason);
    if (reason !== undefined && makes(step)) isWhole = false;
    yield;
  }
  for (const { path, reason } of heldBack(held)) if (!notKept.has(path)) notKept.set(path, reason);
  const wasCut = isCut();
  yield* landing.setTimes();
  const named = [...notKept].map(([path, reason]) => ({ path, reason }));
  return { ...landing.counts, isCut: wasCut, notKept: named.sort((one, other) => (one.path < other.path ? -1 : 1)) };
}

function makes({ kind }: Step): boolean {
  return kind === "make_directory" || kind === "put_file" || kind === "put_link";
}

const RIGHTS = 0o777;
/** Those of a directory, and that only owners remove from it. */
const DIRECTORY_RIGHTS = 0o1777;
const SET_IDS = 0o7000;
const SET_GROUP = 0o2000;
const WRITE = 0o200;
const GROUP = 0o070;
/** Bytes that stand in the count of a file's blocks. */
const BLOCK_BYTES = 512;
/** Bytes of zeros in a row that become a hole where they are a block. */
const HOLE_BYTES = 65_536;
const ZEROS = Buffer.alloc(HOLE_BYTES);
/** Bytes that one landing copies from another file system: a minute's work of the kernel's thread on a slow disk. */
const COPIED_BYTES_MAX = 4 * GIB;
/** What the owner of a directory keeps: one that is closed to its owner is closed to whoever looks after it. */
const OWNER = 0o700;
const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

type Times = Pick<BigIntStats, "atimeNs" | "mtimeNs">;

class Landing {
  readonly #place: LandingPlace;
  readonly #upper: string;
  readonly counts = { created: 0, changed: 0, removed: 0 };
  /** Files with several names of which this landing took one away, which is a change of the others. */
  readonly #touched = new Set<number>();

  /** Directories that were made, with their times, which what is done in them changes. */
  readonly #directories: { readonly path: string; readonly inode: number; readonly times: Times }[] = [];
  readonly #signal: AbortSignal | undefined;
  #copiedBytes = 0;

  constructor(place: LandingPlace, signal: AbortSignal | undefined) {
    this.#place = place;
    this.#signal = signal;
    this.#upper = `/proc/self/fd/${place.upper}`;
  }

  /** Does one step. @returns why it was not done, where it was not */
  *does(step: Step): Generator<void, NotKeptReason | undefined> {
    try {
      return yield* this.#tries(step);
    } catch (error) {
      // Each step stands for itself: what the machine refuses keeps no other from landing.
      if (error instanceof Error && "code" in error) return "failed";
      throw error;
    }
  }

  /** Gives the directories that were made the times that they have in the view. */
  *setTimes(): Generator<void> {
    for (const { path, inode, times } of this.#directories.reverse()) {
      const parent = openBeneath(this.#place.root, parentOf(path) || ".", OPEN_DIRECTORY, "plain");
      if (parent < 0) continue; // somebody moved it
      if (standingAt(parent, nameOf(path))?.inode === inode) setTimes(parent, nameOf(path), times);
      closeSync(parent);
      yield;
    }
  }

  *#tries(step: Step): Generator<void, NotKeptReason | undefined> {
    // Each step goes there anew: somebody may have moved the directory, even out of the workspace.
    const parent = openBeneath(this.#place.root, parentOf(step.path) || ".", OPEN_DIRECTORY, "plain");
    if (parent < 0) return "changed_meanwhile";
    try {
      return yield* this.#triesIn(parent, step);
    } finally {
      closeSync(parent);
    }
  }

  *#triesIn(parent: number, step: Step): Generator<void, NotKeptReason | undefined> {
    const name = nameOf(step.path);
    if (this.#isChanged(parent, name, step)) return "changed_meanwhile";
    const reason = yield* this.#done(parent, name, step);
    if (reason !== undefined || !step.mayShape || !shapesRepository(name, (beside) => isThere(parent, beside)))
      return reason;
    // Another landing made the rest of a repository meanwhile; of two that look afterwards one at least sees the other.
    removeName(parent, name, step.kind === "make_directory" ? "directory" : "file");
    this.counts.created -= 1;
    return "not_allowed";
  }

  *#done(parent: number, name: string, step: Step): Generator<void, NotKeptReason | undefined> {
    switch (step.kind) {
      case "remove":
      case "remove_directory":
        return this.#count("removed", removeName(parent, name, step.kind === "remove" ? "file" : "directory"));
      case "set_rights":
        if (!setRights(parent, name, this.#made(step.path))) return "changed_meanwhile";
        this.counts.changed += 1;
        return undefined;
      case "make_directory":
        return this.#makeDirectory(step, parent, name);
      case "put_file":
      case "put_link":
        return yield* this.#put(step, parent, name);
    }
  }

  #makeDirectory({ path, replaces }: Step, parent: number, name: string): NotKeptReason | undefined {
    if (replaces) removeName(parent, name, "file");
    const result = makeDirectory(parent, name);
    if (result < 0) return reasonOf(result);
    this.counts.created += 1;
    const made = this.#made(path);
    const there = lstatSync(pathIn(parent, name));
    // In a directory whose group is everything's, the new one has that group, too.
    giveTo((there.mode & SET_GROUP) === 0 ? made : { ...made, gid: there.gid }, pathIn(parent, name));
    this.#directories.push({ path, inode: there.ino, times: this.#timesOf(path) });
    return setRights(parent, name, made) ? undefined : "changed_meanwhile";
  }

  *#put(step: Step, parent: number, name: string): Generator<void, NotKeptReason | undefined> {
    const { kind, path, overwrites = false } = step;
    const from = `${this.#upper}/${path}`;
    if (kind === "put_file") {
      const { mode } = this.#made(path);
      if ((mode & SET_IDS) !== 0) chmodSync(from, mode & RIGHTS);
      if ((mode & WRITE) === 0) chmodSync(from, WRITE); // else the attribute stays
      removeOverlayAttribute(from, "origin");
      if ((mode & WRITE) === 0) chmodSync(from, mode & RIGHTS);
    }
    let result = renameBetween(this.#place.upper, path, parent, name, overwrites);
    if (result === -errno.EXDEV)
      result = kind === "put_file" ? yield* this.#copy(step, parent, name) : this.#copyLink(step, parent, name);
    return this.#count(overwrites ? "changed" : "created", result);
  }

  /** Where the file system of views is another one than the workspace's. */
  *#copy(step: Step, parent: number, name: string): Generator<void, number> {
    const { path, overwrites = false } = step;
    const found = this.#made(path);
    const times = this.#timesOf(path);
    this.#copiedBytes += found.blocks * BLOCK_BYTES;
    if (this.#copiedBytes > COPIED_BYTES_MAX) return -errno.EFBIG;
    const beside = this.#place.newFiles.nameIn(parent);
    chmodSync(`${this.#upper}/${path}`, OWNER); // the command may have closed it to its owner
    const source = openSync(`${this.#upper}/${path}`, constants.O_RDONLY | constants.O_NOFOLLOW);
    const made = openBeneath(parent, beside, NEW_FILE, "plain", OWNER);
    try {
      if (made < 0) return made;
      const isCopied = yield* this.#copyBytes(source, made);
      if (!isCopied) return -errno.ECANCELED;
      giveTo(found, pathIn(parent, beside));
      this.#copyRights(found, {
        from: `${this.#upper}/${path}`,
        over: pathIn(parent, name),
        to: `/proc/self/fd/${made}`,
      });
      setTimes(parent, beside, times);
      // Copying takes its time.
      if (!this.#isStill(parentOf(path), parent) || this.#isChanged(parent, name, step)) return -errno.EEXIST;
      return renameBetween(parent, beside, parent, name, overwrites);
    } finally {
      removeName(parent, beside, "file"); // it is gone where it has its name by now
      closeSync(source);
      if (made >= 0) closeSync(made);
    }
  }

  /** Copies a file, but for blocks of nothing but zeros, which become holes. @returns whether it was not cut short */
  *#copyBytes(source: number, made: number): Generator<void, boolean> {
    const piece = Buffer.allocUnsafe(FILE_CHUNK_BYTES);
    let offset = 0;
    for (let length = readSync(source, piece); length > 0; length = readSync(source, piece)) {
      for (let at = 0; at < length; at += HOLE_BYTES) {
        const block = piece.subarray(at, Math.min(at + HOLE_BYTES, length));
        if (block.equals(ZEROS.subarray(0, block.length))) continue;
        for (let done = 0; done < block.length; )
          done += writeSync(made, block, done, block.length - done, offset + at + done);
      }
      offset += length;
      yield;
      if (this.#signal?.aborted === true && this.counts.changed + this.counts.removed === 0) return false;
    }
    ftruncateSync(made, offset);
    return true;
  }

  /**
   * Where a list says who may what, the group's rights bound those of all whom it names: without it they would be the
   * group's own.
   */
  #copyRights({ mode }: Stats, { from, over, to }: Readonly<Record<"from" | "over" | "to", string>>): void {
    const list = accessList(from);
    const isLost = list === undefined ? accessList(over) !== undefined : !setAccessList(to, list);
    chmodSync(to, mode & (isLost ? RIGHTS & ~GROUP : RIGHTS));
  }

  #timesOf(path: string): Times {
    return lstatSync(`${this.#upper}/${path}`, { bigint: true });
  }

  #copyLink({ path, overwrites }: Step, parent: number, name: string): number {
    if (overwrites) removeName(parent, name, "file");
    const made = makeLink(
      parent,
      name,
      readlinkSync(`${this.#upper}/${path}`, { encoding: "buffer" }),
      this.#made(path),
    );
    if (made >= 0) setTimes(parent, name, this.#timesOf(path));
    return made;
  }

  /** Whether the directory of the workspace is the one that was opened. */
  #isStill(path: string, directory: number): boolean {
    const now = openBeneath(this.#place.root, path || ".", OPEN_DIRECTORY, "plain");
    if (now < 0) return false;
    try {
      return fstatSync(now).ino === fstatSync(directory).ino;
    } finally {
      closeSync(now);
    }
  }

  #made(path: string): Stats {
    return lstatSync(`${this.#upper}/${path}`);
  }

  /** Whether somebody was quicker since the plan was made. A directory changes by what is done in it. */
  #isChanged(
    parent: number,
    name: string,
    { kind, inode, overwrites }: Pick<Step, "kind" | "inode" | "overwrites">,
  ): boolean {
    if (kind === "set_rights") return false;
    const there = standingAt(parent, name);
    if (there === undefined) return overwrites === true;
    if (inode === undefined) return true;
    if (there.inode !== inode) return true;
    if (kind === "remove_directory") return false;
    if (there.changedNs >= this.#place.sinceNs && !this.#touched.has(inode)) return true;
    if (there.names > 1) this.#touched.add(inode);
    return false;
  }

  #count(what: "created" | "changed" | "removed", result: number): NotKeptReason | undefined {
    if (result === -errno.ENOENT && what === "removed") return undefined; // somebody else removed it, too
    if (result < 0) return reasonOf(result);
    this.counts[what] += 1;
    return undefined;
  }
}

function isThere(directory: number, name: string): boolean {
  return standingAt(directory, name) !== undefined;
}

/** Gives the directory the rights that it has in the view; `false` where no directory stands there any more. */
function setRights(parent: number, name: string, { mode }: Stats): boolean {
  const directory = openBeneath(parent, name, OPEN_DIRECTORY, "plain");
  if (directory < 0) return false;
  fchmodSync(directory, (mode & DIRECTORY_RIGHTS) | OWNER | (fstatSync(directory).mode & SET_GROUP));
  closeSync(directory);
  return true;
}

/** What a kernel of root makes belongs to whom the view says. */
function giveTo({ uid, gid }: Stats, path: string): void {
  if (process.geteuid?.() === 0) lchownSync(path, uid, gid);
}

function reasonOf(result: number): NotKeptReason {
  return result === -errno.EEXIST || result === -errno.ENOTEMPTY || result === -errno.EISDIR
    ? "changed_meanwhile"
    : "failed";
}
