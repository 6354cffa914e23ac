/** Inspects a workspace file under one name of an open directory, and compares a view's file with it. */
import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  readSync,
} from "node:fs";
import { FILE_CHUNK_BYTES } from "../files/read.ts";
import { identityOf } from "../host/file-identity.ts";
import { dataFrom } from "../native/layer-calls.ts";
import { openBeneath } from "../native/syscalls.ts";

/** What stands under a name. */
export interface Standing {
  readonly kind: "file" | "directory" | "link" | "other";
  /** Nanoseconds of its last change of any kind, its name's included. */
  readonly changedNs: bigint;
  /** Nanoseconds of the last change of its content. */
  readonly writtenNs: bigint;
  readonly mode: number;
  /** Which one it is. */
  readonly inode: number;
  /** The same, told from one that was given its number later. */
  readonly identity: string;
  /** How many names it has. */
  readonly names: number;
  readonly bytes: number;
}

/** The path of `name` in the directory that the descriptor names, wherever that is now. */
export function pathIn(directory: number, name: string): string {
  return `/proc/self/fd/${directory}/${name}`;
}

/** What stands under `name`, no link followed; `undefined` when nothing does. */
export function standingAt(directory: number, name: string): Standing | undefined {
  const found = lstatSync(pathIn(directory, name), { bigint: true, throwIfNoEntry: false });
  if (found === undefined) return undefined;
  const { ctimeNs: changedNs, mtimeNs: writtenNs, mode, ino, nlink, size } = found;
  const [inode, names, bytes] = [Number(ino), Number(nlink), Number(size)];
  const identity = identityOf(found);
  return { kind: kindOf(found), changedNs, writtenNs, mode: Number(mode), inode, identity, names, bytes };
}

function kindOf(found: BigIntStats): Standing["kind"] {
  if (found.isFile()) return "file";
  if (found.isDirectory()) return "directory";
  return found.isSymbolicLink() ? "link" : "other";
}

/**
 * Whether the view's file at `own` and `name` in the directory have the same bytes, rights and time, or lead to the
 * same place.
 */
export function* isSameFile(own: string, directory: number, name: string): Generator<void, boolean> {
  const second = lstatSync(pathIn(directory, name), { bigint: true, throwIfNoEntry: false });
  if (second === undefined) return false;
  const first = lstatSync(own, { bigint: true });
  if (first.isSymbolicLink() && second.isSymbolicLink()) {
    const [one, other] = [own, pathIn(directory, name)].map((path) => readlinkSync(path, { encoding: "buffer" }));
    return one !== undefined && other !== undefined && one.equals(other);
  }
  const isAlike =
    first.isFile() &&
    second.isFile() &&
    first.size === second.size &&
    first.mode === second.mode &&
    first.mtimeNs === second.mtimeNs;
  return isAlike && (yield* hasSameBytes(own, openBeneath(directory, name, READ, "plain")));
}

const READ = constants.O_RDONLY | constants.O_NOFOLLOW;

/**
 * Whether the file at `own` has the bytes of the one at `path` below the open directory `root`; `undefined` where that
 * is no file, or one that has changed since `sinceNs`.
 */
export function* hasSameBytesBeneath(
  own: string,
  path: string,
  { root, sinceNs }: { readonly root: number; readonly sinceNs: bigint },
): Generator<void, boolean | undefined> {
  const other = openBeneath(root, path, READ, "plain");
  if (other < 0) return undefined;
  const { ctimeNs } = fstatSync(other, { bigint: true });
  if (ctimeNs < sinceNs) return yield* hasSameBytes(own, other);
  closeSync(other);
  return undefined;
}

/**
 * @param other an open descriptor, which is closed; one that is negative could not be opened, perhaps because somebody
 * holds a lease, and is other
 */
function* hasSameBytes(own: string, other: number): Generator<void, boolean> {
  if (other < 0) return false;
  const descriptors = [openSync(own, READ), other] as const;
  try {
    const pieces = [Buffer.allocUnsafe(FILE_CHUNK_BYTES), Buffer.allocUnsafe(FILE_CHUNK_BYTES)] as const;
    for (let offset = 0; ; ) {
      const at = Math.min(...descriptors.map((one) => dataFrom(one, offset)?.from ?? Number.POSITIVE_INFINITY));
      if (!Number.isFinite(at)) return fstatSync(descriptors[0]).size === fstatSync(descriptors[1]).size; // holes
      const length = readSync(descriptors[0], pieces[0], 0, FILE_CHUNK_BYTES, at);
      const otherLength = readSync(descriptors[1], pieces[1], 0, FILE_CHUNK_BYTES, at);
      if (length !== otherLength || !pieces[0].subarray(0, length).equals(pieces[1].subarray(0, length))) return false;
      if (length === 0) return true;
      offset = at + length;
      yield;
    }
  } finally {
    for (const descriptor of descriptors) closeSync(descriptor);
  }
}

/** The directory of a path that is relative to the workspace; empty for the workspace itself. */
export function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

/** The last name of a path. */
export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
