/**
 * Reads both sides of the effects about which a person is asked: what stands in the workspace, and what would.
 *
 * INVARIANT: the digest of each side is that of all its bytes, also where only the beginning is read to be shown.
 */
import { chmodSync, closeSync, constants, lstatSync, openSync, readlinkSync, readSync } from "node:fs";
import { MIB } from "../../base/bytes.ts";
import { blake3Hex, streamingHash } from "../../base/hash.ts";
import type { LandedEffect } from "../../model/work/exec.ts";
import { coveredBy, renamesIn, type SidedEffect } from "../../model/work/renames.ts";
import { FILE_CHUNK_BYTES } from "../files/read.ts";
import { openBeneath } from "../native/syscalls.ts";
import type { CommandEffect } from "../plan/workspace-mounts.ts";
import { isDenied } from "./machine/failures.ts";
import { OPEN_DIRECTORY } from "./moves.ts";
import type { LandingPlace } from "./plan.ts";
import { nameOf, parentOf, pathIn } from "./standing.ts";
import { puts, type Step } from "./steps.ts";

/** One side of an effect: a file, or a link with the text that it leads to. */
export interface EffectSide {
  readonly kind: "file" | "link" | "directory";
  /** BLAKE3-256 of its bytes, hexadecimal; empty for a directory, and for a file that the kernel may not read. */
  readonly digest: string;
  readonly mode: number;
  /** As many of its bytes as are shown, and how many there are. */
  readonly bytes: Uint8Array;
  readonly sizeBytes: number;
}

/** An effect with both sides; a side is absent where there is nothing. */
export interface ReviewedEffect extends CommandEffect {
  readonly before?: EffectSide;
  readonly after?: EffectSide;
}

/** Bytes of one file, and of all together, that are hashed for the record of a landing. */
const HASHED_BYTES_MAX = MIB;
const HASHED_BYTES_TOTAL = 16 * MIB;

/** What a landing does to one path, and what of it shows a renaming. */
export interface LandingEffect extends SidedEffect {
  readonly digest?: string;
}

interface HashedFile {
  readonly path: string;
  readonly kind: "create" | "modify" | "delete";
  /** Where it lies. */
  readonly at: string;
  readonly which: Which;
  readonly size: number;
}

/** What the moves of a landing will have done, file by file; of a directory that is one thing only that. */
export function* landingEffects(
  work: Pick<LandingPlace, "root" | "upper" | "judge">,
  steps: readonly Step[],
): Generator<void, readonly LandingEffect[]> {
  const effects: LandingEffect[] = [];
  let left = HASHED_BYTES_TOTAL;
  const madeBytes = new Set<number>();
  const file = function* ({ path, kind, at, which, size }: HashedFile) {
    const bare = { path, kind, isDirectory: false };
    if (kind === "create") madeBytes.add(size);
    if (size > Math.min(HASHED_BYTES_MAX, left)) return bare;
    left -= size;
    const found = yield* side({ at, which }, 0);
    if (found === undefined || found.digest === "") return bare;
    return { ...bare, digest: found.digest, likeness: likenessOf(found), ...(size === 0 && { isEmpty: true }) };
  };
  const written = (path: string, kind: "create" | "modify") => {
    const at = pathIn(work.upper, path);
    return file({ path, kind, at, which: "after", size: lstatSync(at).size });
  };
  for (const { kind, path, over, tree } of steps) {
    if (kind === "set_rights") effects.push({ path, kind: "mode", isDirectory: true });
    else if (kind === "put_tree") {
      effects.push({ path, kind: over === undefined ? "create" : "modify", isDirectory: true });
      for (const one of work.judge.isWhole(path) ? [] : (tree?.kept ?? [])) {
        if (one.kind === "directory") effects.push({ path: one.path, kind: "create", isDirectory: true });
        else effects.push(yield* written(one.path, "create"));
        yield; // a tree holds as many as a command may make, and of an empty file nothing is read
      }
    } else if (puts({ kind })) effects.push(yield* written(path, over === undefined ? "create" : "modify"));
    yield;
  }
  for (const { path, over } of steps.filter(({ kind }) => kind === "remove" || kind === "remove_directory")) {
    const isDirectory = over?.kind === "directory";
    // read where it may have come from here alone
    const isCandidate = !isDirectory && over !== undefined && madeBytes.has(over.bytes);
    const parent = isCandidate ? openBeneath(work.root, parentOf(path) || ".", OPEN_DIRECTORY, "plain") : -1;
    try {
      if (over === undefined || parent < 0) effects.push({ path, kind: "delete", isDirectory });
      else {
        const at = pathIn(parent, nameOf(path));
        effects.push(yield* file({ path, kind: "delete", at, which: "before", size: over.bytes }));
      }
    } finally {
      if (parent >= 0) closeSync(parent);
    }
    yield;
  }
  return effects;
}

/**
 * The effects as they are recorded: both sides of a renaming as one; each step is one.
 * @param isLeft whether one has not landed after all
 */
export function* recordedEffects(
  all: readonly LandingEffect[],
  isLeft: (path: string) => boolean,
): Generator<void, readonly LandedEffect[]> {
  const effects = all.filter(({ path }) => !isLeft(path));
  const renames = new Map(renamesIn(effects).map((one) => [one.to, one]));
  const isGone = coveredBy(new Set([...renames.values()].map(({ from }) => from)));
  const isMade = coveredBy(new Set(renames.keys()));
  const recorded: LandedEffect[] = [];
  for (const { path, kind, digest } of effects) {
    const rename = kind === "create" ? renames.get(path) : undefined;
    const isOther = (kind === "delete" && isGone(path)) || (kind === "create" && isMade(path));
    if (rename !== undefined) recorded.push({ path, kind: "rename", from: rename.from, ...(digest && { digest }) });
    else if (!isOther) recorded.push({ path, kind, ...(digest && { digest }) });
    yield;
  }
  return recorded;
}

/** The same for two files, or links, with the same content and rights. */
export function likenessOf({ kind, mode, digest }: Pick<EffectSide, "kind" | "mode" | "digest">): string {
  return kind === "link" ? `link ${digest}` : `${kind} ${mode} ${digest}`;
}

/** Bytes of all sides together that are kept to be shown: more than any prompt shows. */
const KEPT_BYTES_MAX = 32 * MIB;

/** Reads both sides of each, in the order of paths. @param bytesMax of a side that are kept */
export function* reviewedEffects(
  { root, upper }: Pick<LandingPlace, "root" | "upper">,
  effects: readonly CommandEffect[],
  bytesMax: number,
): Generator<void, readonly ReviewedEffect[]> {
  const reviewed: ReviewedEffect[] = [];
  let left = KEPT_BYTES_MAX;
  const read = function* (lying: Lying) {
    const found = yield* side(lying, Math.min(bytesMax, left));
    left -= found?.bytes.byteLength ?? 0;
    return found;
  };
  // the directory of a view lists them in any order, and the same effects are to be the same
  for (const effect of effects.toSorted((one, other) => (one.path < other.path ? -1 : 1))) {
    const parent = openBeneath(root, parentOf(effect.path) || ".", OPEN_DIRECTORY, "plain");
    try {
      const before = parent < 0 ? undefined : yield* read({ at: pathIn(parent, nameOf(effect.path)), which: "before" });
      const after =
        effect.kind === "delete" ? undefined : yield* read({ at: pathIn(upper, effect.path), which: "after" });
      reviewed.push({ ...effect, ...(before && { before }), ...(after && { after }) });
    } finally {
      if (parent >= 0) closeSync(parent);
    }
    yield;
  }
  return reviewed;
}

const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const OWNER_READ = 0o400;
const MODE = 0o7777;

type Which = "before" | "after";

/** Where one side lies: in the workspace, or in the view. */
interface Lying {
  readonly at: string;
  readonly which: Which;
}

/**
 * Opens the file. One of the view that the command closed to its owner is opened for that moment; one of the workspace
 * is somebody's, and stays as it is.
 * @returns `undefined` where the kernel may not read it
 */
function openToRead({ at, which }: Lying, mode: number): number | undefined {
  try {
    return openSync(at, READ);
  } catch (error) {
    if (!isDenied(error)) throw error;
    if (which === "before") return undefined;
  }
  chmodSync(at, mode | OWNER_READ);
  try {
    return openSync(at, READ);
  } finally {
    chmodSync(at, mode);
  }
}

/** A file on one side of an effect, open to be read. */
export interface OpenSide {
  readonly read: (offset: number, length: number) => Buffer;
  readonly close: () => void;
}

/** Opens the file on one side of the effect on a path; `undefined` where none stands there. */
export type SideOpener = (path: string, which: Which) => OpenSide | undefined;

/** Opens sides as long as the view stands, and nothing has landed. */
export function sideOpener({ root, upper }: Pick<LandingPlace, "root" | "upper">): SideOpener {
  return (path, which) => {
    if (which === "after") return openedSide({ at: pathIn(upper, path), which });
    const parent = openBeneath(root, parentOf(path) || ".", OPEN_DIRECTORY, "plain");
    if (parent < 0) return undefined;
    try {
      return openedSide({ at: pathIn(parent, nameOf(path)), which });
    } finally {
      closeSync(parent);
    }
  };
}

function openedSide(lying: Lying): OpenSide | undefined {
  const found = lstatSync(lying.at, { throwIfNoEntry: false });
  if (found?.isFile() !== true) return undefined;
  const descriptor = openToRead(lying, found.mode & MODE);
  if (descriptor === undefined) return undefined;
  return {
    read(offset, length) {
      const piece = Buffer.allocUnsafe(length);
      return piece.subarray(0, readSync(descriptor, piece, 0, length, offset));
    },
    close: () => closeSync(descriptor),
  };
}

function* side(lying: Lying, bytesMax: number): Generator<void, EffectSide | undefined> {
  const found = lstatSync(lying.at, { throwIfNoEntry: false });
  if (found === undefined) return undefined;
  const mode = found.mode & MODE;
  if (found.isDirectory()) return { kind: "directory", digest: "", mode, bytes: NOTHING, sizeBytes: 0 };
  if (found.isSymbolicLink()) {
    const bytes = readlinkSync(lying.at, { encoding: "buffer" });
    return { kind: "link", digest: blake3Hex(bytes), mode, bytes, sizeBytes: bytes.length };
  }
  const descriptor = openToRead(lying, mode);
  if (descriptor === undefined) return { kind: "file", digest: "", mode, bytes: NOTHING, sizeBytes: found.size };
  try {
    const hasher = streamingHash();
    const kept: Buffer[] = [];
    let sizeBytes = 0;
    // thousands of large ones would stop the thread
    const piece = Buffer.allocUnsafe(Math.min(FILE_CHUNK_BYTES, found.size + 1));
    for (let length = readSync(descriptor, piece); length > 0; length = readSync(descriptor, piece)) {
      const read = piece.subarray(0, length);
      hasher.update(read);
      if (sizeBytes < bytesMax) kept.push(Buffer.from(read.subarray(0, bytesMax - sizeBytes)));
      sizeBytes += length;
      yield;
    }
    return { kind: "file", digest: hasher.hex(), mode, bytes: Buffer.concat(kept), sizeBytes };
  } finally {
    closeSync(descriptor);
  }
}

const NOTHING = new Uint8Array();
