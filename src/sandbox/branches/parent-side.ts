/**
 * Tells whether the parent's side of a branch differs from what it was when the branch was made.
 *
 * INVARIANT: whoever cannot be told from somebody who changed it has changed it.
 */
import { closeSync, constants, fstatSync, lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { MIB } from "../../base/bytes.ts";
import { blake3Hex } from "../../base/hash.ts";
import { heldOf, type Manifest } from "../copies/manifest.ts";
import { identityOf } from "../host/file-identity.ts";
import { canGive, dueOwnerBeneath } from "../landing/machine/owners.ts";
import { OPEN_DIRECTORY } from "../landing/moves.ts";
import { nameOf, parentOf, pathIn, type Standing } from "../landing/standing.ts";
import { accessListOf } from "../native/layer-calls.ts";
import { openBeneath } from "../native/syscalls.ts";
import type { BranchChange } from "./branch-changes.ts";

/** The parent's side, and what is known of the time at which the branch was made. */
interface ParentSide {
  /** An open descriptor of the parent. */
  readonly parent: number;
  readonly manifest: Manifest;
  /** As `Fork` has it. */
  readonly sinceNs: bigint;
}

/** Why a change is not merged, whatever has become of the parent. */
export type NeverMerged = "hidden_from_branch" | "owner_not_kept";

/**
 * What keeps a change from being merged: it stands in the place of something that the branch does not hold, or would
 * belong to another user or group than what it replaces.
 */
export function whyNeverMerged(root: number, { path, is, isHidden }: BranchChange): NeverMerged | undefined {
  if (isHidden === true) return "hidden_from_branch";
  const due = is === undefined ? undefined : dueOwnerBeneath(root, path, is);
  return due === undefined || canGive(due) ? undefined : "owner_not_kept";
}

/** Rights of a directory that a copy keeps. */
const DIRECTORY_RIGHTS = 0o3777;

/** Whether two directories have the same rights. */
export function hasSameRights(one: number | undefined, other: number | undefined): boolean {
  return one !== undefined && other !== undefined && (one & DIRECTORY_RIGHTS) === (other & DIRECTORY_RIGHTS);
}

/**
 * Whether another thing stands there than when the branch was made; a directory is another one by its kind and rights.
 * A file that came there with a directory of another name has an old time, and is another one.
 */
export function isOther(side: ParentSide, change: BranchChange, there: Standing | undefined): boolean {
  const { was, origin, wasMode } = change;
  if (was === undefined) return there !== undefined;
  if (there === undefined || there.kind !== was) return true;
  if (was === "directory") return !hasSameRights(there.mode, wasMode);
  if (there.identity !== origin) return true;
  return there.changedNs >= side.sinceNs && !isAsItWas(side.parent, change);
}

/**
 * Whether a file that was touched is the same one with the same content, owner and rights: so it is after a merge that
 * was killed was taken back, which moves the time of change.
 */
function isAsItWas(root: number, { path, was, base, held, origin }: BranchChange): boolean {
  if (base === undefined || held === undefined) return false;
  const parent = openBeneath(root, parentOf(path) || ".", OPEN_DIRECTORY, "plain");
  if (parent < 0) return false;
  try {
    const now = was === "link" ? linkAt(parent, nameOf(path)) : fileAt(parent, nameOf(path));
    return now !== undefined && now.identity === origin && now.held === held && now.digest === base;
  } finally {
    closeSync(parent);
  }
}

interface Now {
  readonly identity: string;
  readonly held: string;
  readonly digest: string;
}

function linkAt(parent: number, name: string): Now | undefined {
  const found = lstatSync(pathIn(parent, name), { bigint: true, throwIfNoEntry: false });
  if (found?.isSymbolicLink() !== true) return undefined;
  const digest = blake3Hex(readlinkSync(pathIn(parent, name), { encoding: "buffer" }));
  return { identity: identityOf(found), held: heldOf(found, undefined), digest };
}

/** @returns `undefined` for one that is large, cannot be read, or is written to at this moment */
function fileAt(parent: number, name: string): Now | undefined {
  const file = openBeneath(parent, name, READ, "plain");
  if (file < 0) return undefined;
  try {
    const found = fstatSync(file, { bigint: true });
    if (!found.isFile() || found.size > DIGEST_BYTES_MAX) return undefined;
    const digest = blake3Hex(readFileSync(file));
    if (fstatSync(file, { bigint: true }).ctimeNs !== found.ctimeNs) return undefined;
    return { identity: identityOf(found), held: heldOf(found, accessListOf(file)), digest };
  } finally {
    closeSync(file);
  }
}

const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
/** Bytes of a file of which is known what it held. */
const DIGEST_BYTES_MAX = MIB;

/**
 * Whether a directory that goes holds what was not in it when the branch was made, or what no branch sees: that would
 * go with it.
 */
export function holdsMore({ parent, manifest }: ParentSide, { path, was, is }: BranchChange): boolean {
  if (was !== "directory" || is === "directory") return false;
  const directory = openBeneath(parent, path, OPEN_DIRECTORY, "plain");
  if (directory < 0) return false;
  try {
    const known = manifest.in(path);
    return readdirSync(`/proc/self/fd/${directory}`, { encoding: "buffer" }).some((bytes) => {
      const name = bytes.toString();
      return !Buffer.from(name).equals(bytes) || (known.get(name) ?? HIDDEN).kind === "hidden";
    });
  } finally {
    closeSync(directory);
  }
}

const HIDDEN = { kind: "hidden" } as const;
