/**
 * Putting aside what a command made under a name that was not its to make: it keeps its content under a name that nobody's tools look
 * for, so that nothing is lost and nothing takes effect.
 *
 * INVARIANT: no link is followed on the way, so that nothing outside of the workspace is renamed.
 */
import { closeSync } from "node:fs";
import { dirname } from "node:path";
import { failureOf } from "./failures.ts";
import { openExistingDestination } from "./parent.ts";
import { reopenDirectory } from "./reopen.ts";
import type { WorkspaceRoots } from "./roots.ts";
import { errorName, renameWithin } from "./syscalls.ts";

/** What put-aside names begin with; zones hide them from agents. */
export const ASIDE_PREFIX = ".handrail-aside-";

/** Bytes of the longest name of a file. */
const NAME_BYTES_MAX = 255;
/** Names that are tried: whoever chooses the suffix can have made some of them before. */
const TRIES_MAX = 1000;

/**
 * Renames `path` of the service, in its directory, which the command may have closed; the new path, or `undefined` when it is gone by now.
 * @throws ToolFailure when it stands and cannot be renamed
 */
export function putAside(roots: WorkspaceRoots, path: string, suffix: string): string | undefined {
  const parent = dirname(path);
  reopenDirectory(roots.service.path || "/", parent);
  const destination = openExistingDestination(roots, { root: "service", path }, path);
  try {
    for (let tries = 0; ; tries += 1) {
      const name = cut(`${ASIDE_PREFIX}${suffix}${tries === 0 ? "" : `-${tries}`}-${destination.name}`);
      const result = renameWithin(destination.directory, destination.name, name, false);
      if (result >= 0) return parent === "." ? name : `${parent}/${name}`;
      if (errorName(result) === "ENOENT") return undefined;
      if (errorName(result) !== "EEXIST" || tries === TRIES_MAX) throw failureOf(errorName(result), path);
    }
  } finally {
    closeSync(destination.directory);
  }
}

/** As much of a name as the machine takes, in whole characters. */
function cut(name: string): string {
  const characters = [...name.slice(0, NAME_BYTES_MAX)];
  while (Buffer.byteLength(characters.join("")) > NAME_BYTES_MAX) characters.pop();
  return characters.join("");
}
