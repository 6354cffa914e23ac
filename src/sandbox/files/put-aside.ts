/**
 * Putting aside what a command made under a name that was not its to make: it keeps its content under a name that nobody's tools look
 * for, so that nothing is lost and nothing takes effect.
 *
 * INVARIANT: no link is followed on the way, so that nothing outside of the workspace is renamed.
 */
import { closeSync } from "node:fs";
import { failureOf } from "./failures.ts";
import { openExistingDestination } from "./parent.ts";
import type { WorkspaceRoots } from "./roots.ts";
import { errorName, renameWithin } from "./syscalls.ts";

/** What put-aside names begin with; zones hide them from agents. */
export const ASIDE_PREFIX = ".handrail-aside-";

/**
 * Renames `path` of the service, in its directory; the new path, or `undefined` when it is gone by now.
 * @throws ToolFailure when it stands and cannot be renamed
 */
export function putAside(roots: WorkspaceRoots, path: string, suffix: string): string | undefined {
  const destination = openExistingDestination(roots, { root: "service", path }, path);
  try {
    const name = `${ASIDE_PREFIX}${suffix}-${destination.name}`.slice(0, 255);
    const result = renameWithin(destination.directory, destination.name, name, false);
    if (result >= 0) return path.slice(0, path.length - destination.name.length) + name;
    if (errorName(result) === "ENOENT") return undefined;
    throw failureOf(errorName(result), path);
  } finally {
    closeSync(destination.directory);
  }
}
