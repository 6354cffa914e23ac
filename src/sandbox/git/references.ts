/** Reads the references of a repository from its files. */

import { KIB, MIB } from "../../base/bytes.ts";
import { GIT_REF_BYTES_MAX } from "../../base/limits.ts";
import type { RepositoryFiles } from "./repository-files.ts";

/** Bytes of a repository's settings, and of other small files of it, that are looked at. */
export const GIT_FILE_BYTES_MAX = 64 * KIB;
/** Bytes of the list of packed references that are looked at. */
const GIT_PACKED_REFS_BYTES_MAX = 8 * MIB;
/** Symbolic references that are followed one after another. */
const GIT_SYMBOLIC_REFS_MAX = 5;

const COMMIT = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
/** As git checks the names of references, and shorter than any file system's bound. */
const NAME = /^(?!.*(?:\.\.|\/\/|@\{|\.lock(?:\/|$)|\/\.|\.\/|\.$|\/$))[^\p{Cc}\\ ~^:?*[]+$/u;

const SYMBOLIC = /^ref: (refs\/.+)$/;
const BRANCHES = "refs/heads/";

/** The current branch and commit. */
export interface Head {
  /** What `.git/HEAD` says, without the end of its line. */
  readonly head: string;
  readonly branch?: string;
  readonly commit?: string;
}

/** References of one repository, as they are while nobody changes them. */
export class References {
  readonly #files: RepositoryFiles;
  #packed: ReadonlyMap<string, string> | undefined;

  constructor(files: RepositoryFiles) {
    this.#files = files;
  }

  /** What `HEAD` says; `undefined` when that cannot be read, or is no branch. */
  head(): Head | undefined {
    const text = this.#files.read(".git/HEAD", GIT_FILE_BYTES_MAX)?.trim();
    if (text === undefined) return undefined;
    if (COMMIT.test(text)) return { head: text, commit: text };
    const { target } = this.#followed(SYMBOLIC.exec(text)?.[1] ?? "") ?? {};
    if (!target?.startsWith(BRANCHES)) return undefined;
    const commit = this.#named(target);
    return { head: text, branch: target.slice(BRANCHES.length), ...(commit !== undefined && { commit }) };
  }

  /** The branch that is really changed when `branch` is: its name can stand for another. */
  readonly branchOf = (branch: string): string => {
    const { target } = this.#followed(`${BRANCHES}${branch}`) ?? {};
    return target?.startsWith(BRANCHES) ? target.slice(BRANCHES.length) : branch;
  };

  /** The object that `name` names, looked for where git looks. */
  readonly resolve = (name: string): string | undefined => {
    if (COMMIT.test(name)) return name;
    if (name === "HEAD") return this.head()?.commit;
    if (!isName(name)) return undefined;
    for (const full of [
      name,
      `refs/tags/${name}`,
      `refs/heads/${name}`,
      `refs/remotes/${name}`,
      `refs/remotes/${name}/HEAD`,
    ]) {
      const found = full.startsWith("refs/") ? this.#named(full) : undefined;
      if (found !== undefined) return found;
    }
    return undefined;
  };

  #named(full: string): string | undefined {
    const { text, target } = this.#followed(full) ?? {};
    if (text === undefined) return target === undefined ? undefined : this.#packedRefs().get(target);
    return COMMIT.test(text) ? text : undefined;
  }

  /** The reference at the end of `full` and of those that stand for others, with what its file says. */
  #followed(full: string): { readonly target: string; readonly text: string | undefined } | undefined {
    let target = full;
    for (let depth = 0; depth <= GIT_SYMBOLIC_REFS_MAX && isName(target); depth += 1) {
      const text = this.#files.read(`.git/${target}`, GIT_FILE_BYTES_MAX)?.trim();
      const next = SYMBOLIC.exec(text ?? "")?.[1];
      if (next === undefined) return { target, text };
      target = next;
    }
    return undefined;
  }

  #packedRefs(): ReadonlyMap<string, string> {
    this.#packed ??= new Map(
      (this.#files.read(".git/packed-refs", GIT_PACKED_REFS_BYTES_MAX) ?? "").split("\n").flatMap((line) => {
        const [, commit, name] = /^([0-9a-f]{40}|[0-9a-f]{64}) (refs\/\S+)$/.exec(line) ?? [];
        return commit === undefined || name === undefined ? [] : [[name, commit] as const];
      }),
    );
    return this.#packed;
  }
}

function isName(name: string): boolean {
  return Buffer.byteLength(name) <= GIT_REF_BYTES_MAX && NAME.test(name);
}
