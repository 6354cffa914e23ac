/**
 * Reads both sides of the effects about which a person is asked: what stands in the workspace, and what would.
 *
 * INVARIANT: the digest of each side is that of all its bytes, also where only the beginning is read to be shown.
 */
import { closeSync, constants, lstatSync, openSync, readlinkSync, readSync } from "node:fs";
import { MIB } from "../../base/bytes.ts";
import { blake3Hex, streamingHash } from "../../base/hash.ts";
import type { LandedEffect } from "../../model/work/exec.ts";
import { FILE_CHUNK_BYTES } from "../files/read.ts";
import { openBeneath } from "../native/syscalls.ts";
import type { CommandEffect } from "../plan/workspace-mounts.ts";
import { OPEN_DIRECTORY } from "./moves.ts";
import type { LandingPlace } from "./plan.ts";
import { nameOf, parentOf, pathIn } from "./standing.ts";
import type { Step } from "./steps.ts";

/** One side of an effect: a file, or a link with the text that it leads to. */
export interface EffectSide {
  readonly kind: "file" | "link" | "directory";
  /** BLAKE3-256 of its bytes, hexadecimal; empty for a directory. */
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

/** What the moves of a landing will have done, file by file; of a directory that is one thing only that. */
export function* landingEffects(
  work: Pick<LandingPlace, "upper" | "judge">,
  steps: readonly Step[],
): Generator<void, readonly LandedEffect[]> {
  const effects: LandedEffect[] = [];
  let left = HASHED_BYTES_TOTAL;
  const file = function* (path: string, kind: LandedEffect["kind"]) {
    const at = pathIn(work.upper, path);
    const { size } = lstatSync(at);
    if (size > Math.min(HASHED_BYTES_MAX, left)) return { path, kind };
    left -= size;
    const digest = (yield* side(at, 0))?.digest ?? "";
    return { path, kind, ...(digest !== "" && { digest }) };
  };
  for (const { kind, path, over, tree } of steps) {
    if (kind === "remove" || kind === "remove_directory") effects.push({ path, kind: "delete" });
    else if (kind === "set_rights") effects.push({ path, kind: "mode" });
    else if (kind !== "put_tree") effects.push(yield* file(path, over === undefined ? "create" : "modify"));
    else {
      effects.push({ path, kind: over === undefined ? "create" : "modify" });
      for (const one of work.judge.isWhole(path) ? [] : (tree?.kept ?? []))
        effects.push(one.kind === "directory" ? { path: one.path, kind: "create" } : yield* file(one.path, "create"));
    }
    yield;
  }
  return effects;
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
  const read = function* (path: string) {
    const found = yield* side(path, Math.min(bytesMax, left));
    left -= found?.bytes.byteLength ?? 0;
    return found;
  };
  // the directory of a view lists them in any order, and the same effects are to be the same
  for (const effect of effects.toSorted((one, other) => (one.path < other.path ? -1 : 1))) {
    const parent = openBeneath(root, parentOf(effect.path) || ".", OPEN_DIRECTORY, "plain");
    try {
      const before = parent < 0 ? undefined : yield* read(pathIn(parent, nameOf(effect.path)));
      const after = effect.kind === "delete" ? undefined : yield* read(pathIn(upper, effect.path));
      reviewed.push({ ...effect, ...(before && { before }), ...(after && { after }) });
    } finally {
      if (parent >= 0) closeSync(parent);
    }
    yield;
  }
  return reviewed;
}

const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

function* side(path: string, bytesMax: number): Generator<void, EffectSide | undefined> {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return undefined;
  const mode = found.mode & 0o7777;
  if (found.isDirectory()) return { kind: "directory", digest: "", mode, bytes: NOTHING, sizeBytes: 0 };
  if (found.isSymbolicLink()) {
    const bytes = readlinkSync(path, { encoding: "buffer" });
    return { kind: "link", digest: blake3Hex(bytes), mode, bytes, sizeBytes: bytes.length };
  }
  const descriptor = openSync(path, READ);
  try {
    const hasher = streamingHash();
    const kept: Buffer[] = [];
    let sizeBytes = 0;
    const piece = Buffer.allocUnsafe(FILE_CHUNK_BYTES);
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
