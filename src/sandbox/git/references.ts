/** Reads the references of a repository from its files. */

import { KIB, MIB } from "../../base/bytes.ts";
import { GIT_REF_BYTES_MAX } from "../../base/limits.ts";
import { objectOfPrefix } from "./object-prefixes.ts";
import { branchBefore, entryOfLog } from "./reference-logs.ts";
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
/** What git writes beside `HEAD`: `FETCH_HEAD`, `ORIG_HEAD`, `MERGE_HEAD`. Its first line begins with an object. */
const OWN_HEAD = /^[A-Z]+(?:_[A-Z]+)*_HEAD$/;
const FIRST_OBJECT = /^([0-9a-f]{40}|[0-9a-f]{64})(?![0-9a-f])/;
/** Beginnings of objects' names, as long as git takes them. */
const PREFIX = /^[0-9a-f]{4,63}$/;
/** What a name was, or what it follows: `main@{1}`, `@{-1}`, `main@{upstream}`. */
const EARLIER = /^([^@]*(?:@[^@{]+)*)@\{(?:(\d{1,6})|-(\d{1,3})|(u|upstream))\}$/;

/** The current branch and commit. */
export interface Head {
  /** What `.git/HEAD` says, without the end of its line. */
  readonly head: string;
  readonly branch?: string;
  readonly commit?: string;
}

/** By branch: the remote and the branch there that it follows. */
type Upstreams = Readonly<Record<string, { readonly remote?: string; readonly branch?: string }>>;

/** References of one repository, as they are while nobody changes them. */
export class References {
  readonly #files: RepositoryFiles;
  readonly #upstreams: Upstreams;
  #packed: ReadonlyMap<string, string> | undefined;

  constructor(files: RepositoryFiles, upstreams: Upstreams) {
    this.#files = files;
    this.#upstreams = upstreams;
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

  /** The object that `name` names, looked for where git looks; steps such as `~1` are none of its business. */
  readonly resolve = (name: string): string | undefined => {
    if (COMMIT.test(name)) return name;
    if (name === "HEAD") return this.head()?.commit;
    if (OWN_HEAD.test(name)) return FIRST_OBJECT.exec(this.#files.read(`.git/${name}`, OWN_HEAD_BYTES_MAX) ?? "")?.[1];
    if (name.includes("@{")) return this.#earlier(name);
    if (!isName(name)) return undefined;
    for (const full of [name, `refs/${name}`, ...fullNames(name), `refs/remotes/${name}/HEAD`]) {
      const found = full.startsWith("refs/") ? this.#named(full) : undefined;
      if (found !== undefined) return found;
    }
    return PREFIX.test(name) ? objectOfPrefix(this.#files, name) : undefined;
  };

  /** What the log says of an entry of it; short, and without what is not seen. */
  readonly noteOf = (name: string): string | undefined => {
    const [, base = "", entry] = EARLIER.exec(name) ?? [];
    const full = entry === undefined || base === "" ? undefined : this.#fullOf(base);
    const note = full === undefined ? undefined : entryOfLog(this.#files, full, Number(entry))?.note;
    return note?.replaceAll(/[\p{Cc}\p{Cf}]/gu, "?").slice(0, NOTE_CHARACTERS_MAX);
  };

  #earlier(name: string): string | undefined {
    const [, base = "", entry, before, follows] = EARLIER.exec(name) ?? [];
    if (before !== undefined) {
      const branch = base === "" ? branchBefore(this.#files, Number(before)) : undefined;
      return branch === undefined ? undefined : this.resolve(branch);
    }
    const branch = base === "" ? this.head()?.branch : base;
    if (follows !== undefined) {
      const { remote, branch: there } =
        branch !== undefined && Object.hasOwn(this.#upstreams, branch) ? (this.#upstreams[branch] ?? {}) : {};
      if (there === undefined) return undefined;
      return this.#named(remote === "." ? `${BRANCHES}${there}` : `refs/remotes/${remote}/${there}`);
    }
    if (entry === undefined) return undefined;
    const full =
      branch === undefined || branch === "HEAD" ? "HEAD" : this.#fullOf(base === "" ? BRANCHES + branch : base);
    return full === undefined ? undefined : entryOfLog(this.#files, full, Number(entry))?.object;
  }

  /** The whole name of what `name` stands for. */
  #fullOf(name: string): string | undefined {
    return [name, `refs/${name}`, ...fullNames(name)].find(
      (full) => full.startsWith("refs/") && this.#named(full) !== undefined,
    );
  }

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

/** Characters of what a log says of an entry. */
const NOTE_CHARACTERS_MAX = 200;
/** Bytes of a file like `FETCH_HEAD` that are looked at: it has a line for each branch. */
const OWN_HEAD_BYTES_MAX = MIB;

/** The whole names that a name may stand for, in the order in which git looks for them. */
function fullNames(name: string): readonly string[] {
  return [`refs/tags/${name}`, `${BRANCHES}${name}`, `refs/remotes/${name}`];
}

function isName(name: string): boolean {
  return Buffer.byteLength(name) <= GIT_REF_BYTES_MAX && NAME.test(name);
}
