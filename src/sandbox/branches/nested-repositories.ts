/**
 * Finds repositories of git below the top of a branch in which something was committed.
 *
 * A merge takes commits of the repository at the top alone, so that whoever merges has to know of others.
 */
import type { BranchChange } from "./branch-changes.ts";

/** A repository in a directory, or of a submodule, with what says where its commits are. */
const REFERENCE = /^(?:(.+?)\/\.git|\.git\/modules\/(.+?))\/(?:HEAD|packed-refs|refs\/.+)$/;
/** The same, and the directories on the way there. */
const ON_THE_WAY = /^.+\/\.git(?:\/(?:HEAD|packed-refs|refs(?:\/.*)?))?$/;
const OF_SUBMODULES = /^\.git\/modules(?!.*\/(?:objects|hooks|logs|info|lfs)(?:\/|$))(?:\/.*)?$/;

/** Whether a path of which nothing is merged is looked at all the same, to find such repositories. */
export function isLookedAt(path: string): boolean {
  return ON_THE_WAY.test(path) || OF_SUBMODULES.test(path);
}

/** Their directories, or names of submodules, sorted; where references only went away nothing is lost. */
export function nestedRepositoriesIn(changes: readonly BranchChange[]): readonly string[] {
  const found = changes.flatMap(({ path, is }) => {
    const [, directory, submodule] = (is !== "directory" && is !== undefined && REFERENCE.exec(path)) || [];
    const name = directory ?? submodule;
    return name === undefined ? [] : [name];
  });
  return [...new Set(found)].sort();
}
