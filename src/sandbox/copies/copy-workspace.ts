/**
 * Copies a workspace for one command, where no overlay can be mounted.
 *
 * Files share their blocks with what they are copied from where the file system can do that; else their bytes are
 * copied. Each step is one file, or one piece of a large one.
 *
 * INVARIANTS: what a call must not read is not copied: something empty stands in its place, over which mounts are made.
 * No link is followed. No copy gives away its owner or group.
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
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readlinkSync,
  writeFileSync,
} from "node:fs";
import { MIB } from "../../base/bytes.ts";
import { blake3Hex } from "../../base/hash.ts";
import { ToolFailure } from "../../model/outcome/failure.ts";
import { copyBytes } from "../files/copy-content.ts";
import { entriesIn, type RawEntry } from "../host/directory-pieces.ts";
import { identityOf } from "../host/file-identity.ts";
import { isFull, MachineRefusal } from "../landing/machine/failures.ts";
import { accessListOf, cloneFile, setAccessList, setTimes } from "../native/layer-calls.ts";
import { errno, makeLink, openBeneath } from "../native/syscalls.ts";
import { COPY_LIMITS, CopyCount, type CopyLimits, cannotCopy, noRoom, type Taken } from "./copy-limits.ts";
import { type CopiedEntry, heldOf, Manifest, stampOf } from "./manifest.ts";

/** What is copied, and to where. */
export interface CopyJob {
  /** An open descriptor of the workspace. */
  readonly root: number;
  /** One of an empty directory. */
  readonly into: number;
  /** Paths of what is not to be in it. */
  readonly hidden: Pick<ReadonlySet<string>, "has">;
  readonly limits?: CopyLimits | undefined;
  /** Whether it is noted which file and link each was copied from, and what small files held. */
  readonly notesOrigins?: boolean;
}

/** What was copied. */
export interface Copied {
  readonly manifest: Manifest;
  readonly taken: Taken;
  /** Nothing was copied but shared. */
  readonly isShared: boolean;
  /** What could not be read by the kernel, and is not to be seen by the command either. */
  readonly closed: ReadonlySet<string>;
}

const OPEN_DIRECTORY = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const READ = constants.O_RDONLY | constants.O_NOFOLLOW;
const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
const RIGHTS = 0o777;
/** Those of a directory: that its group is everything's, and that only owners remove from it. */
const DIRECTORY_RIGHTS = 0o3777;
const GROUP = 0o070;
const OWNER_FILE = 0o600;
const OWNER_DIRECTORY = 0o700;
/** Of an empty directory over which one is mounted: runtimes of containers give that the same rights. */
const STAND_IN = 0o755;

/** What no file system says of one file alone: nothing there can be shared. */
const NEVER_SHARED: readonly number[] = [errno.EOPNOTSUPP, errno.ENOTTY, errno.EXDEV, errno.ENOSYS, errno.EPERM];

/**
 * Copies it.
 * @throws ToolFailure SANDBOX_UNAVAILABLE when it is too large, or cannot be copied; DISK_FULL when there is no room
 */
export function* copyWorkspace(job: CopyJob): Generator<void, Copied> {
  return yield* new Copying(job).all();
}

interface Directory {
  readonly path: string;
  readonly from: number;
  readonly to: number;
}

class Copying {
  readonly #job: CopyJob;
  readonly #count: CopyCount;
  readonly #manifest = new Manifest();
  readonly #closed = new Set<string>();
  readonly #isRoot = process.geteuid?.() === 0;
  #mayShare = true;
  readonly #files = { shared: 0, copied: 0 };

  constructor(job: CopyJob) {
    this.#job = job;
    this.#count = new CopyCount(job.limits ?? COPY_LIMITS, `/proc/self/fd/${job.into}`);
  }

  *all(): Generator<void, Copied> {
    const directories: string[] = [];
    const open = [""];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const inside = yield* this.#fill(next);
      if (inside === undefined) continue;
      directories.push(next);
      for (const name of inside) open.push(next === "" ? name : `${next}/${name}`);
    }
    // what is made in a directory changes its times, and one may be closed to its owner
    for (const path of directories.reverse()) {
      try {
        this.#finish(path);
      } catch (error) {
        throw translated(error, path);
      }
      yield;
    }
    const { shared, copied } = this.#files;
    const { taken } = this.#count;
    return { manifest: this.#manifest, closed: this.#closed, taken, isShared: shared > 0 && copied === 0 };
  }

  /** Fills the directory. @returns the names of those in it; `undefined` where it has gone or cannot be read */
  *#fill(path: string): Generator<void, readonly string[] | undefined> {
    const { root, into } = this.#job;
    const from = openBeneath(root, path === "" ? "." : path, OPEN_DIRECTORY, "plain");
    if (from < 0) {
      this.#unopened(path, from);
      return undefined;
    }
    const to = openSync(`/proc/self/fd/${into}/${path}`, OPEN_DIRECTORY);
    const directory = { path, from, to };
    const inside: string[] = [];
    try {
      for (const entry of yield* entriesIn(`/proc/self/fd/${from}`, this.#entriesMax)) {
        if ((yield* this.#entry(directory, entry)) === "directory") inside.push(entry.name.toString());
        yield;
      }
    } catch (error) {
      throw translated(error, path);
    } finally {
      closeSync(from);
      closeSync(to);
    }
    return inside;
  }

  get #entriesMax(): number {
    return (this.#job.limits ?? COPY_LIMITS).entriesMax;
  }

  /** Copies what is no directory, and makes an empty one for each that is. */
  *#entry(directory: Directory, entry: RawEntry): Generator<void, "directory" | undefined> {
    const name = entry.name.toString();
    if (!Buffer.from(name).equals(entry.name)) return undefined; // nothing can land under it, and nothing over it
    const path = directory.path === "" ? name : `${directory.path}/${name}`;
    const isDirectory = entry.isDirectory();
    if (!isDirectory && !entry.isFile() && !entry.isSymbolicLink()) return undefined; // a way to the machine
    this.#count.entry();
    if (this.#job.hidden.has(path)) this.#hide(directory, name, isDirectory);
    else if (isDirectory) {
      mkdirSync(`/proc/self/fd/${directory.to}/${name}`, OWNER_DIRECTORY);
      return "directory";
    } else if (entry.isFile()) yield* this.#file(directory, name);
    else this.#link(directory, name);
    return undefined;
  }

  #hide({ path, to }: Directory, name: string, isDirectory: boolean): void {
    const at = `/proc/self/fd/${to}/${name}`;
    if (isDirectory) {
      mkdirSync(at);
      chmodSync(at, STAND_IN);
    } else writeFileSync(at, "", { flag: "wx", mode: OWNER_FILE });
    this.#manifest.note(path, name, { kind: "hidden" });
  }

  *#file(directory: Directory, name: string): Generator<void> {
    const { path, from, to } = directory;
    const source = openBeneath(from, name, READ, "plain");
    if (source < 0) {
      if (source === -errno.ENOENT || source === -errno.ELOOP) return; // it went away meanwhile
      this.#closed.add(path === "" ? name : `${path}/${name}`);
      this.#hide(directory, name, false);
      return;
    }
    try {
      const found = fstatSync(source, { bigint: true });
      if (!found.isFile()) return; // something else took its place meanwhile
      const made = openSync(`/proc/self/fd/${to}/${name}`, NEW_FILE, OWNER_FILE);
      try {
        yield* this.#content(source, made, found);
        const digest = this.#digest(made, source, found); // before its rights may keep even its owner from reading it
        if (this.#isRoot) fchownSync(made, Number(found.uid), Number(found.gid));
        fchmodSync(made, this.#rights(source, made, Number(found.mode)));
        setTimes(to, name, found);
        const copy = fstatSync(made, { bigint: true });
        this.#manifest.note(path, name, { kind: "file", ...this.#facts(copy, found), ...digest });
      } finally {
        closeSync(made);
      }
    } finally {
      closeSync(source);
    }
  }

  *#content(source: number, made: number, { size }: BigIntStats): Generator<void> {
    if (size === 0n) return;
    if (this.#mayShare) {
      const shared = cloneFile(source, made);
      if (shared === 0) {
        this.#files.shared += 1;
        return;
      }
      this.#mayShare = !NEVER_SHARED.includes(-shared);
    }
    this.#files.copied += 1;
    yield* copyBytes(source, made, (bytes) => this.#count.bytes(bytes));
  }

  /** Rights that the copy gets; its list of others' rights comes with them. */
  #rights(source: number, made: number, mode: number): number {
    const list = accessListOf(source);
    const isLost = list !== undefined && !setAccessList(`/proc/self/fd/${made}`, list);
    // without the list the group's rights, which bound all whom it names, would be the group's own
    return isLost ? mode & RIGHTS & ~GROUP : mode & RIGHTS;
  }

  #link({ path, from, to }: Directory, name: string): void {
    const at = `/proc/self/fd/${from}/${name}`;
    const found = lstatSync(at, { bigint: true, throwIfNoEntry: false });
    if (found?.isSymbolicLink() !== true) return; // it went away meanwhile
    const points = readlinkSync(at, { encoding: "buffer" });
    const made = makeLink(to, name, points, { uid: Number(found.uid), gid: Number(found.gid) });
    if (made < 0) throw new MachineRefusal("a link could not be copied", made);
    setTimes(to, name, found);
    const copy = lstatSync(`/proc/self/fd/${to}/${name}`, { bigint: true });
    const digest = this.#job.notesOrigins === true ? { digest: blake3Hex(points), held: heldOf(found, undefined) } : {};
    this.#manifest.note(path, name, { kind: "link", ...this.#facts(copy, found), ...digest });
  }

  #digest(made: number, source: number, found: BigIntStats): { readonly digest?: string; readonly held?: string } {
    if (this.#job.notesOrigins !== true || found.size > DIGEST_BYTES_MAX) return {};
    const digest = blake3Hex(readFileSync(`/proc/self/fd/${made}`));
    return { digest, held: heldOf(found, accessListOf(source)) };
  }

  #facts(copy: BigIntStats, from: BigIntStats): Omit<Extract<CopiedEntry, { kind: "file" | "link" }>, "kind"> {
    const facts = { identity: identityOf(copy), stamp: stampOf(copy) };
    return this.#job.notesOrigins === true ? { ...facts, origin: identityOf(from) } : facts;
  }

  /** Gives a directory that is filled its owner, rights and times. */
  #finish(path: string): void {
    const { root, into } = this.#job;
    const at = `/proc/self/fd/${into}/${path}`;
    const from = openBeneath(root, path === "" ? "." : path, OPEN_DIRECTORY, "plain");
    if (from >= 0) {
      try {
        const found = fstatSync(from, { bigint: true });
        if (this.#isRoot) lchownSync(at, Number(found.uid), Number(found.gid));
        chmodSync(at, Number(found.mode) & DIRECTORY_RIGHTS);
        setTimes(into, path === "" ? "." : path, found);
      } finally {
        closeSync(from);
      }
    }
    const made = lstatSync(at, { bigint: true });
    if (path === "") return;
    const parent = path.slice(0, Math.max(0, path.lastIndexOf("/")));
    const entry = { kind: "directory", identity: identityOf(made), mode: Number(made.mode) } as const;
    this.#manifest.note(parent, path.slice(path.lastIndexOf("/") + 1), entry);
  }

  /** A directory that went away is none of the copy's; one that is closed to the kernel is to the command, too. */
  #unopened(path: string, error: number): void {
    const name = path.slice(path.lastIndexOf("/") + 1);
    const parent = path.slice(0, Math.max(0, path.lastIndexOf("/")));
    if (path === "" || error === -errno.ENAMETOOLONG) throw cannotCopy(path, `error ${-error}`);
    chmodSync(`/proc/self/fd/${this.#job.into}/${path}`, STAND_IN);
    this.#closed.add(path);
    this.#manifest.note(parent, name, { kind: "hidden" });
  }
}

/** Bytes of a file that is noted with what it held: of a larger one nobody merges lines. */
const DIGEST_BYTES_MAX = MIB;

function translated(error: unknown, path: string): unknown {
  if (error instanceof ToolFailure) return error;
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (isFull(error)) return noRoom();
  return typeof code === "string" ? cannotCopy(path, code) : error;
}
