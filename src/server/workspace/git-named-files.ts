/**
 * Finds files of a workspace that git's configuration names: hooks, included settings, filters, helpers.
 *
 * A person's git runs or reads them.
 * They are found by what values look like and not by a list of settings, so that too many may be found. Only
 * configuration that agents cannot write is read: that of the repositories around and in the workspace, the user's, and
 * what these include. INVARIANT: what a repository decides about is protected as a whole where it says more than is
 * looked at.
 */
import { type Dir, lstatSync, opendirSync, readlinkSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join, relative, resolve } from "node:path";
import { configInvalid, errorCode } from "../../base/errors.ts";
import { inSlices } from "../../base/long-steps.ts";
import type { Setting } from "../../sandbox/git/config-text.ts";
import { isWithin, realPath } from "../operator/real-path.ts";
import { ConfigFiles, TooMuchConfiguration, userConfigs } from "./git-config-files.ts";
import { type GitRepositories, type GitRepository, repositoriesOf } from "./git-repositories.ts";

/** Files that are read for one repository, with those that others include. */
const GIT_CONFIGS_MAX = 32;
/** Words that are looked at for one workspace, some 5 microseconds each: usual configurations have some dozens. */
const GIT_WORDS_MAX = 30_000;
/** Links on the way to a file: the system follows 40. */
const LINKS_MAX = 40;

/** Settings whose values are addresses, names and text for people, and no files of the machine. */
const NO_FILES =
  /^(?:url|pushurl|fetch|push|merge|remote|pushremote|insteadof|pushinsteadof|worktree|email|name|description)$/;
/** Settings whose whole value is a file or directory, whatever it looks like. */
const FILES = /^(?:path|hookspath|fsmonitor|attributesfile|templatedir|allowedsignersfile|revocationfile)$/;
/** How scripts name the top of the working tree, where git starts them. */
const TOP =
  /["']?(?:\$\(git rev-parse --show-toplevel[^()]*\)|`git rev-parse --show-toplevel[^`]*`|\$\{?PWD\}?)["']?\//g;
/** Names of scripts, which may be written yet. */
const SCRIPT = /\.(?:[bckz]?sh|fish|py|pl|rb|php|lua|awk|sed|tcl|[cm]?[jt]s|ps1|bat|cmd|exe|jar)$/i;

/**
 * Paths of the workspace at the real path `serviceRoot`, relative to it, sorted.
 * @param repositories those of the workspace; they are looked for when absent
 * @throws KernelError CONFIG_INVALID where what decides about all of the workspace is too much to be looked at
 */
export async function filesThatGitNames(
  serviceRoot: string,
  repositories?: GitRepositories,
): Promise<readonly string[]> {
  const { found, unseen } = repositories ?? (await repositoriesOf(serviceRoot));
  const { result } = await inSlices("reading git's configuration", new NamedFiles(serviceRoot).of(found, unseen));
  return result;
}

class NamedFiles {
  readonly #root: string;
  readonly #paths = new Set<string>();
  readonly #configs = new ConfigFiles();
  #wordsLeft = GIT_WORDS_MAX;

  constructor(root: string) {
    this.#root = root;
  }

  *of(repositories: readonly GitRepository[], unseen: readonly string[]): Generator<void, readonly string[]> {
    for (const directory of unseen) this.#addWhole(directory);
    // without a repository the user's settings hold for one that may be made
    if (repositories.length === 0) yield* this.#readOrWhole({ top: this.#root, files: [] });
    for (const repository of repositories) yield* this.#readOrWhole(repository);
    return [...this.#paths].sort();
  }

  *#readOrWhole(repository: Pick<GitRepository, "top" | "files"> & Partial<GitRepository>): Generator<void, void> {
    try {
      if (repository.hooks !== undefined) yield* this.#addHooks(repository.hooks);
      const tops = [repository.top, ...this.#otherTop(repository)];
      const queue = [...repository.files, ...userConfigs()];
      for (const file of queue) {
        if (queue.length > GIT_CONFIGS_MAX) throw new TooMuchConfiguration("more files are included than are read");
        for (const setting of this.#configs.settingsIn(file)) {
          yield;
          const isInclude = /^include(?:if)?$/.test(setting.section) && setting.name === "path";
          const places = isInclude ? [dirname(file)] : tops;
          const named = places.flatMap((from) => this.#namedBy(setting, from));
          if (isInclude) queue.push(...named.filter((path) => !queue.includes(path)));
          for (const path of named) this.#add(path);
          if (setting.name === "hookspath") for (const path of named) yield* this.#addHooks(path);
        }
      }
    } catch (error) {
      if (!(error instanceof TooMuchConfiguration)) throw error;
      this.#addWhole(repository.top);
    }
  }

  /** Where a setting says that the working tree begins, as it does for a submodule. */
  #otherTop({ directory, files }: Partial<GitRepository>): readonly string[] {
    const settings = (files ?? []).flatMap((file) => this.#configs.settingsIn(file));
    const value = settings.findLast(({ section, name }) => section === "core" && name === "worktree")?.value;
    return value === undefined || directory === undefined ? [] : [resolve(directory, atHome(value))];
  }

  /** What a value may name from the directory `from`: all of it, or words in it. */
  #namedBy({ name, value }: Setting, from: string): readonly string[] {
    if (NO_FILES.test(name) || value === "") return [];
    const words = new Set(value.replaceAll(TOP, "./").split(/[\s"'`;|&()<>=]+/));
    const files = [...words]
      .map((word) => word.replace(/^!/, ""))
      .filter((word) => {
        this.#countWord();
        if (word.includes("/")) return !word.includes("://");
        return word !== "" && (SCRIPT.test(word) || isFile(join(from, word)));
      });
    return [...(FILES.test(name) ? [value] : []), ...files].map((path) => resolve(from, atHome(path)));
  }

  #countWord(): void {
    if (this.#wordsLeft === 0) throw new TooMuchConfiguration("there are more words than are looked at");
    this.#wordsLeft -= 1;
  }

  /** A directory of hooks, and where links in it lead. */
  *#addHooks(directory: string): Generator<void, void> {
    this.#add(directory);
    for (const name of this.#linksIn(directory)) {
      yield;
      this.#add(join(directory, name));
    }
  }

  #linksIn(directory: string): readonly string[] {
    let open: Dir | undefined;
    try {
      open = opendirSync(directory);
      const links: string[] = [];
      for (let entry = open.readSync(); entry !== null; entry = open.readSync()) {
        this.#countWord();
        if (entry.isSymbolicLink()) links.push(entry.name);
      }
      return links;
    } catch (error) {
      if (errorCode(error) === "unknown") throw error;
      return []; // there is none, and git runs none
    } finally {
      open?.closeSync();
    }
  }

  /** What lies in the workspace of a path and of where it leads. What lies in a repository itself no agent writes. */
  #add(path: string): void {
    for (const place of placesOnTheWay(path)) {
      const inside = relative(this.#root, place);
      if (place !== this.#root && isWithin(this.#root, place) && !inside.split("/").includes(".git"))
        this.#paths.add(inside);
    }
  }

  /** A directory with all that it holds. */
  #addWhole(directory: string): void {
    if (isWithin(directory, this.#root)) {
      throw configInvalid(
        `git's configuration or directories of \`${this.#root}\` are more than can be looked through for programs that git runs; make them smaller, or name a directory below as the workspace`,
      );
    }
    this.#add(directory);
  }
}

/** `path`, and where it leads when links are followed one by one. */
function placesOnTheWay(path: string): readonly string[] {
  const places = [path];
  try {
    let current = path;
    for (let links = 0; links < LINKS_MAX; links += 1) {
      current = join(realPath(dirname(current)), basename(current));
      places.push(current);
      if (lstatSync(current, { throwIfNoEntry: false })?.isSymbolicLink() !== true) break;
      current = resolve(dirname(current), readlinkSync(current));
      places.push(current);
    }
    places.push(realPath(path));
  } catch (error) {
    // Where links lead in a circle, or the way is closed or too long, git gets nowhere either.
    if (errorCode(error) === "unknown") throw error;
  }
  return places;
}

/** Whether it is there, also as a link: git's shell follows it. */
function isFile(path: string): boolean {
  try {
    const found = lstatSync(path, { throwIfNoEntry: false });
    return found?.isFile() === true || found?.isSymbolicLink() === true;
  } catch (error) {
    if (errorCode(error) === "unknown") throw error;
    return false;
  }
}

function atHome(path: string): string {
  if (path === "~" || path.startsWith("~/")) return join(homedir(), path.slice(1));
  return path;
}
