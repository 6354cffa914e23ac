/**
 * Recognises the file names that turn a directory into a git repository.
 *
 * Git takes any directory of that shape for a repository, and then runs the programs that its `config` names. The shape
 * is `HEAD` together with `objects` and `refs`, or with a `commondir` that leads to them. The functions are pure: the
 * caller knows what lies in the directory.
 *
 * Two of the stores are kept from coming together even without a `HEAD`, because commands are never shown such a
 * directory, and each one costs the next command a mount.
 *
 * INVARIANT: no directory takes the shape, and none that has it changes how git works there, except through a name that
 * `shapesRepository` knows.
 */
import { foldCase } from "../../names/glob.ts";

/** The file without which git takes no directory for a repository; protected by its name wherever it is made. */
export const REPOSITORY_HEAD = "HEAD";

/** Names that complete the shape beside a `HEAD`. */
const STORES: ReadonlySet<string> = new Set(["objects", "refs", "commondir"]);
/** Names that say, in a repository, what git does and runs. */
const SETTINGS: ReadonlySet<string> = new Set("config config.worktree hooks info gitdir modules worktrees".split(" "));

/**
 * Whether making or changing `name` in a directory completes the shape of a repository there, or changes how git works
 * in one.
 * @param has whether the directory has something under a name, as the file system compares names
 */
export function shapesRepository(name: string, has: (name: string) => boolean): boolean {
  if (name === REPOSITORY_HEAD) return true;
  const folded = foldCase(name);
  // Where case is ignored, this is the same file.
  if (folded === "head") return [...STORES].some(has);
  if (joinsStores(name, has)) return true;
  return (STORES.has(folded) || SETTINGS.has(folded)) && has(REPOSITORY_HEAD);
}

/** Whether making `name` brings two stores of a repository together. @param has as `shapesRepository` takes it */
export function joinsStores(name: string, has: (name: string) => boolean): boolean {
  const folded = foldCase(name);
  return STORES.has(folded) && [...STORES].some((other) => other !== folded && has(other));
}

/**
 * `shapesRepository` for a path and all directories that it leads through.
 * @param has whether something lies at a path, asked only about paths beside a name that could matter
 */
export function pathShapesRepository(path: string, has: (path: string) => boolean): boolean {
  const names = path.split("/");
  return names.some((name, depth) =>
    shapesRepository(name, (other) => has([...names.slice(0, depth), other].join("/"))),
  );
}
