/**
 * Finds repositories of git that decide about files of a workspace: the one around it, those in it, submodules.
 * Directories of Handrail's own, of whatever kernel, are found on the way.
 *
 * No link is followed on the way down, so that links lead in no circle. INVARIANT: what holds more than is looked at is
 * named as unseen, with all below it.
 */
import { type Dir, type Dirent, lstatSync, opendirSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { errorCode } from "../../base/errors.ts";
import { inSlices } from "../../base/long-steps.ts";
import { firstLine, markOf, userConfigs } from "./git-config-files.ts";
import { isOwnDirectory, isOwnDirectoryAt, TELLING_NAMES } from "./own-directories.ts";

/** Directories of one look: the largest common repositories have some 60,000, and each takes about 20 microseconds. */
export const GIT_DIRECTORIES_MAX = 100_000;
/** Entries of those directories: as many files as commands can be contained among. */
const GIT_ENTRIES_MAX = 2_000_000;
/** Repositories of one look: directories of all of somebody's projects have some hundreds. */
export const GIT_REPOSITORIES_MAX = 500;
/** Entries that one reading of a directory takes from the machine. */
const ENTRIES_AT_ONCE = 256;

/** Directories that no agent writes. */
const NOT_ENTERED: ReadonlySet<string> = new Set([".git", "node_modules"]);

/** Files whose names say what a directory is. */
const KEPT_NAMES: ReadonlySet<string> = new Set([".git", "HEAD", ...TELLING_NAMES]);

/** One repository and its working tree. */
export interface GitRepository {
  /** The top of the working tree, from which git runs what is named. */
  readonly top: string;
  /** Where the repository itself lies. */
  readonly directory: string;
  /** Files with settings, absolute; some may not exist. */
  readonly files: readonly string[];
  /** Where git looks for hooks, unless a setting says otherwise. */
  readonly hooks: string;
}

/** What one look found; all paths are absolute. */
export interface GitRepositories {
  readonly found: readonly GitRepository[];
  /** Directories that were not looked through; there may be repositories anywhere below. */
  readonly unseen: readonly string[];
  /** Directories with the state or the configuration of a kernel, the one around the workspace included. */
  readonly own: readonly string[];
}

/** The repositories around and in the workspace at the real path `serviceRoot`. */
export async function repositoriesOf(serviceRoot: string): Promise<GitRepositories> {
  return (await inSlices("looking for repositories", new RepositorySearch().from(serviceRoot))).result;
}

/** The same text as long as nothing has changed in the configuration and the hooks of `repositories`. */
export function gitConfigState({ found }: GitRepositories): string {
  return [...userConfigs(), ...found.flatMap(({ files, hooks }) => [...files, hooks])].map(markOf).join("\n");
}

class RepositorySearch {
  readonly #found = new Map<string, GitRepository>();
  readonly #unseen: string[] = [];
  readonly #own: string[] = [];
  #directoriesLeft = GIT_DIRECTORIES_MAX;
  #entriesLeft = GIT_ENTRIES_MAX;

  *from(serviceRoot: string): Generator<void, GitRepositories> {
    for (let top = dirname(serviceRoot), below = serviceRoot; ; below = top, top = dirname(top)) {
      if (this.#hasAt(below) || top === below) break;
    }
    for (let top = dirname(serviceRoot), below = serviceRoot; top !== below; below = top, top = dirname(top))
      if (isOwnDirectoryAt(top)) this.#own.push(top);
    yield* this.#below(serviceRoot);
    // submodules may have submodules: they join the others, and are visited in turn
    for (const repository of this.#found.values()) yield* this.#modulesOf(repository);
    return { found: [...this.#found.values()], unseen: this.#unseen, own: this.#own };
  }

  /** Whether a working tree begins at `top`; it is kept then. */
  #hasAt(top: string): boolean {
    const found = lstatSync(join(top, ".git"), { throwIfNoEntry: false });
    if (found === undefined) return false;
    return this.#keep(top, found.isFile() ? linkedDirectory(top) : join(top, ".git"));
  }

  /** Whether it is among those found: there may be too many. */
  #keep(top: string, directory: string): boolean {
    const key = `${top}\0${directory}`;
    if (this.#found.has(key)) return true;
    if (this.#found.size >= GIT_REPOSITORIES_MAX) return false;
    const common = resolve(directory, firstLine(join(directory, "commondir")) ?? ".");
    const files = [join(common, "config"), join(directory, "config.worktree")];
    this.#found.set(key, { top, directory, files, hooks: join(common, "hooks") });
    return true;
  }

  *#below(serviceRoot: string): Generator<void, void> {
    const queue = [serviceRoot];
    for (const directory of queue) {
      yield;
      const entries = this.#entriesOf(directory);
      if (isOwnDirectory(new Set(entries?.map(({ name }) => name)))) {
        this.#own.push(directory);
        continue;
      }
      const hasRepository = entries?.some(({ name }) => name === ".git") === true;
      const isSeen = entries !== undefined && (!hasRepository || this.#hasAt(directory));
      const inner = (entries ?? []).filter((entry) => entry.isDirectory() && !NOT_ENTERED.has(entry.name));
      if (isSeen && inner.length <= this.#directoriesLeft) {
        this.#directoriesLeft -= inner.length;
        for (const { name } of inner) queue.push(join(directory, name));
      } else this.#unseen.push(directory);
    }
  }

  /** Repositories of submodules, whether they are checked out or not. Their names may have several parts. */
  *#modulesOf({ top, directory }: GitRepository): Generator<void, void> {
    const modules = join(directory, "modules");
    const queue = [modules];
    for (const place of queue) {
      yield;
      const entries = this.#entriesOf(place);
      const isModule = entries?.some(({ name }) => name === "HEAD") === true;
      const inner = isModule ? [] : (entries ?? []).filter((entry) => entry.isDirectory());
      const isSeen = entries !== undefined && (!isModule || this.#keep(join(top, relative(modules, place)), place));
      if (!isSeen || inner.length > this.#directoriesLeft) {
        this.#unseen.push(top);
        return;
      }
      this.#directoriesLeft -= inner.length;
      for (const { name } of inner) queue.push(join(place, name));
    }
  }

  /** What lies in a directory, nothing once it is gone; `undefined` where that is too much or closed. */
  #entriesOf(directory: string): readonly Dirent[] | undefined {
    let open: Dir | undefined;
    try {
      open = opendirSync(directory, { bufferSize: ENTRIES_AT_ONCE });
      const entries: Dirent[] = [];
      for (let entry = open.readSync(); entry !== null; entry = open.readSync()) {
        if (this.#entriesLeft === 0) return undefined;
        this.#entriesLeft -= 1;
        // Others decide nothing, and there may be many.
        if (entry.isDirectory() || KEPT_NAMES.has(entry.name)) entries.push(entry);
      }
      return entries;
    } catch (error) {
      if (errorCode(error) === "unknown") throw error;
      return ["ENOENT", "ENOTDIR"].includes(errorCode(error)) ? [] : undefined;
    } finally {
      open?.closeSync();
    }
  }
}

/** Where the repository of a linked working tree or a submodule lies. */
function linkedDirectory(top: string): string {
  const path = /^gitdir: (.+)$/.exec(firstLine(join(top, ".git")) ?? "")?.[1] ?? ".git";
  return resolve(top, path);
}
