/**
 * Bounds how long a path of a workspace may be, for everything that makes one.
 *
 * Without a bound of its own a path that one call made could be too long or too deep for what looks at the workspace
 * later, and would keep every command out of it.
 */

/** Bytes of a path relative to its workspace: the machine takes 4,096 with all that stands before and after it. */
export const PATH_BYTES_MAX = 3072;
/** Directories in each other: each may be a mount of its own for a command, above one file that is hidden. */
export const PATH_LEVELS_MAX = 64;

const SLASH = 0x2f;

/** Whether `path`, relative to its workspace, is longer or deeper than a workspace takes. */
export function isPathTooLong(path: string): boolean {
  if (path.length < PATH_LEVELS_MAX) return false;
  if (Buffer.byteLength(path) > PATH_BYTES_MAX) return true;
  let levels = 1;
  for (let at = 0; at < path.length; at += 1) if (path.charCodeAt(at) === SLASH) levels += 1;
  return levels > PATH_LEVELS_MAX;
}
