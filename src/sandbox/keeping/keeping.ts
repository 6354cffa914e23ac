/**
 * Keeps what stands under paths before a call changes it, so that a person can bring it back.
 *
 * INVARIANTS: nothing of a place where secrets lie is read; content is read through a descriptor that was reached
 * without following a link; memory is bounded, whatever the files have.
 */
import { type BigIntStats, closeSync, constants, fstatSync, lstatSync, readlinkSync, readSync } from "node:fs";
import { KIB, MIB } from "../../base/bytes.ts";
import { blake3Hex, type StreamingHash, streamingHash } from "../../base/hash.ts";
import type { WorkspaceRoot } from "../../model/place/access.ts";
import type {
  ContentWriter,
  FileChange,
  FileState,
  NotedChanges,
  UnkeptReason,
} from "../../model/work/file-history.ts";
import { errno, openBeneath } from "../native/syscalls.ts";

/**
 * What may be kept of a path: its content, nothing because secrets lie there, only that the directory `tree` changed
 * which is one thing, or nothing because nobody undoes it.
 */
export type Keepable = "content" | "secret" | "passed" | { readonly tree: string };

/** Keeps for one call. */
export interface Keeping {
  /** Of a path below the service root, unless another is named. */
  readonly keepable: (path: string, root?: WorkspaceRoot) => Keepable;
  /** Bytes of a file beyond which its content is not kept, and of all files of the call together. */
  readonly fileBytesMax: number;
  readonly callBytesMax: number;
  readonly writer: () => ContentWriter;
  /**
   * Notes changes that are about to be made.
   * @throws ToolFailure STORE_UNAVAILABLE when that is not possible: then they must not be made
   */
  readonly note: (changes: readonly FileChange[], how?: NoteTerms) => Promise<NotedChanges>;
}

/** Below which root the paths are, and whether the call changes more than is named. */
export interface NoteTerms {
  readonly root?: WorkspaceRoot;
  readonly isCut?: boolean;
}

/** What stands there, or why nothing is kept of it. */
export interface Kept {
  readonly state?: FileState;
  readonly unkept?: UnkeptReason;
}

/** A path about to change: `before` is looked for in the workspace, `after` where it waits. */
export interface ChangingPath {
  readonly path: string;
  readonly before?: NamedIn;
  /** A place outside of the workspace, or what will stand there. */
  readonly after?: NamedIn | { readonly state: FileState };
}

/** A path below an open directory. */
export interface NamedIn {
  readonly directory: number;
  readonly path: string;
}

/** Changes of one call that are noted; more are left out. */
export const NOTED_CHANGES_MAX = 20_000;
/** Bytes of new files of one landing that are hashed, so that it is known later whether somebody changed them. */
const HASHED_BYTES_MAX = 256 * MIB;
const PIECE_BYTES = 256 * KIB;
const MODE = 0o7777;
const OPEN_DIRECTORY = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Reads what `changing` is about, keeping what stands there. */
export function* keptChanges(
  keeping: Keeping,
  changing: Iterable<ChangingPath>,
): Generator<void, { readonly changes: readonly FileChange[]; readonly isCut: boolean }> {
  const changes: FileChange[] = [];
  const trees = new Set<string>();
  const left = { kept: keeping.callBytesMax, hashed: HASHED_BYTES_MAX };
  for (const one of changing) {
    if (changes.length >= NOTED_CHANGES_MAX) return { changes, isCut: true };
    const keepable = keeping.keepable(one.path);
    if (keepable === "passed") continue;
    if (typeof keepable === "object") {
      if (!trees.has(keepable.tree)) changes.push({ path: keepable.tree, before: TREE, after: TREE, unkept: "tree" });
      trees.add(keepable.tree);
    } else changes.push(yield* keptChange(keeping, one, left));
    yield;
  }
  return { changes, isCut: false };
}

const TREE: FileState = { kind: "directory", mode: 0 };

interface BytesLeft {
  kept: number;
  hashed: number;
}

function* keptChange(keeping: Keeping, one: ChangingPath, left: BytesLeft): Generator<void, FileChange> {
  const { path, before, after } = one;
  const isSecret = keeping.keepable(path) === "secret";
  const was = before === undefined ? {} : yield* stateAt(before, isSecret ? SECRET : keepingTaker(keeping, left));
  const taker = isSecret ? SECRET : hashing(left);
  const will = after === undefined ? {} : "state" in after ? { state: after.state } : yield* stateAt(after, taker);
  const unkept = was.unkept ?? will.unkept;
  return {
    path,
    ...(was.state && { before: was.state }),
    ...(will.state && { after: will.state }),
    ...(unkept !== undefined && { unkept }),
  };
}

/** Takes content: how much of it at most, and what becomes of it. */
interface Taker {
  readonly bytesMax: number;
  /** Why more is not taken. */
  readonly beyond: UnkeptReason;
  readonly writer: () => ContentWriter;
  readonly took: (bytes: number) => void;
}

const SECRET = "secret";

function keepingTaker({ fileBytesMax, writer }: Keeping, left: BytesLeft): Taker {
  const isLeft = left.kept < fileBytesMax;
  return {
    bytesMax: isLeft ? left.kept : fileBytesMax,
    beyond: isLeft ? "too_much" : "too_large",
    writer,
    took: (bytes) => {
      left.kept -= bytes;
    },
  };
}

function hashing(left: BytesLeft): Taker {
  return {
    bytesMax: left.hashed,
    beyond: "too_much",
    writer: hashWriter,
    took: (bytes) => {
      left.hashed -= bytes;
    },
  };
}

/** Hashes, and keeps nothing. */
export function hashWriter(): ContentWriter {
  let hash: StreamingHash | undefined;
  const hashing = () => (hash ??= streamingHash());
  return {
    write: (bytes) => hashing().update(bytes),
    end: () => hashing().hex(),
    whole: blake3Hex,
    discard: () => undefined,
  };
}

/** What stands there, its content given to `taker`; nothing where nothing does. */
export function* stateAt({ directory, path }: NamedIn, taker: Taker | typeof SECRET): Generator<void, Kept> {
  const slash = path.lastIndexOf("/");
  const parent = openBeneath(directory, slash < 0 ? "." : path.slice(0, slash), OPEN_DIRECTORY, "plain");
  if (parent < 0) return {};
  try {
    const name = path.slice(slash + 1);
    const found = lstatSync(`/proc/self/fd/${parent}/${name}`, { bigint: true, throwIfNoEntry: false });
    if (found === undefined) return {};
    const mode = Number(found.mode) & MODE;
    if (taker === SECRET) return { state: { kind: kindOf(found) ?? "file", mode }, unkept: "secret" };
    if (found.isDirectory()) return { state: { kind: "directory", mode } };
    if (found.isSymbolicLink()) return linkState(`/proc/self/fd/${parent}/${name}`, mode, taker);
    if (!found.isFile()) return { unkept: "not_a_file" };
    const descriptor = openBeneath(parent, name, READ, "plain");
    if (descriptor < 0)
      return descriptor === -errno.ENOENT ? {} : { state: { kind: "file", mode }, unkept: "unreadable" };
    try {
      return yield* fileState(descriptor, taker);
    } finally {
      closeSync(descriptor);
    }
  } finally {
    closeSync(parent);
  }
}

function kindOf(found: BigIntStats): FileState["kind"] | undefined {
  if (found.isDirectory()) return "directory";
  if (found.isSymbolicLink()) return "link";
  return found.isFile() ? "file" : undefined;
}

function linkState(at: string, mode: number, taker: Taker): Kept {
  const text = readlinkSync(at, { encoding: "buffer" });
  const writer = taker.writer();
  try {
    return { state: { kind: "link", mode, content: writer.whole(text), bytes: text.length } };
  } catch (error) {
    return { state: { kind: "link", mode, content: blake3Hex(text), bytes: text.length }, unkept: unstored(error) };
  } finally {
    writer.discard();
  }
}

/** The state of an open file, read from its beginning. */
export function* fileState(descriptor: number, taker: Taker): Generator<void, Kept> {
  const found = fstatSync(descriptor);
  if (!found.isFile()) return { unkept: "not_a_file" }; // it was one when it was looked at
  const { mode: fullMode, size } = found;
  const state = { kind: "file", mode: fullMode & MODE, bytes: size } as const;
  if (size > taker.bytesMax) return { state, unkept: taker.beyond };
  const writer = taker.writer();
  try {
    let bytes = 0;
    const piece = Buffer.allocUnsafe(Math.min(PIECE_BYTES, size + 1));
    for (;;) {
      const length = readSync(descriptor, piece, 0, piece.length, bytes);
      if (length === size && bytes === 0 && size < piece.length) {
        taker.took(size);
        return { state: { ...state, content: writer.whole(piece.subarray(0, size)) } };
      }
      if (length === 0) break;
      bytes += length;
      if (bytes > taker.bytesMax) return { state, unkept: taker.beyond };
      writer.write(piece.subarray(0, length));
      yield;
    }
    taker.took(bytes);
    return { state: { ...state, bytes, content: writer.end() } };
  } catch (error) {
    return { state, unkept: unstored(error) };
  } finally {
    writer.discard();
  }
}

/** What the machine refused keeps no change from being made; anything else is a bug. */
function unstored(error: unknown): UnkeptReason {
  if (error instanceof Error && "code" in error) return "not_stored";
  throw error;
}

/** Keeps the content of one file that a call is about to replace. */
export function* keptFile(keeping: Keeping, descriptor: number): Generator<void, Kept> {
  return yield* fileState(descriptor, keepingTaker(keeping, { kept: keeping.callBytesMax, hashed: 0 }));
}
