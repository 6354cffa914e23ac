/**
 * Reads files of git's configuration and of its repositories, within bounds for one look at a workspace.
 *
 * INVARIANT: what is beyond a bound is said to be so and never taken for nothing: a file with a program's name would
 * stay unknown.
 */
import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { MIB } from "../../base/bytes.ts";
import { errorCode } from "../../base/errors.ts";
import { parseConfig, type Setting } from "../../sandbox/git/config-text.ts";

/** Bytes of one configuration file: git's own are some hundreds, with thousands of branches some 100,000. */
const GIT_CONFIG_BYTES_MAX = MIB;
/** Bytes of all files of one look: five hundred repositories with sixteen times what is usual. */
const GIT_CONFIGS_BYTES_MAX = 8 * MIB;

/** Thrown where git's configuration is more than is looked at; whoever looks protects what it decides about. */
export class TooMuchConfiguration extends Error {}

/** The settings of files, each read once. */
export class ConfigFiles {
  readonly #known = new Map<string, readonly Setting[]>();
  #bytesLeft = GIT_CONFIGS_BYTES_MAX;

  /**
   * Those of `file`. What git itself would not read says nothing.
   * @throws TooMuchConfiguration
   */
  settingsIn(file: string): readonly Setting[] {
    const known = this.#known.get(file);
    if (known !== undefined) return known;
    const text = textOf(file, Math.min(GIT_CONFIG_BYTES_MAX, this.#bytesLeft)) ?? "";
    this.#bytesLeft -= Buffer.byteLength(text);
    const settings = parseConfig(text) ?? [];
    this.#known.set(file, settings);
    return settings;
  }
}

/** The user's own configuration, wherever git may look for it: the person's variables may not be this process's. */
export function userConfigs(): readonly string[] {
  const { XDG_CONFIG_HOME: xdg, GIT_CONFIG_GLOBAL: global } = process.env;
  const home = homedir();
  const places = [join(home, ".gitconfig"), join(home, ".config/git/config")];
  if (xdg?.startsWith("/")) places.push(join(xdg, "git/config"));
  if (global?.startsWith("/")) places.push(global);
  return [...new Set(places)];
}

/** The first line of a file that says where a repository lies; `undefined` where git would not take it. */
export function firstLine(path: string): string | undefined {
  try {
    return textOf(path, GIT_CONFIG_BYTES_MAX)?.split("\n")[0];
  } catch (error) {
    if (error instanceof TooMuchConfiguration) return undefined; // git refuses such a file, too
    throw error;
  }
}

/** Another text, another file or another content. */
export function markOf(path: string): string {
  try {
    const found = lstatSync(path, { bigint: true, throwIfNoEntry: false });
    return found === undefined ? "-" : [found.dev, found.ino, found.size, found.mtimeNs, found.ctimeNs].join(" ");
  } catch (error) {
    return errorCode(error);
  }
}

/** A file's text; `undefined` where there is none, or it is held by somebody, or not to be read. */
function textOf(path: string, bytesMax: number): string | undefined {
  let descriptor: number;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch (error) {
    if (errorCode(error) === "unknown") throw error;
    return undefined;
  }
  try {
    const found = fstatSync(descriptor);
    if (!found.isFile()) return undefined;
    if (found.size > bytesMax) throw new TooMuchConfiguration(`\`${path}\` has more bytes than are read`);
    return readFileSync(descriptor, "utf8");
  } finally {
    closeSync(descriptor);
  }
}
