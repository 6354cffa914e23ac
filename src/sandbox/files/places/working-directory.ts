/**
 * Checks that a command's working directory exists.
 *
 * A missing directory is the caller's mistake and no fault of the sandbox.
 */
import { closeSync, constants } from "node:fs";
import { errno, errorName, O_PATH, openBeneath } from "../../native/syscalls.ts";
import { failureOf } from "./failures.ts";
import { handleOf, type WorkspaceRoots } from "./roots.ts";

/**
 * Looks for `path`, relative to the service.
 * @throws ToolFailure FILE_NOT_FOUND, NOT_A_DIRECTORY; what else may be wrong with it shows in the sandbox, which alone
 * sees what links there lead to
 */
export function requireDirectory(roots: WorkspaceRoots, path: string): void {
  const descriptor = openBeneath(
    handleOf(roots, "service").descriptor,
    path,
    O_PATH | constants.O_DIRECTORY,
    "contained",
  );
  if (descriptor >= 0) closeSync(descriptor);
  else if (descriptor === -errno.ENOENT || descriptor === -errno.ENOTDIR) throw failureOf(errorName(descriptor), path);
}
