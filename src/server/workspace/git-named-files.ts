/**
 * Finds files of a workspace that git's configuration names: hooks, included settings, filters, helpers.
 *
 * A person's git runs or reads them.
 * They are found by what values look like and not by a list of settings, so that too many may be found. Only
 * configuration that agents cannot write is read: the repository's own, the user's, and what these include.
 */
import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { MIB } from "../../base/bytes.ts";
import { errorCode } from "../../base/errors.ts";
import { parseConfig, type Setting } from "../../sandbox/git/config-text.ts";
import { isWithin } from "../operator/real-path.ts";

/** Bytes of one configuration file: git's own are some hundreds. */
const GIT_CONFIG_BYTES_MAX = MIB;
/** Files that are read for one workspace, with those that others include. */
const GIT_CONFIGS_MAX = 32;

/** Settings whose values are addresses and names, and no files of the machine. */
const NO_FILES = /^(?:url|pushurl|fetch|push|merge|remote|pushremote|insteadof|pushinsteadof|worktree|email|name)$/;
/** Settings whose whole value is a file or directory, whatever it looks like. */
const FILES = /^(?:path|hookspath|fsmonitor|attributesfile|templatedir|allowedsignersfile|revocationfile)$/;

/** Configuration of git that decides about a workspace. */
interface GitConfigs {
  /** Files with settings, absolute; some may not exist. */
  readonly files: readonly string[];
  /** The top of the working tree, from which git runs what is named. */
  readonly top: string;
}

/** Paths of the workspace at the real path `serviceRoot`, relative to it, sorted. */
export function filesThatGitNames(serviceRoot: string): readonly string[] {
  const { files, top } = configsOf(serviceRoot);
  const found = new Set<string>();
  const queue = [...files];
  for (let index = 0; index < Math.min(queue.length, GIT_CONFIGS_MAX); index += 1) {
    const file = queue[index] ?? "";
    for (const setting of settingsIn(file)) {
      const isInclude = /^include(?:if)?$/.test(setting.section) && setting.name === "path";
      const named = pathsIn(setting).map((path) => resolve(isInclude ? dirname(file) : top, atHome(path)));
      if (isInclude) queue.push(...named.filter((path) => !queue.includes(path)));
      for (const path of named) if (path !== serviceRoot && isWithin(serviceRoot, path)) found.add(path);
    }
  }
  return [...found].map((path) => relative(serviceRoot, path)).sort();
}

/** The same text as long as nothing has changed in the repository's own configuration. */
export function gitConfigState(serviceRoot: string): string {
  return configsOf(serviceRoot)
    .files.map((file) => {
      const found = lstatSync(file, { bigint: true, throwIfNoEntry: false });
      return found === undefined ? "-" : [found.dev, found.ino, found.size, found.mtimeNs, found.ctimeNs].join(" ");
    })
    .join("\n");
}

/** The configuration of the repository in which a directory lies, as git finds it, and the user's. */
function configsOf(serviceRoot: string): GitConfigs {
  const home = homedir();
  const own = [join(home, ".gitconfig"), join(home, ".config/git/config")];
  for (let top = serviceRoot; ; top = dirname(top)) {
    const found = lstatSync(join(top, ".git"), { throwIfNoEntry: false });
    if (found !== undefined) {
      const directory = found.isFile() ? linkedDirectory(top) : join(top, ".git");
      const common = resolve(directory, firstLine(join(directory, "commondir")) ?? ".");
      return { files: [join(common, "config"), join(directory, "config.worktree"), ...own], top };
    }
    if (dirname(top) === top) return { files: own, top: serviceRoot };
  }
}

/** Where the repository of a linked working tree or a submodule lies. */
function linkedDirectory(top: string): string {
  const path = /^gitdir: (.+)$/.exec(firstLine(join(top, ".git")) ?? "")?.[1] ?? ".git";
  return resolve(top, path);
}

function firstLine(path: string): string | undefined {
  return textOf(path)?.split("\n")[0];
}

/** What git itself would not read says nothing. */
function settingsIn(file: string): readonly Setting[] {
  return parseConfig(textOf(file) ?? "") ?? [];
}

/** What a value may name: all of it, or words in it that look like paths. */
function pathsIn({ name, value }: Setting): readonly string[] {
  if (NO_FILES.test(name) || value === "") return [];
  const words = value.split(/[\s"'`;|&()<>=]+/).map((word) => word.replace(/^!/, ""));
  return [...(FILES.test(name) ? [value] : []), ...words.filter((word) => word.includes("/") && !word.includes("://"))];
}

function atHome(path: string): string {
  if (path === "~" || path.startsWith("~/")) return join(homedir(), path.slice(1));
  return path;
}

/** A file's text; `undefined` where there is none, or it is too large, held by somebody, or not to be read. */
function textOf(path: string): string | undefined {
  let descriptor: number;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch (error) {
    if (errorCode(error) === "unknown") throw error;
    return undefined;
  }
  try {
    const found = fstatSync(descriptor);
    if (!found.isFile() || found.size > GIT_CONFIG_BYTES_MAX) return undefined;
    return readFileSync(descriptor, "utf8");
  } finally {
    closeSync(descriptor);
  }
}
