/**
 * Reads manifests of packages: name, entry points, and the packages of the workspace that they depend on. Pure.
 *
 * Manifests are strangers' text: what cannot be read says nothing, and the map names the file as unread.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../../base/json.ts";
import { directoryOf, nameOf } from "../imports/source-kinds.ts";

/** What manages a package. */
export type PackageKind = "npm" | "cargo" | "go" | "python" | "maven" | "gradle" | "composer" | "ruby";

/** What a manifest says. */
export interface Manifest {
  readonly kind: PackageKind;
  readonly name?: string;
  /** Paths from the manifest's directory. */
  readonly entryPoints: readonly string[];
  /** Names of packages that it depends on, of the workspace or not. */
  readonly dependencies: readonly string[];
}

/** Bytes of a manifest that is read. */
export const MANIFEST_BYTES_MAX = 256 * 1024;

const KINDS: Readonly<Record<string, PackageKind>> = {
  "package.json": "npm",
  "Cargo.toml": "cargo",
  "go.mod": "go",
  "pyproject.toml": "python",
  "setup.py": "python",
  "pom.xml": "maven",
  "build.gradle": "gradle",
  "build.gradle.kts": "gradle",
  "composer.json": "composer",
  Gemfile: "ruby",
};

/** What manages the package whose manifest lies at `path`, if it is one. */
export function manifestKind(path: string): PackageKind | undefined {
  const name = nameOf(path);
  return Object.hasOwn(KINDS, name) ? KINDS[name] : undefined;
}

/** What the manifest `text` at `path` says; nothing where it cannot be read. */
export async function readManifest(path: string, text: string): Promise<Manifest | undefined> {
  const kind = manifestKind(path);
  try {
    switch (kind) {
      case "npm":
      case "composer":
        return npmManifest(kind, JSON.parse(text));
      case "cargo":
        return cargoManifest(await tomlOf(text));
      case "python":
        return nameOf(path) === "setup.py" ? plain("python") : pythonManifest(await tomlOf(text));
      case "go":
        return { ...plain("go"), ...named(/^module[ \t]{1,20}(\S{1,300})/m.exec(text)?.[1]) };
      case "maven":
        return { ...plain("maven"), ...named(mavenName(text)), dependencies: mavenDependencies(text) };
      case "gradle":
      case "ruby":
        return { ...plain(kind), dependencies: gradleProjects(text) };
      case undefined:
        return undefined;
    }
  } catch {
    return undefined; // it is no JSON, no TOML, or nested too deeply; the map says that it was not read
  }
}

/** Under which names packages are imported, and where Go's modules lie, by the paths of manifests. */
export function packageFacts(manifests: ReadonlyMap<string, Manifest>) {
  const packages = new Map<string, string>();
  const goModules = new Map<string, string>();
  for (const [path, { kind, name }] of manifests)
    if (name !== undefined) (kind === "go" ? goModules : packages).set(name, directoryOf(path));
  return { packages, goModules };
}

async function tomlOf(text: string): Promise<unknown> {
  const { parse } = await import("smol-toml");
  return parse(text, { maxDepth: 50 });
}

function plain(kind: PackageKind): Manifest {
  return { kind, entryPoints: [], dependencies: [] };
}

function named(name: string | undefined): { readonly name?: string } {
  return name === undefined || name === "" ? {} : { name };
}

function npmManifest(kind: "npm" | "composer", read: unknown): Manifest | undefined {
  if (!isObject(read)) return undefined;
  const { name, main, module, bin, exports } = read;
  const entries = [main, module, ...valuesOf(bin), ...exportsOf(exports)].filter((each) => typeof each === "string");
  const groups = ["dependencies", "devDependencies", "peerDependencies", "optionalDependencies", "require"];
  const dependencies = groups.flatMap((group) => Object.keys(objectIn(read[group])));
  return { kind, ...named(typeof name === "string" ? name : undefined), entryPoints: cleaned(entries), dependencies };
}

/** What is imported without a path behind the package's name. */
function exportsOf(exports: JsonValue | undefined): readonly (JsonValue | undefined)[] {
  if (!isObject(exports)) return [exports];
  const own = exports["."] ?? exports;
  return isObject(own) ? [own["import"], own["default"], own["require"]] : [own];
}

function cargoManifest(read: unknown): Manifest | undefined {
  if (!isObject(read)) return undefined;
  const name = objectIn(read["package"])["name"];
  const tables = ["dependencies", "dev-dependencies", "build-dependencies"];
  const dependencies = tables.flatMap((table) => Object.keys(objectIn(read[table])));
  const bins = Array.isArray(read["bin"]) ? read["bin"].map((each) => objectIn(each)["path"]) : [];
  const entryPoints = cleaned([objectIn(read["lib"])["path"], ...bins].filter((each) => typeof each === "string"));
  return { kind: "cargo", ...named(typeof name === "string" ? name : undefined), entryPoints, dependencies };
}

function pythonManifest(read: unknown): Manifest | undefined {
  if (!isObject(read)) return undefined;
  const poetry = objectIn(objectIn(read["tool"])["poetry"]);
  const project = objectIn(read["project"]);
  const name = project["name"] ?? poetry["name"];
  const listed = Array.isArray(project["dependencies"]) ? project["dependencies"] : [];
  const names = listed.map((each) => /^[\w.-]{1,100}/.exec(String(each))?.[0] ?? "");
  const dependencies = [...names, ...Object.keys(objectIn(poetry["dependencies"]))].filter((each) => each !== "");
  return { kind: "python", ...named(typeof name === "string" ? name : undefined), entryPoints: [], dependencies };
}

/** The package's own, not its parent's. */
function mavenName(text: string): string | undefined {
  const own = text.replace(/<parent>[\s\S]*?<\/parent>/, "");
  return /<artifactId>\s{0,20}([\w.-]{1,200})\s{0,20}<\/artifactId>/.exec(own)?.[1];
}

function mavenDependencies(text: string): readonly string[] {
  const start = text.indexOf("<dependencies>");
  if (start === -1) return [];
  const found = text.slice(start).matchAll(/<artifactId>\s{0,20}([\w.-]{1,200})\s{0,20}<\/artifactId>/g);
  return [...found].map(([, name]) => name ?? "");
}

/** Gradle names projects of the build as `project(":core")`; each is its directory's name. */
function gradleProjects(text: string): readonly string[] {
  return [...text.matchAll(/project\(\s{0,20}["']:([\w:.-]{1,200})["']/g)].map(
    ([, name]) => name?.split(":").at(-1) ?? "",
  );
}

function cleaned(paths: readonly JsonValue[]): readonly string[] {
  return [...new Set(paths.map((path) => String(path).replace(/^\.\//, "")))];
}

function valuesOf(value: JsonValue | undefined): readonly (JsonValue | undefined)[] {
  return isObject(value) ? Object.values(value) : [value];
}

function isObject(value: unknown): value is JsonObject {
  return isJsonObject(value as JsonValue);
}

function objectIn(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}
