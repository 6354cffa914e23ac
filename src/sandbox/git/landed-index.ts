/**
 * Lets git's index know files that have landed: of those in a view it has other times, numbers and owners.
 *
 * Without it every landed file looks changed to programs that compare no more than that, such as `git diff-index`,
 * until the next `git status` has read it. Only what the index says of times and the like is written, never what is
 * staged.
 *
 * INVARIANTS: an entry is written only where the file has the size and the time of change, to the nanosecond, that git
 * itself noted. The index is replaced as git does it, behind `index.lock`, and only while it is the one that was read.
 */
import { createHash } from "node:crypto";
import {
  type BigIntStats,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  futimesSync,
  writeSync,
} from "node:fs";
import type { NewFiles } from "../files/new-files.ts";
import type { RootHandle } from "../files/places/roots.ts";
import { O_PATH, openBeneath, removeName, renameBetween } from "../native/syscalls.ts";
import { INDEX_BYTES_MAX, type IndexEntry, indexEntries } from "./index-file.ts";
import { repositoryFiles } from "./repository-files.ts";

/** Entries that are looked at in one step. */
const ENTRIES_PER_STEP = 500;
const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
const OPEN_DIRECTORY = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const RIGHTS = 0o7777;
const SECOND_NS = 1_000_000_000n;
const ID_BYTES = { sha1: 20, sha256: 32 } as const;

/** What in a workspace was just changed by git in a view, and has landed. */
export interface LandedIndex {
  readonly workspace: RootHandle;
  /** The repository, a directory of the workspace. */
  readonly root: string;
  /** Files that git had written before are left. Milliseconds since the epoch. */
  readonly sinceMs: number;
}

/** The index as it is to be. */
export interface RefreshedIndex {
  readonly bytes: Buffer;
  readonly mode: number;
  /** Puts it in the place of the one that was read. @returns whether nobody else held or had changed that one */
  readonly replace: () => boolean;
}

/**
 * Brings the index up to date, as steps.
 * @returns nothing where it is not understood, and where nothing in it would be another
 */
export function* refreshedIndex(
  { workspace, root, sinceMs }: LandedIndex,
  newFiles: NewFiles,
): Generator<void, RefreshedIndex | undefined> {
  const files = repositoryFiles(workspace, root);
  const mark = files.markOf(".git/index");
  const index = files.piece(".git/index", 0, INDEX_BYTES_MAX + 1);
  if (index === undefined || index.length > INDEX_BYTES_MAX) return undefined;
  const base = opened(workspace.descriptor, root);
  if (base === undefined) return undefined;
  try {
    const isOther = yield* refreshEntries(index, base, BigInt(Math.floor(sinceMs)) * 1_000_000n);
    const stats = isOther ? statsOf(base, ".git/index") : undefined;
    if (stats === undefined) return undefined;
    const isSame = () => files.markOf(".git/index") === mark;
    const own = root === "." ? ".git" : `${root}/.git`;
    return {
      bytes: index,
      mode: Number(stats.mode) & RIGHTS,
      replace: () => isReplacedIn({ workspace, own }, index, { newFiles, isSame }),
    };
  } finally {
    closeSync(base);
  }
}

function isReplacedIn(
  { workspace, own }: { readonly workspace: RootHandle; readonly own: string },
  index: Buffer,
  how: Parameters<typeof isReplaced>[2],
): boolean {
  const directory = opened(workspace.descriptor, own);
  if (directory === undefined) return false;
  try {
    return how.isSame() && isReplaced(directory, index, how);
  } finally {
    closeSync(directory);
  }
}

function opened(directory: number, path: string): number | undefined {
  const descriptor = openBeneath(directory, path, OPEN_DIRECTORY, "plain");
  return descriptor < 0 ? undefined : descriptor;
}

/** Writes what files say into the entries of `index`. @returns whether it was understood, and any file was known */
function* refreshEntries(index: Buffer, base: number, sinceNs: bigint): Generator<void, boolean> {
  for (const [hash, idBytes] of Object.entries(ID_BYTES)) {
    const late: IndexEntry[] = [];
    const entries = indexEntries(index, idBytes);
    let step = entries.next();
    for (let count = 1; step.done !== true; count += 1) {
      if (step.value.isPlain && notedNs(index, step.value.start) >= sinceNs) late.push(step.value);
      if (count % ENTRIES_PER_STEP === 0) yield;
      step = entries.next();
    }
    if (!step.value) continue;
    let isOther = false;
    for (const [at, entry] of late.entries()) {
      isOther = isRefreshed(index, base, entry) || isOther;
      if (at % ENTRIES_PER_STEP === 0) yield;
    }
    if (isOther) writeSum(index, hash, idBytes);
    return isOther;
  }
  return false;
}

/** Where each of an entry's numbers stands, in bytes from its beginning (gitformat-index(5)). */
const AT = { changed: 0, written: 8, device: 16, inode: 20, owner: 28, group: 32, size: 36 } as const;

function notedNs(index: Buffer, start: number): bigint {
  const at = start + AT.written;
  return BigInt(index.readUInt32BE(at)) * SECOND_NS + BigInt(index.readUInt32BE(at + 4));
}

function isRefreshed(index: Buffer, base: number, { name, start }: IndexEntry): boolean {
  const path = name.toString("utf8");
  if (!Buffer.from(path).equals(name)) return false;
  const stats = statsOf(base, path);
  if (stats === undefined || !stats.isFile()) return false;
  const { mtimeNs, ctimeNs, dev, ino, uid, gid, size } = stats;
  if (mtimeNs !== notedNs(index, start) || low(size) !== index.readUInt32BE(start + AT.size)) return false;
  const numbers = [
    [AT.changed, ctimeNs / SECOND_NS],
    [AT.changed + 4, ctimeNs % SECOND_NS],
    [AT.device, dev],
    [AT.inode, ino],
    [AT.owner, uid],
    [AT.group, gid],
  ] as const;
  for (const [at, value] of numbers) index.writeUInt32BE(low(value), start + at);
  return true;
}

/** As much of a number as git keeps. */
function low(value: bigint): number {
  return Number(BigInt.asUintN(32, value));
}

function statsOf(base: number, path: string): BigIntStats | undefined {
  const descriptor = openBeneath(base, path, O_PATH | constants.O_NOFOLLOW, "plain");
  if (descriptor < 0) return undefined;
  try {
    return fstatSync(descriptor, { bigint: true });
  } finally {
    closeSync(descriptor);
  }
}

/** The sum at the end, unless git left it out, as zeros. */
function writeSum(index: Buffer, hash: string, sumBytes: number): void {
  const at = index.length - sumBytes;
  if (index.subarray(at).every((byte) => byte === 0)) return;
  createHash(hash).update(index.subarray(0, at)).digest().copy(index, at);
}

/** Puts `index` in the place of the one in the open directory `own`, with its owner, rights and time. */
function isReplaced(
  own: number,
  index: Buffer,
  { newFiles, isSame }: { readonly newFiles: NewFiles; readonly isSame: () => boolean },
): boolean {
  const stats = statsOf(own, "index");
  if (stats === undefined) return false;
  const name = newFiles.nameIn(own);
  const file = openBeneath(own, name, NEW_FILE, "plain", 0o600);
  if (file < 0) return false;
  let standing = name;
  try {
    try {
      for (let done = 0; done < index.length; ) done += writeSync(file, index, done);
      if (process.geteuid?.() === 0) fchownSync(file, Number(stats.uid), Number(stats.gid));
      fchmodSync(file, Number(stats.mode) & RIGHTS);
      // what git wrote in the instant of its index, it reads again by the index's time
      const writtenS = Math.floor(Number(stats.mtimeNs / 1_000_000n)) / 1000;
      futimesSync(file, writtenS, writtenS);
    } finally {
      closeSync(file);
    }
    if (renameBetween(own, standing, own, "index.lock", "keep") < 0) return false;
    standing = "index.lock";
    if (!isSame() || renameBetween(own, standing, own, "index", "replace") < 0) return false;
    standing = "";
    return true;
  } finally {
    if (standing !== "") removeName(own, standing, "file");
  }
}
