/**
 * Finds what was changed on a branch since it was made.
 *
 * INVARIANT: a directory is gone into by its own descriptor, and no link is followed.
 */
import { type BigIntStats, closeSync, lstatSync } from "node:fs";
import { ToolFailure } from "../../model/outcome/failure.ts";
import { type CopiedEntry, type Manifest, stampOf } from "../copies/manifest.ts";
import { isTemporaryName } from "../files/places/temporary.ts";
import { entriesIn } from "../host/directory-pieces.ts";
import { identityOf } from "../host/file-identity.ts";
import { OPEN_DIRECTORY } from "../landing/moves.ts";
import { openBeneath } from "../native/syscalls.ts";

/** What stands on one side of a change. */
export type BranchKind = "file" | "link" | "directory";

/** One path that differs from what it was when the branch was made. */
export interface BranchChange {
  readonly path: string;
  /** What stood there; absent where nothing did. */
  readonly was?: BranchKind;
  /** What stands there; absent where nothing does. */
  readonly is?: BranchKind;
  /** Which file or link of the parent it was copied from. */
  readonly origin?: string;
  /** BLAKE3-256 of what a small file held when the branch was made, or of where a link led. */
  readonly base?: string;
  /** Who owned it then, and its rights, as `heldOf` says it. */
  readonly held?: string;
  /** Rights of a directory then. */
  readonly wasMode?: number;
  readonly mode?: number;
  readonly bytes?: number;
  /** Another stamp, another content: what was looked at is what is taken later. */
  readonly stamp?: string;
  /** In the parent something stands there, or above it, that the branch does not hold. */
  readonly isHidden?: true;
}

const RIGHTS = 0o7777;
/** Changes that one branch may hold to be shown or merged. */
const CHANGES_MAX = 100_000;

/**
 * Lists the changes, directories before what lies in them.
 * @param tree an open descriptor of the branch's tree
 * @param isLeftOut whether a path is not looked at, nor what lies below it
 * @throws ToolFailure OUTPUT_LIMIT when there are too many
 */
export function* branchChanges(
  tree: number,
  manifest: Manifest,
  isLeftOut: (path: string) => boolean,
): Generator<void, readonly BranchChange[]> {
  const changes: BranchChange[] = [];
  const add = (change: BranchChange): void => {
    changes.push(change);
    if (changes.length > CHANGES_MAX) throw tooMany();
  };
  const open = [""];
  const hidden = new Set<string>();
  for (let directory = open.pop(); directory !== undefined; directory = open.pop()) {
    const isBelowHidden = hidden.has(directory);
    const descriptor = openBeneath(tree, directory === "" ? "." : directory, OPEN_DIRECTORY, "plain");
    if (descriptor < 0) continue; // it went away meanwhile: whoever merges looks again
    const known = manifest.in(directory);
    const seen = new Set<string>();
    try {
      for (const { name: bytes } of yield* entriesIn(`/proc/self/fd/${descriptor}`, Number.POSITIVE_INFINITY)) {
        const name = bytes.toString();
        if (!Buffer.from(name).equals(bytes) || isTemporaryName(name)) continue;
        seen.add(name);
        const path = directory === "" ? name : `${directory}/${name}`;
        const now = lstatSync(`/proc/self/fd/${descriptor}/${name}`, { bigint: true, throwIfNoEntry: false });
        const is = now && kindOf(now);
        if (now === undefined || is === undefined) continue;
        if (isLeftOut(path)) continue;
        const entry = known.get(name);
        const change = changeOf(path, entry, { now, is });
        if (change !== undefined) add(isBelowHidden ? { ...change, isHidden: true } : change);
        if (is !== "directory" && entry?.kind === "directory") yield* goneIn(manifest, path, { add, isLeftOut });
        if (is === "directory") open.push(path);
        if (is === "directory" && (isBelowHidden || entry?.kind === "hidden")) hidden.add(path);
        yield;
      }
    } finally {
      closeSync(descriptor);
    }
    for (const [name, entry] of known) {
      if (!seen.has(name))
        yield* gone(manifest, directory === "" ? name : `${directory}/${name}`, { entry, add, isLeftOut });
      yield;
    }
    yield;
  }
  return changes;
}

/** How what has gone is noted. */
interface Noting {
  readonly add: (change: BranchChange) => void;
  readonly isLeftOut: (path: string) => boolean;
}

/** All that lay in a directory that has gone. */
function* goneIn(manifest: Manifest, directory: string, noting: Noting): Generator<void> {
  for (const [name, entry] of manifest.in(directory)) {
    yield* gone(manifest, `${directory}/${name}`, { entry, ...noting });
    yield;
  }
}

function* gone(
  manifest: Manifest,
  path: string,
  { entry, ...noting }: Noting & { readonly entry: CopiedEntry },
): Generator<void> {
  if (entry.kind === "hidden" || noting.isLeftOut(path)) return;
  noting.add({ path, ...wasOf(entry) });
  if (entry.kind === "directory") yield* goneIn(manifest, path, noting);
}

function changeOf(
  path: string,
  was: CopiedEntry | undefined,
  { now, is }: { readonly now: BigIntStats; readonly is: BranchKind },
): BranchChange | undefined {
  if (was?.kind === "hidden") return hiddenChange(path, { now, is });
  const side = { is, mode: Number(now.mode) & RIGHTS, bytes: Number(now.size), stamp: stampOf(now) };
  if (was === undefined) return { path, ...side };
  if (was.kind !== is) return { path, ...wasOf(was), ...side };
  if (was.kind === "directory") return Number(now.mode) === was.mode ? undefined : { path, ...wasOf(was), ...side };
  const isSame = identityOf(now) === was.identity && stampOf(now) === was.stamp;
  return isSame ? undefined : { path, ...wasOf(was), ...side };
}

/**
 * What was written in the place of something that the branch does not hold; what stood there for it is empty. A
 * directory is told by what lies in it.
 */
function hiddenChange(
  path: string,
  { now, is }: { readonly now: BigIntStats; readonly is: BranchKind },
): BranchChange | undefined {
  if (is === "directory" || (is === "file" && now.size === 0n)) return undefined;
  const side = { is, mode: Number(now.mode) & RIGHTS, bytes: Number(now.size), stamp: stampOf(now) };
  return { path, was: is, ...side, isHidden: true };
}

type WasSide = Pick<BranchChange, "was" | "origin" | "base" | "held" | "wasMode">;

function wasOf(entry: Exclude<CopiedEntry, { kind: "hidden" }>): WasSide {
  if (entry.kind === "directory") return { was: entry.kind, wasMode: entry.mode & RIGHTS };
  const { kind: was, origin = "", digest: base, held } = entry;
  return { was, origin, ...(base !== undefined && { base }), ...(held !== undefined && { held }) };
}

function kindOf(found: BigIntStats): BranchKind | undefined {
  if (found.isFile()) return "file";
  if (found.isDirectory()) return "directory";
  return found.isSymbolicLink() ? "link" : undefined;
}

function tooMany(): ToolFailure {
  return new ToolFailure(
    "OUTPUT_LIMIT",
    `the branch changed more than ${CHANGES_MAX} files, which nobody could look at`,
    "remove what a build or an installation made there, or ask the operator to take over what is needed by hand",
  );
}
