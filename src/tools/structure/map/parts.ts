/**
 * Divides a tree into its parts: packages by their manifests, directories of services, and folders of large packages.
 *
 * Pure. INVARIANT: each file belongs to the part that lies deepest above it, and the same files give the same parts.
 */
import type { CodeFile } from "../../../model/place/code.ts";
import { directoryOf, nameOf, sourceKindOf } from "../imports/source-kinds.ts";
import type { Manifest } from "./manifests.ts";

/** A part of a tree. */
export interface Part {
  /** Its directory, from the workspace; the mapped directory itself where nothing else holds its files. */
  readonly path: string;
  readonly name: string;
  readonly kind: Manifest["kind"] | "folder";
  readonly manifest?: Manifest;
  files: number;
  bytes: number;
  /** Files of each language. */
  readonly languages: Map<string, number>;
  readonly entryPoints: string[];
}

/** Directories that hold services or packages, one in each sub-directory. */
const HOLDERS: ReadonlySet<string> = new Set(
  "services apps packages libs crates modules plugins microservices components cmd".split(" "),
);
/** Packages in them are there to be read by tests. */
const NOT_OWN = /(?:^|\/)(?:fixtures?|__fixtures__|testdata|vendor|third_party|node_modules)(?:\/|$)/;
/** Files of code from which on a package is shown by its folders. */
const FILES_OF_FOLDERS = 40;
/** The share of a package's code from which on a folder is opened. */
const SHARE_OF_OPENED = 0.5;
/** Parts of one map. */
export const PARTS_MAX = 300;
const ENTRY_POINTS_MAX = 12;
const ENTRY_NAMES =
  /^(?:main|__main__|app|server|manage|wsgi|asgi)\.(?:py|go|rs|ts|js|mjs|rb|java|kt)$|^(?:Main|\w{1,60}Application)\.(?:java|kt)$|^(?:index|lib)\.(?:ts|js|mjs|rs)$/;
/** Where such names stand for the whole part. */
const ENTRY_PLACES = new Set(["", "src", "app", "cmd", "bin"]);

/** The parts of `files`, which lie below `base`, by the order of their paths. */
export function partsOf(
  base: string,
  files: readonly CodeFile[],
  manifests: ReadonlyMap<string, Manifest>,
): readonly Part[] {
  const directories = new Map<string, Manifest | undefined>([[base, undefined]]);
  for (const [path, manifest] of manifests) {
    if (!NOT_OWN.test(path)) directories.set(directoryOf(path), manifest);
  }
  const code = files.filter(({ path }) => sourceKindOf(path) !== undefined);
  for (const { path } of code) {
    const held = heldDirectory(base, path);
    if (held !== undefined && !directories.has(held)) directories.set(held, undefined);
  }
  for (const [directory, count] of countsOf([...directories.keys()], code)) {
    if (count < FILES_OF_FOLDERS) continue;
    for (const folder of foldersOf(directory, code, directories)) directories.set(folder, undefined);
  }
  const parts = [...directories].sort(([one], [two]) => (one < two ? -1 : 1)).slice(0, PARTS_MAX);
  const byPath = new Map(parts.map(([path, manifest]) => [path, emptyPart(path, manifest)]));
  for (const file of files) count(byPath.get(ownerOf(byPath, file.path) ?? base), file);
  return [...byPath.values()].filter((part) => part.files > 0);
}

/** The path of the part that a file belongs to. */
export function ownerOf(parts: ReadonlyMap<string, unknown>, file: string): string | undefined {
  for (let directory = directoryOf(file); ; directory = directoryOf(directory)) {
    if (parts.has(directory)) return directory;
    if (directory === ".") return undefined;
  }
}

function emptyPart(path: string, manifest: Manifest | undefined): Part {
  const name = manifest?.name ?? (path === "." ? "." : nameOf(path));
  const kind = manifest?.kind ?? "folder";
  return { path, name, kind, ...(manifest && { manifest }), files: 0, bytes: 0, languages: new Map(), entryPoints: [] };
}

function count(part: Part | undefined, { path, sizeBytes }: CodeFile): void {
  if (part === undefined) return;
  part.files += 1;
  part.bytes += sizeBytes;
  const language = sourceKindOf(path)?.language;
  if (language !== undefined) part.languages.set(language, (part.languages.get(language) ?? 0) + 1);
  const inside = part.path === "." ? path : path.slice(part.path.length + 1);
  const place = inside.includes("/") ? directoryOf(inside) : "";
  const isDeclared = part.manifest?.entryPoints.includes(inside) === true;
  const isNamed =
    ENTRY_PLACES.has(place.split("/")[0] ?? "") && place.split("/").length < 3 && ENTRY_NAMES.test(nameOf(path));
  if ((isDeclared || isNamed) && part.entryPoints.length < ENTRY_POINTS_MAX) part.entryPoints.push(path);
}

/** `services/auth` of `services/auth/src/a.ts`. */
function heldDirectory(base: string, path: string): string | undefined {
  const inside = base === "." ? path : path.slice(base.length + 1);
  const names = inside.split("/");
  const at = names.findIndex((name, index) => index < 2 && HOLDERS.has(name));
  // A directory in a holder, with the file in it or below.
  if (at === -1 || names.length < at + 3 || NOT_OWN.test(inside)) return undefined;
  const held = names.slice(0, at + 2).join("/");
  return base === "." ? held : `${base}/${held}`;
}

function countsOf(directories: readonly string[], code: readonly CodeFile[]): ReadonlyMap<string, number> {
  const counts = new Map(directories.map((directory) => [directory, 0]));
  for (const { path } of code) {
    const owner = ownerOf(counts, path);
    if (owner !== undefined) counts.set(owner, (counts.get(owner) ?? 0) + 1);
  }
  return counts;
}

/** The folders of a large package; where one holds most of it, that one's folders too. */
function foldersOf(
  directory: string,
  code: readonly CodeFile[],
  taken: ReadonlyMap<string, unknown>,
): readonly string[] {
  const own = code.filter(({ path }) => ownerOf(taken, path) === directory).map(({ path }) => path);
  const folders = childrenOf(directory, own);
  const [largest, count = 0] = [...folders].sort(([, one], [, two]) => two - one)[0] ?? [];
  const opened = largest !== undefined && count > SHARE_OF_OPENED * own.length ? childrenOf(largest, own) : new Map();
  return [...folders.keys(), ...(opened.size > 1 ? opened.keys() : [])];
}

function childrenOf(directory: string, paths: readonly string[]): Map<string, number> {
  const start = directory === "." ? "" : `${directory}/`;
  const children = new Map<string, number>();
  for (const path of paths) {
    if (!path.startsWith(start)) continue;
    const end = path.indexOf("/", start.length);
    if (end === -1) continue;
    const child = path.slice(0, end);
    children.set(child, (children.get(child) ?? 0) + 1);
  }
  return children;
}
