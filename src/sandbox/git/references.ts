/** What the references of a repository name, read from its files. */
import { GIT_FILE_BYTES_MAX, GIT_PACKED_REFS_BYTES_MAX, GIT_REF_BYTES_MAX, GIT_SYMBOLIC_REFS_MAX } from "../../base/limits.ts";
import type { RepositoryFiles } from "./repository-files.ts";

const COMMIT = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
/** As git checks the names of references, and shorter than any file system's bound. */
const NAME = /^(?!.*(?:\.\.|\/\/|@\{|\.lock(?:\/|$)|\/\.|\.\/|\.$|\/$))[^\p{Cc}\\ ~^:?*[]+$/u;

/** The current branch and commit. */
export interface Head {
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

  /** What `HEAD` says; `undefined` when that cannot be read. */
  head(): Head | undefined {
    const text = this.#files.read(".git/HEAD", GIT_FILE_BYTES_MAX)?.trim();
    if (text === undefined) return undefined;
    if (COMMIT.test(text)) return { commit: text };
    const target = /^ref: (refs\/.+)$/.exec(text)?.[1];
    if (target === undefined || !isName(target)) return undefined;
    const commit = this.#named(target, 0);
    return {
      ...(target.startsWith("refs/heads/") && { branch: target.slice("refs/heads/".length) }),
      ...(commit !== undefined && { commit }),
    };
  }

  /** The object that `name` names, looked for where git looks. */
  readonly resolve = (name: string): string | undefined => {
    if (COMMIT.test(name)) return name;
    if (name === "HEAD") return this.head()?.commit;
    if (!isName(name)) return undefined;
    for (const full of [name, `refs/tags/${name}`, `refs/heads/${name}`, `refs/remotes/${name}`, `refs/remotes/${name}/HEAD`]) {
      const found = full.startsWith("refs/") ? this.#named(full, 0) : undefined;
      if (found !== undefined) return found;
    }
    return undefined;
  };

  #named(full: string, depth: number): string | undefined {
    const text = this.#files.read(`.git/${full}`, GIT_FILE_BYTES_MAX)?.trim();
    if (text === undefined) return this.#packedRefs().get(full);
    if (COMMIT.test(text)) return text;
    const target = /^ref: (refs\/.+)$/.exec(text)?.[1];
    return target === undefined || !isName(target) || depth >= GIT_SYMBOLIC_REFS_MAX ? undefined : this.#named(target, depth + 1);
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
