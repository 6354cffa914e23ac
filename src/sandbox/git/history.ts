/**
 * The names of all files that the history of a repository holds, and a mark by which to know that it holds the same as before.
 *
 * INVARIANTS: every commit that lies in the repository counts, also one that no reference leads to any more, because whoever reads `.git` can name it;
 * so does what is staged, also in another working tree. A path that any commit has is named by the first that brought it, or by the merge that did.
 */
import { GIT_PATH_BYTES_MAX } from "../../base/limits.ts";
import type { RepositoryFiles } from "./repository-files.ts";

/** Prints the names, each with a null byte behind it; to be run in the repository, by an environment that lets nothing of it run. */
export const HISTORY_COMMAND: readonly [string, ...string[]] = [
  ...(["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c"] as const),
  `git ls-files -z --cached
for index in "$GIT_DIR"/worktrees/*/index; do
  if [ -e "$index" ]; then GIT_INDEX_FILE=$index git ls-files -z --cached; fi
done
git cat-file --batch-all-objects --unordered --batch-check='%(objecttype) %(objectname)' | sed -n 's/^commit //p' |
  git diff-tree --stdin --no-commit-id --root -r -c -z --name-only --no-renames --no-ext-diff --no-textconv`,
];

/** Directories that loose objects lie in. */
const LOOSE = Array.from({ length: 256 }, (_, index) => `objects/${index.toString(16).padStart(2, "0")}`);
/** Whatever the names depend on; a directory is another when something is added to it. */
const SOURCES = ["objects", "objects/pack", "objects/info", "objects/info/alternates", ...LOOSE, "index", "shallow", "config", "modules"];

/** A mark of what the history of the repository holds; `undefined` where there can be none. */
export function historyMark(files: RepositoryFiles): string | undefined {
  if (files.kindOf(".git/objects") === "nothing" && !holdsOthers(files)) return undefined;
  return SOURCES.map((name) => files.markOf(`.git/${name}`)).join("\n");
}

/** Whether the repository holds others, of submodules. */
export function holdsOthers(files: RepositoryFiles): boolean {
  return files.kindOf(".git/modules") !== "nothing";
}

/** Takes the names apart as they come. Names are bytes; what is no text stands as U+FFFD. */
export class NameReader {
  readonly #onName: (name: string) => void;
  #rest: Uint8Array = new Uint8Array();

  constructor(onName: (name: string) => void) {
    this.#onName = onName;
  }

  /** Takes the next bytes. @returns false for a name that is longer than any path */
  push(bytes: Uint8Array): boolean {
    const all = Buffer.concat([this.#rest, bytes]);
    let from = 0;
    for (let end = all.indexOf(0); end !== -1; end = all.indexOf(0, from)) {
      this.#onName(all.toString("utf8", from, end));
      from = end + 1;
    }
    this.#rest = all.subarray(from);
    return this.#rest.length <= GIT_PATH_BYTES_MAX;
  }

  /** Whether the last name was whole. */
  get isWhole(): boolean {
    return this.#rest.length === 0;
  }
}
