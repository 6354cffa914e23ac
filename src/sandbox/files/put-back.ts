/**
 * Putting back links that a command removed or replaced and that were not its to touch: no mount can lie over a link.
 *
 * INVARIANT: no link is followed on the way, and nothing that stands is replaced.
 */
import { closeSync, fstatSync } from "node:fs";
import { dirname } from "node:path";
import { ToolFailure } from "../../model/failure.ts";
import { failureOf } from "./failures.ts";
import { type Destination, openExistingDestination } from "./parent.ts";
import { reopenDirectory } from "./reopen.ts";
import type { WorkspaceRoots } from "./roots.ts";
import { errorName, makeLink } from "./syscalls.ts";

/**
 * Makes the link `path` of the service again.
 * @param points where it led, byte by byte as Latin-1
 * @returns whether it was made; `false` when something stands there again, or the directory was taken away, which no command can
 * @throws ToolFailure when it cannot be made
 */
export function putBack(roots: WorkspaceRoots, path: string, points: string): boolean {
  reopenDirectory(roots.service.path || "/", dirname(path));
  const destination = directoryOf(roots, path);
  if (destination === undefined) return false;
  const { directory, name } = destination;
  try {
    const result = makeLink(directory, name, Buffer.from(points, "latin1"), fstatSync(directory));
    if (result >= 0) return true;
    if (errorName(result) === "EEXIST") return false;
    throw failureOf(errorName(result), path);
  } finally {
    closeSync(directory);
  }
}

function directoryOf(roots: WorkspaceRoots, path: string): Destination | undefined {
  try {
    return openExistingDestination(roots, { root: "service", path }, path);
  } catch (error) {
    if (error instanceof ToolFailure && error.code === "FILE_NOT_FOUND") return undefined;
    throw error;
  }
}
