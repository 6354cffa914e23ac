/**
 * Finding a file: from the path an agent wrote to a descriptor of what is really there, judged.
 *
 * Decides: which file a path names, and whether the call may touch it. Trusts: the kernel's containment (`openat2`),
 * and that the requested path itself was judged before the call. INVARIANTS: the descriptor lies inside the workspace;
 * when its real path is not the requested one, the real one was judged; nothing was opened for reading or writing yet,
 * so no FIFO blocked and no device noticed.
 */
import { closeSync, fstatSync, type Stats } from "node:fs";

import type { Denial } from "../../../model/outcome/decision.ts";
import { Refusal } from "../../../model/outcome/failure.ts";
import type { WorkspacePath } from "../../../model/place/access.ts";
import { resolveWorkspacePath, type Workspace } from "../../../model/place/workspace.ts";
import { closeDescriptor, errno, errorName, O_PATH, openBeneath, regularFileSize } from "../../native/syscalls.ts";
import { failureOf, quoted, refusal } from "./failures.ts";
import { handleOf, isInPlaceThisTurn, placeOf, realPathOf, requireRootsInPlace, type WorkspaceRoots } from "./roots.ts";
import { hasTemporaryName } from "./temporary.ts";
import { traceLinks } from "./trace.ts";

/** Attempts to open a path that others keep renaming or replacing; each lost race costs one. */
const FILE_OPEN_ATTEMPTS_MAX = 128;

/** Bytes of a path that the system takes, without the null byte at its end. */
const SYSTEM_PATH_BYTES_MAX = 4095;
const UTF8_BYTES_PER_UNIT_MAX = 3;

/** What a call does to a file. */
export type FileEffect = "read" | "write";

/** The part of the world that one call may see, and who judges it. */
export interface FileScope {
  readonly workspace: Workspace;
  readonly roots: WorkspaceRoots;
  /** Judges a place that is another one than the requested; a denial ends the call. */
  readonly judge: (target: WorkspacePath, effect: FileEffect) => Denial | undefined;
}

/** A file that was found: an `O_PATH` descriptor (the caller closes it), what it is, and where it really lies. */
export interface Found {
  readonly kind: "found";
  readonly descriptor: number;
  readonly stats: Stats;
  readonly place: WorkspacePath;
}

/** Nothing is there yet: `place` is where the path leads, all links followed and judged. */
export interface Missing {
  readonly kind: "missing";
  readonly place: WorkspacePath;
}

/** What a search goes for: the place that the call names, by which path, and what is to be done there. */
interface Sought {
  readonly place: WorkspacePath;
  readonly path: string;
  readonly effects: readonly FileEffect[];
}

/**
 * Finds the file that `path` names.
 * @throws Refusal when it is outside, on another mount or judged so; ToolFailure for other errors
 */
export function find(scope: FileScope, path: string, effects: readonly FileEffect[]): Found | Missing {
  const sought = { place: requestedPlace(scope, path), path, effects };
  let { place } = sought;
  for (let attempt = 0; attempt < FILE_OPEN_ATTEMPTS_MAX; attempt += 1) {
    const descriptor = openBeneath(handleOf(scope.roots, place.root).descriptor, place.path, O_PATH, "contained");
    if (descriptor >= 0) {
      const found = settle(scope, descriptor, sought);
      if (found) return found;
      continue; // it was replaced between the opening and the look at its name: look for its successor
    }
    if (descriptor === -errno.EAGAIN) continue; // a rename somewhere made the kernel unsure
    const led = whereItLeads(scope, sought);
    if (descriptor === -errno.ENOENT) return { kind: "missing", place: led };
    if (descriptor !== -errno.EXDEV && descriptor !== -errno.ELOOP) throw failureOf(errorName(descriptor), path);
    // An absolute link is refused by the kernel even when it ends inside: its end, judged, can be opened by itself.
    // When nothing on the way is a link any more, the path was changed meanwhile, and the next attempt sees what it is
    // now.
    place = led;
  }
  requireRootsInPlace(scope.roots); // a deleted root never settles
  throw failureOf("EAGAIN", path);
}

/**
 * Finds the regular file that `path` names if no link is on the way: then it is the very place that was judged, and its
 * real path need not be asked for. `undefined` sends the caller to `find`, which explains. The caller closes it.
 */
export function findUnlinked(
  scope: FileScope,
  path: string,
): { readonly descriptor: number; readonly sizeBytes: number } | undefined {
  const { root, path: inside } = requestedPlace(scope, path);
  const handle = handleOf(scope.roots, root);
  const descriptor = openBeneath(handle.descriptor, inside, O_PATH, "plain");
  if (descriptor < 0) return undefined;
  const sizeBytes = regularFileSize(descriptor, true);
  if (sizeBytes !== undefined && isInPlaceThisTurn(handle)) return { descriptor, sizeBytes };
  closeDescriptor(descriptor);
  return undefined;
}

/** Like `find`, for what must exist. */
export function findExisting(scope: FileScope, path: string, effects: readonly FileEffect[]): Found {
  const found = find(scope, path, effects);
  if (found.kind === "missing") throw failureOf("ENOENT", path);
  return found;
}

/** The place that `path` names, without a look at the file system. */
export function requestedPlace(scope: FileScope, path: string): WorkspacePath {
  const resolved = resolveWorkspacePath(scope.workspace, path);
  if (!resolved.ok) throw new Refusal(resolved.denial);
  if (isTooLong(resolved.value.path)) throw failureOf("ENAMETOOLONG", path);
  refuseTemporary(resolved.value, path);
  return resolved.value;
}

function isTooLong(path: string): boolean {
  return (
    path.length * UTF8_BYTES_PER_UNIT_MAX > SYSTEM_PATH_BYTES_MAX && Buffer.byteLength(path) > SYSTEM_PATH_BYTES_MAX
  );
}

/**
 * The file of an opened descriptor, judged; `undefined` when it has lost its name meanwhile. Closes the descriptor
 * unless it is found.
 */
function settle(scope: FileScope, descriptor: number, sought: Sought): Found | undefined {
  let found: Found | undefined;
  try {
    const real = realPathOf(descriptor);
    const stats = fstatSync(descriptor);
    if (stats.nlink > 0 || !real.endsWith(" (deleted)")) {
      found = { kind: "found", descriptor, stats, place: realPlace(scope, real, sought) };
    }
    return found;
  } finally {
    if (found === undefined) closeSync(descriptor);
  }
}

/** The place of the real path `real`; judged unless it is the requested one. */
function realPlace(scope: FileScope, real: string, sought: Sought): WorkspacePath {
  const { place: requested } = sought;
  const base = handleOf(scope.roots, requested.root).path;
  if (real === (requested.path === "." ? base || "/" : `${base}/${requested.path}`)) return requested;
  const place = placeOf(scope.roots, real);
  if (place === undefined) {
    requireRootsInPlace(scope.roots);
    throw escapes(sought);
  }
  judgeReal(scope, place, sought);
  return place;
}

/**
 * Where a path leads that the kernel would not open; judged, so that links do not tell what exists in blocked places.
 */
function whereItLeads(scope: FileScope, sought: Sought): WorkspacePath {
  const { place: requested, path } = sought;
  requireRootsInPlace(scope.roots);
  const trace = traceLinks(scope.roots, requested);
  if (trace.kind === "mount") {
    const message = `${quoted(path)} lies on another file system that is mounted inside the workspace; it cannot be used`;
    throw refusal({
      reason: "workspace_device_boundary",
      ruleId: "WORKSPACE:device",
      message,
      fix: "work on a file that lies on the workspace's own file system",
      targetPath: requested.path,
    });
  }
  if (trace.kind === "loop") {
    const message = `${quoted(path)} runs through symbolic links that never end; it cannot be used`;
    const fix = "name the file by a path without that link";
    throw refusal({
      reason: "workspace_symlink_escape",
      ruleId: "WORKSPACE:symlink",
      message,
      fix,
      targetPath: requested.path,
    });
  }
  if (trace.kind === "outside") throw escapes(sought);
  if (!samePlace(trace.place, requested)) judgeReal(scope, trace.place, sought);
  return trace.place;
}

function judgeReal(scope: FileScope, place: WorkspacePath, sought: Sought): void {
  const { path, effects } = sought;
  if (place.path.includes("\ufffd")) throw escapes(sought); // a name that is not UTF-8 cannot be judged
  refuseTemporary(place, path);
  for (const effect of effects) {
    const denial = scope.judge(place, effect);
    if (denial) throw new Refusal(denial);
  }
}

function refuseTemporary(place: WorkspacePath, path: string): void {
  if (!hasTemporaryName(place.path)) return;
  const message = `${quoted(path)} has a name that is kept for files in the making; use another name`;
  const fix = "use another file name";
  throw refusal({
    reason: "workspace_blocked_zone",
    ruleId: "WORKSPACE:temporary",
    message,
    fix,
    targetPath: place.path,
  });
}

function escapes({ place, path }: Sought): Refusal {
  const message = `${quoted(path)} leads out of the workspace through a symbolic link; only files of the workspace can be used`;
  const fix = "name a file inside the workspace";
  return refusal({
    reason: "workspace_symlink_escape",
    ruleId: "WORKSPACE:symlink",
    message,
    fix,
    targetPath: place.path,
  });
}

/** Whether both name the same place. */
export function samePlace(left: WorkspacePath, right: WorkspacePath): boolean {
  return left.root === right.root && left.path === right.path;
}

/** What kind of thing `stats` describes, in words. */
export function kindOf(
  stats: Pick<Stats, "isFile" | "isDirectory" | "isFIFO" | "isSocket" | "isSymbolicLink">,
): string {
  if (stats.isFile()) return "file";
  if (stats.isDirectory()) return "directory";
  if (stats.isFIFO()) return "FIFO";
  if (stats.isSocket()) return "socket";
  return stats.isSymbolicLink() ? "symbolic link" : "device";
}
