/**
 * Lists the names of all files in a repository's history, or in some of its objects.
 *
 * INVARIANTS: every commit that lies in the repository counts, even if no reference leads to it any more, because
 * anyone who reads `.git` can name it. What is staged counts as well, also in another working tree. A path that any
 * commit has is named by the first commit that brought it, or by the merge that did.
 */
import { KIB } from "../../base/bytes.ts";
import type { AddedObjects } from "./held-objects.ts";

/** Objects that one argument of git's names: arguments have at most 128 KiB. */
const GIT_OBJECTS_PER_ARGUMENT = 1500;
/** Bytes of a path in a history. */
const GIT_PATH_BYTES_MAX = 64 * KIB;

/** Prints what is staged, an empty name, and the names that the commits bring, each with a null byte behind it. */
const HISTORY = `git ls-files -z --cached
for index in "$GIT_DIR"/worktrees/*/index; do
  if [ -e "$index" ]; then GIT_INDEX_FILE=$index git ls-files -z --cached; fi
done
printf '\\0'
objects "$@" | sed -n 's/^commit //p' |
  git -c core.commitGraph=false diff-tree --stdin --no-commit-id --root -r -c -z --name-only --no-renames --no-ext-diff --no-textconv`;
const ALL_OBJECTS = `objects() {
  git cat-file --batch-all-objects --unordered --batch-check='%(objecttype) %(objectname)'
}`;
/** The first argument names packs, the others loose objects. */
const SOME_OBJECTS = `objects() {
  named "$@" | git cat-file --batch-check='%(objecttype) %(objectname)'
}
named() {
  for pack in $1; do git show-index <"$GIT_DIR/objects/pack/$pack" | cut -d ' ' -f 2; done
  shift
  printf '%s\\n' "$@"
}`;

/**
 * The command that prints the names; to be run in the repository, by an environment that lets nothing of it run.
 * @param added looks through those objects, and what is staged, alone
 */
export function historyCommand(added?: AddedObjects): readonly [string, ...string[]] {
  const bash = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c"] as const;
  if (added === undefined) return [...bash, `${ALL_OBJECTS}\n${HISTORY}`];
  const { packs, loose } = added;
  const objects: string[] = [];
  for (let at = 0; at < loose.length; at += GIT_OBJECTS_PER_ARGUMENT)
    objects.push(loose.slice(at, at + GIT_OBJECTS_PER_ARGUMENT).join("\n"));
  return [...bash, `${SOME_OBJECTS}\n${HISTORY}`, "history", packs.join(" "), ...objects];
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
