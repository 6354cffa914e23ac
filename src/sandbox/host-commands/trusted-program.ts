/**
 * Verifies that a machine's program is what the operator listed and cannot be changed by others.
 *
 * INVARIANT: neither the file of a trusted program, nor a link that leads to it, nor a directory on the way can be
 * changed by anybody but root and the user of the kernel. So it is still the same when it is started.
 */
import { accessSync, constants, lstatSync, readlinkSync, realpathSync, type Stats } from "node:fs";
import { dirname, join, resolve } from "node:path";

/** Links that are followed to a listed program. */
const HOST_LINKS_MAX = 16;

/** A program that may be started, by the path that was listed: programs look at the name that they are started by. */
export type TrustedProgram =
  | { readonly ok: true; readonly realPath: string }
  /** As the rest of a sentence about the program, such as `is not there`. */
  | { readonly ok: false; readonly problem: string; readonly isMissing: boolean };

/** Looks at the program at the absolute `path`. @param ownUser whose files are trusted besides root's */
export function trustedProgram(path: string, ownUser: number): TrustedProgram {
  let at = path;
  for (let links = 0; links <= HOST_LINKS_MAX; links += 1) {
    const looked = look(at, ownUser);
    if (typeof looked === "string") return { ok: false, problem: looked, isMissing: looked === MISSING };
    const { stats, place } = looked;
    if (!stats.isSymbolicLink()) return judged(place, stats, ownUser);
    at = resolve(dirname(place), readlinkSync(place));
  }
  return { ok: false, problem: "is behind too many links", isMissing: false };
}

const MISSING = "is not there";

/** What stands at `path`, and its place with all directories resolved, once these are trusted. */
function look(path: string, ownUser: number): { readonly stats: Stats; readonly place: string } | string {
  try {
    const directory = realpathSync(dirname(path));
    for (let above = directory; ; above = dirname(above)) {
      const problem = problemOfDirectory(above, ownUser);
      if (problem !== undefined) return problem;
      if (above === "/") break;
    }
    const place = join(directory, path.slice(path.lastIndexOf("/") + 1));
    return { stats: lstatSync(place), place };
  } catch (error) {
    if (isAbsent(error)) return MISSING;
    throw error;
  }
}

function problemOfDirectory(directory: string, ownUser: number): string | undefined {
  const stats = lstatSync(directory);
  if (!isTrusted(stats, ownUser)) return `lies below \`${directory}\`, which belongs to user ${stats.uid}`;
  // Where the sticky bit is set, nobody can put another file in the place of one that is not theirs.
  const isSticky = (stats.mode & constants.S_IFMT) === constants.S_IFDIR && (stats.mode & 0o1000) !== 0;
  return isOpen(stats) && !isSticky ? `lies below \`${directory}\`, which others can write` : undefined;
}

function judged(place: string, stats: Stats, ownUser: number): TrustedProgram {
  const problem = problemOfProgram(place, stats, ownUser);
  return problem === undefined ? { ok: true, realPath: place } : { ok: false, problem, isMissing: false };
}

function problemOfProgram(place: string, stats: Stats, ownUser: number): string | undefined {
  if (!stats.isFile()) return "is no regular file";
  if (!isTrusted(stats, ownUser)) return `belongs to user ${stats.uid}`;
  if (isOpen(stats)) return "can be written by others";
  try {
    accessSync(place, constants.X_OK);
    return undefined;
  } catch {
    return "cannot be run by the kernel"; // whatever the reason, it would not start
  }
}

function isTrusted({ uid }: Stats, ownUser: number): boolean {
  return uid === 0 || uid === ownUser;
}

function isOpen({ mode }: Stats): boolean {
  return (mode & 0o022) !== 0;
}

function isAbsent(error: unknown): boolean {
  return (
    error instanceof Error &&
    "code" in error &&
    (error.code === "ENOENT" || error.code === "ENOTDIR" || error.code === "ELOOP")
  );
}
