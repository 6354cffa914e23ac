/**
 * Judges `package-lock.json`: every package comes from a granted registry with a hash, or lies in the workspace. Pure.
 *
 * npm is given the judged packages and nothing else of the file, so that a part which one version of npm reads and
 * another does not decides nothing.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../../base/json.ts";
import { parseJson } from "../../../base/json-parse.ts";
import { type Grants, refused, requireJson } from "./installation.ts";
import { addressProblem, isInsidePath, SOURCE_ADVICE } from "./sources.ts";

/** A lock file that was judged. */
export interface NpmLock {
  /** What npm reads. */
  readonly text: string;
  /** Directories of the workspace that are packages themselves, without the root. */
  readonly members: readonly string[];
  /** Every `node_modules` that npm fills. */
  readonly moduleDirectories: readonly string[];
  /** Packages that are fetched. */
  readonly fetched: number;
}

const MODULES = "node_modules";
/** Versions whose `packages` npm goes by. */
const VERSIONS: readonly unknown[] = [2, 3];
/** Subresource integrity: algorithm and digest in base64, several of them separated by blanks. */
const INTEGRITY = /^(?:(?:sha1|sha256|sha384|sha512)-[A-Za-z0-9+/]{20,}={0,2}(?:\s+|$))+$/;

/**
 * Judges the lock file `file`.
 * @throws FailureWithoutEffect that names the package
 */
export function judgeNpmLock(file: string, text: string, grants: Grants): NpmLock {
  const lock = requireJson(file, text);
  const packages = lock["packages"];
  if (!VERSIONS.includes(lock["lockfileVersion"]) || !isJsonObject(packages)) {
    throw refused(file, "is not of version 2 or 3", "ask a person to renew it with `npm install --package-lock-only`");
  }
  const members = membersIn(packages);
  const allowed = { members: new Set(members), grants, packages };
  let fetched = 0;
  for (const [path, entry] of Object.entries(packages)) {
    const problem = isJsonObject(entry) ? problemOf(path, entry, allowed) : "is described by no object";
    if (problem !== undefined)
      throw refused(
        file,
        `names the package \`${path.slice(0, 200).toWellFormed()}\`, which ${problem}`,
        SOURCE_ADVICE,
      );
    if (isFetched(path, entry)) fetched += 1;
  }
  const { name, version, lockfileVersion, requires } = lock;
  const known = {
    ...(name !== undefined && { name }),
    ...(version !== undefined && { version }),
    lockfileVersion,
    requires: requires ?? true,
  };
  return {
    text: JSON.stringify({ ...known, packages: withoutPrograms(packages) }),
    members,
    moduleDirectories: moduleDirectories(packages),
    fetched,
  };
}

/** The `packages` of a lock file, as far as it can be read; nothing is judged. */
export function lockedPackages(text: string): JsonObject | undefined {
  const parsed = parseJson(text);
  const packages = parsed.ok && isJsonObject(parsed.value) ? parsed.value["packages"] : undefined;
  return isJsonObject(packages) ? packages : undefined;
}

/** The directories of packages of the workspace that a lock file names, as far as it can be read; nothing is judged. */
export function lockedMembers(text: string): readonly string[] {
  const packages = lockedPackages(text);
  return packages === undefined ? [] : membersIn(packages);
}

function membersIn(packages: JsonObject): readonly string[] {
  return Object.keys(packages).filter((path) => isInsidePath(path) && !path.split("/").includes(MODULES));
}

function isFetched(path: string, entry: JsonValue | undefined): boolean {
  return (
    path.split("/").includes(MODULES) && isJsonObject(entry) && entry["link"] !== true && entry["inBundle"] !== true
  );
}

/** What the entries of a lock file are judged by. */
interface Allowed {
  readonly members: ReadonlySet<string>;
  readonly grants: Grants;
  readonly packages: JsonObject;
}

/** Fields of an entry that say which package it is, and what it needs: npm would run what others name. */
const ENTRY_FIELDS: ReadonlySet<string> = new Set([
  ...["name", "version", "resolved", "integrity", "link", "inBundle", "bundleDependencies", "workspaces"],
  ...["dependencies", "devDependencies", "optionalDependencies", "peerDependencies", "peerDependenciesMeta"],
  ...["dev", "optional", "devOptional", "peer", "extraneous", "hasInstallScript", "hasShrinkwrap"],
  ...["bin", "engines", "os", "cpu", "libc", "license", "funding", "deprecated"],
]);

function withoutPrograms(packages: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(packages).map(([path, entry]) => [
      path,
      Object.fromEntries(Object.entries(isJsonObject(entry) ? entry : {}).filter(([name]) => ENTRY_FIELDS.has(name))),
    ]),
  );
}

/** A package within another one is fetched with it, and the other one's hash holds for both. */
function bundleProblem(path: string, { version }: JsonObject, packages: JsonObject): string | undefined {
  if (!isPlainVersion(version)) return "has no plain version";
  const around = packages[path.slice(0, Math.max(0, path.lastIndexOf(`/${MODULES}/`)))];
  const isBundle =
    path.includes(`/${MODULES}/`) &&
    isJsonObject(around) &&
    (around["inBundle"] === true || (isHash(around["integrity"]) && bundles(around, path)));
  return isBundle ? undefined : "is part of no package that has a hash";
}

/** Of what a package says that it brings along npm fetches nothing. */
function bundles({ bundleDependencies }: JsonObject, path: string): boolean {
  const name = path.slice(path.lastIndexOf(`${MODULES}/`) + MODULES.length + 1);
  return Array.isArray(bundleDependencies) && bundleDependencies.includes(name);
}

const PLAIN_VERSION = /^\d[\w.+-]*$/;

function isPlainVersion(version: JsonValue | undefined): boolean {
  return typeof version === "string" && PLAIN_VERSION.test(version);
}

function isHash(integrity: JsonValue | undefined): boolean {
  return typeof integrity === "string" && INTEGRITY.test(integrity);
}

function problemOf(path: string, entry: JsonObject, { members, grants, packages }: Allowed): string | undefined {
  const { resolved, integrity, link, inBundle, version } = entry;
  // npm takes a version that is an address for where the package comes from
  if (version !== undefined && !isPlainVersion(version)) return "has no plain version";
  if (path === "") return resolved === undefined ? undefined : "is the project itself and comes from elsewhere";
  if (!isInsidePath(path)) return "does not lie in the workspace";
  const place = placeOf(path);
  if (place !== undefined && place !== "" && !members.has(place)) return "lies below no package of the workspace";
  if (link !== undefined && link !== false) {
    const isMember =
      link === true && typeof resolved === "string" && members.has(resolved) && path.split("/").includes(MODULES);
    return isMember ? undefined : "is a link to no package of the workspace";
  }
  if (members.has(path)) return resolved === undefined ? undefined : "lies in the workspace and comes from elsewhere";
  if (inBundle === true && resolved === undefined) return bundleProblem(path, entry, packages);
  if (resolved !== undefined) {
    const problem = typeof resolved === "string" ? addressProblem(resolved, grants) : "comes from what is no address";
    if (problem !== undefined) return problem;
  }
  if (resolved === undefined && version === undefined) return "has no plain version";
  return isHash(integrity) ? undefined : "has no hash (`integrity`)";
}

/** The package of the workspace, empty for the project, below which a path's `node_modules` lies, if it has one. */
function placeOf(path: string): string | undefined {
  const names = path.split("/");
  const index = names.indexOf(MODULES);
  return index === -1 ? undefined : names.slice(0, index).join("/");
}

/** The root's, and those of packages of the workspace that have some of their own. */
function moduleDirectories(packages: JsonObject): readonly string[] {
  const found = new Set([MODULES]);
  for (const path of Object.keys(packages)) {
    const place = placeOf(path);
    if (place !== undefined && place !== "") found.add(`${place}/${MODULES}`);
  }
  return [...found];
}
