/**
 * Visits the files of a workspace for an index, and reads parts of them for whoever asks.
 *
 * It walks as a search does, with the same exclusions. INVARIANTS: nothing is opened by a path that leads over a link,
 * out of the workspace or onto another mount; only regular files are read; nobody is waited for.
 */
import { constants, fstatSync } from "node:fs";
import { getSystemErrorName } from "node:util";
import { ToolFailure } from "../../model/outcome/failure.ts";
import type { WorkspacePath } from "../../model/place/access.ts";
import type { Workspace } from "../../model/place/workspace.ts";
import { handleOf, requireRootsInPlace, type WorkspaceRoots } from "../files/places/roots.ts";
import { closeDescriptor, O_PATH, openBeneath } from "../native/syscalls.ts";
import { contentsOf, type SkipReason } from "./tree/contents.ts";
import { exclusionsOf } from "./tree/exclusions.ts";
import { IgnoreRules } from "./tree/ignore-rules.ts";
import { walkTree } from "./tree/walk.ts";

/** What is visited: everything that some session could read. */
export interface VisitScope {
  readonly workspace: Workspace;
  readonly roots: WorkspaceRoots;
  readonly signal: AbortSignal;
}

/** A file that was met. */
export interface VisitedFile {
  readonly place: WorkspacePath;
  readonly sizeBytes: number;
  /** When it was last changed, milliseconds since the Unix epoch. */
  readonly changedMs: number;
}

const DIRECTORY_FLAGS = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/**
 * All files of the workspace that are neither secret nor managed nor ignored, in the byte order of their paths.
 * @throws ToolFailure STORE_UNAVAILABLE where the workspace cannot be opened
 */
export async function visitFiles({ workspace, roots, signal }: VisitScope): Promise<readonly VisitedFile[]> {
  const start: WorkspacePath = { root: "service", path: "." };
  const mayRead = (place: WorkspacePath) => {
    const zone = workspace.zones.classify(place);
    return zone !== "secret" && zone !== "managed";
  };
  const exclusions = exclusionsOf({ workspace, isolationLevel: "SHARED", mayRead }, start);
  requireRootsInPlace(roots);
  const descriptor = openBeneath(handleOf(roots, "service").descriptor, ".", DIRECTORY_FLAGS, "plain");
  // An empty list would say that every file has gone.
  if (descriptor < 0) throw unreachable(descriptor);
  const files: VisitedFile[] = [];
  const isTimeUp = () => {
    signal.throwIfAborted();
    return false;
  };
  const report = { unreadable: 0, truncated: false };
  const options = { exclusions, recursive: true, glob: undefined, ignoreRules: IgnoreRules.none, isTimeUp, report };
  await walkTree({ descriptor, place: start }, options, async (batch) => {
    for (const { directory, name, place } of batch) {
      const file = lookAt(directory.descriptor, name, place);
      directory.release();
      if (file !== undefined) files.push(file);
    }
    return true;
  });
  return files;
}

function unreachable(code: number): ToolFailure {
  const message = `the workspace cannot be opened now (${getSystemErrorName(code)})`;
  return new ToolFailure("STORE_UNAVAILABLE", message, { suggestion: "try again in a moment", retryAfterMs: 1000 });
}

function lookAt(directory: number, name: string, place: WorkspacePath): VisitedFile | undefined {
  const descriptor = openBeneath(directory, name, O_PATH | constants.O_NOFOLLOW, "plain");
  if (descriptor < 0) return undefined;
  try {
    const stats = fstatSync(descriptor);
    return stats.isFile() ? { place, sizeBytes: stats.size, changedMs: stats.mtimeMs } : undefined;
  } finally {
    closeDescriptor(descriptor);
  }
}

/** The bytes of the file at `place`, until the next reading; or why there are none. */
export function readPlace(roots: WorkspaceRoots, { root, path }: WorkspacePath): Buffer | SkipReason | "busy" {
  requireRootsInPlace(roots);
  return contentsOf(handleOf(roots, root).descriptor, path);
}
