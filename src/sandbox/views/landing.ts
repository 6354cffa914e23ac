/**
 * Lands a plan: does its steps to the workspace, one after the other.
 *
 * INVARIANTS: every step names a file by its open parent directory and one name, so that no link leads elsewhere; what changed since the plan was made is
 * left alone; of two that make one name the first one has it.
 */
import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  lchownSync,
  lstatSync,
  openSync,
  readlinkSync,
  readSync,
  type Stats,
  utimesSync,
  writeSync,
} from "node:fs";
import type { ExecLanded, NotKeptReason } from "../../model/work/exec.ts";
import { FILE_CHUNK_BYTES } from "../files/read.ts";
import { removeOverlayAttribute, renameBetween } from "../native/layer-calls.ts";
import { errno, makeDirectory, makeLink, openBeneath, removeName } from "../native/syscalls.ts";
import type { Change } from "./changes.ts";
import { type LandingPlace, OPEN_DIRECTORY, planLanding, type Step } from "./landing-plan.ts";
import { nameOf, parentOf, pathIn, standingAt } from "./standing.ts";

/** Lands `changes`, in which directories come before what lies in them. */
export function* landChanges(place: LandingPlace, changes: readonly Change[]): Generator<void, ExecLanded> {
  const plan = yield* planLanding(place, changes);
  const landing = new Landing(place);
  const failed: { readonly path: string; readonly reason: NotKeptReason }[] = [];
  try {
    for (const step of plan.steps) {
      const reason = yield* landing.does(step);
      if (reason !== undefined) failed.push({ path: step.path, reason });
      yield;
    }
  } finally {
    landing.close();
  }
  const notKept = [...plan.notKept, ...failed].sort((one, other) => (one.path < other.path ? -1 : 1));
  return { ...landing.counts, notKept };
}

const RIGHTS = 0o777;
/** A file or link of a view that is copied to `name` in the open directory `parent`. */
interface Copied {
  readonly path: string;
  readonly parent: number;
  readonly name: string;
  readonly overwrites: boolean;
}

/** What the owner of a directory keeps: one that is closed to its owner is closed to whoever looks after it. */
const OWNER = 0o700;
const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

class Landing {
  readonly #place: LandingPlace;
  readonly #upper: string;
  readonly counts = { created: 0, changed: 0, removed: 0 };
  #parent: { readonly path: string; readonly descriptor: number } | undefined;

  constructor(place: LandingPlace) {
    this.#place = place;
    this.#upper = `/proc/self/fd/${place.upper}`;
  }

  close(): void {
    if (this.#parent !== undefined) closeSync(this.#parent.descriptor);
    this.#parent = undefined;
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

  *#tries(step: Step): Generator<void, NotKeptReason | undefined> {
    const parent = this.#openParent(parentOf(step.path));
    if (parent === undefined) return "changed_meanwhile";
    const name = nameOf(step.path);
    if (this.#isChanged(parent, name, step)) return "changed_meanwhile";
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
    giveTo(made, pathIn(parent, name));
    return setRights(parent, name, made) ? undefined : "changed_meanwhile";
  }

  *#put({ kind, path, overwrites = false }: Step, parent: number, name: string): Generator<void, NotKeptReason | undefined> {
    const from = `${this.#upper}/${path}`;
    if (kind === "put_file") {
      chmodSync(from, this.#made(path).mode & RIGHTS);
      removeOverlayAttribute(from, "origin");
    }
    let result = renameBetween(this.#place.upper, path, parent, name, overwrites);
    const copied = { path, parent, name, overwrites };
    if (result === -errno.EXDEV) result = kind === "put_file" ? yield* this.#copy(copied) : this.#copyLink(copied);
    return this.#count(overwrites ? "changed" : "created", result);
  }

  /** Where the file system of views is another one than the workspace's. */
  *#copy({ path, parent, name, overwrites }: Copied): Generator<void, number> {
    const found = this.#made(path);
    const beside = this.#place.newFiles.nameIn(parent);
    const source = openSync(`${this.#upper}/${path}`, constants.O_RDONLY | constants.O_NOFOLLOW);
    const made = openBeneath(parent, beside, NEW_FILE, "plain", OWNER);
    try {
      if (made < 0) return made;
      const piece = Buffer.allocUnsafe(FILE_CHUNK_BYTES);
      for (let length = readSync(source, piece); length > 0; length = readSync(source, piece)) {
        for (let done = 0; done < length; ) done += writeSync(made, piece, done, length - done);
        yield;
      }
      giveTo(found, pathIn(parent, beside));
      chmodSync(`/proc/self/fd/${made}`, found.mode & RIGHTS);
      utimesSync(`/proc/self/fd/${made}`, found.atime, found.mtime);
      return renameBetween(parent, beside, parent, name, overwrites);
    } finally {
      removeName(parent, beside, "file"); // it is gone where it has its name by now
      closeSync(source);
      if (made >= 0) closeSync(made);
    }
  }

  #copyLink({ path, parent, name, overwrites }: Copied): number {
    if (overwrites) removeName(parent, name, "file");
    return makeLink(parent, name, readlinkSync(`${this.#upper}/${path}`, { encoding: "buffer" }), this.#made(path));
  }

  #made(path: string): Stats {
    return lstatSync(`${this.#upper}/${path}`);
  }

  /** Whether somebody was quicker since the plan was made. A directory changes by what is done in it. */
  #isChanged(parent: number, name: string, { kind, overwrites, replaces }: Step): boolean {
    if (kind === "set_rights" || kind === "remove_directory" || (kind === "put_file" && replaces)) return false;
    const isExpected = kind === "remove" || overwrites === true || replaces === true;
    const there = standingAt(parent, name);
    return isExpected ? there !== undefined && there.changedNs >= this.#place.sinceNs : there !== undefined;
  }

  #count(what: "created" | "changed" | "removed", result: number): NotKeptReason | undefined {
    if (result === -errno.ENOENT && what === "removed") return undefined; // somebody else removed it, too
    if (result < 0) return reasonOf(result);
    this.counts[what] += 1;
    return undefined;
  }

  #openParent(path: string): number | undefined {
    if (this.#parent?.path === path) return this.#parent.descriptor;
    this.close();
    const descriptor = openBeneath(this.#place.root, path === "" ? "." : path, OPEN_DIRECTORY, "plain");
    if (descriptor < 0) return undefined;
    this.#parent = { path, descriptor };
    return descriptor;
  }
}

/** Gives the directory the rights that it has in the view; `false` where no directory stands there any more. */
function setRights(parent: number, name: string, { mode }: Stats): boolean {
  const directory = openBeneath(parent, name, OPEN_DIRECTORY, "plain");
  if (directory < 0) return false;
  fchmodSync(directory, (mode & RIGHTS) | OWNER);
  closeSync(directory);
  return true;
}

/** What a kernel of root makes belongs to whom the view says. */
function giveTo({ uid, gid }: Stats, path: string): void {
  if (process.geteuid?.() === 0) lchownSync(path, uid, gid);
}

function reasonOf(result: number): NotKeptReason {
  return result === -errno.EEXIST || result === -errno.ENOTEMPTY || result === -errno.EISDIR ? "changed_meanwhile" : "failed";
}
