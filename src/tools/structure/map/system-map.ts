/** Puts the map of a workspace together: its parts, what they need, documents and infrastructure. */
import type { JsonObject } from "../../../base/json.ts";
import type { CodeFile, CodeListing } from "../../../model/place/code.ts";
import type { ToolContext } from "../../../model/tool/tool.ts";
import { ImportResolver } from "../imports/import-resolver.ts";
import { endOf, nameOf, sourceKindOf } from "../imports/source-kinds.ts";
import { importsOf } from "../imports/workspace-imports.ts";
import { TokenBudget } from "../kit/token-budget.ts";
import { type ComposeFile, edgesBetween, type PartEdge } from "./edges.ts";
import { COMPOSE_BYTES_MAX, composeServices, infrastructureKind } from "./infrastructure.ts";
import { MANIFEST_BYTES_MAX, type Manifest, manifestKind, packageFacts, readManifest } from "./manifests.ts";
import { type Part, partsOf } from "./parts.ts";

/** Files that a map counts. */
const FILES_MAX = 50_000;
/** Manifests and compose files that are read. */
const READ_MAX = 500;

/** The map of what lies below `path`, in at most `tokens`. */
export async function systemMap({ code }: ToolContext, path: string, tokens: number): Promise<JsonObject> {
  const listing = await code.list(path, FILES_MAX);
  const base = baseOf(listing, path);
  const { manifests, compose, unread } = await described(code, path, listing.files);
  const parts = partsOf(base, listing.files, manifests);
  const paths = listing.files.map((file) => file.path);
  const resolver = new ImportResolver(paths, packageFacts(manifests));
  const imports = await importsOf(code, { path, files: paths }, resolver);
  const edges = edgesBetween(parts, imports.edges, compose);
  const budget = new TokenBudget(tokens);
  const shown = budget.fit(parts.map((part) => partData(part, edges)));
  const infrastructure = budget.fit(infrastructureOf(listing.files, compose));
  const docs = budget.fit(docsOf(listing.files));
  const leftOut = {
    parts: shown.leftOut,
    docs: docs.leftOut,
    infrastructure: infrastructure.leftOut,
    sources: imports.unread,
  };
  return {
    root_dir: base,
    files: listing.files.length,
    bytes: listing.files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
    languages: countsOf(listing.files.map((file) => sourceKindOf(file.path)?.language)),
    parts: [...shown.shown],
    docs: [...docs.shown],
    infrastructure: [...infrastructure.shown],
    unread: [...unread],
    left_out: leftOut,
    truncated: listing.truncated || Object.values(leftOut).some((count) => count > 0),
  };
}

/** The mapped directory as the paths of its files begin. */
function baseOf({ files }: CodeListing, path: string): string {
  const plain = path.replace(/^(?:\.\/)+|\/+$/g, "");
  if (plain === "" || plain === "." || files.every((file) => !file.path.startsWith(`${plain}/`))) return ".";
  return plain;
}

async function described(code: ToolContext["code"], path: string, files: readonly CodeFile[]) {
  const manifests = new Map<string, Manifest>();
  const compose: ComposeFile[] = [];
  const unread: string[] = [];
  const wanted = files.filter((file) => manifestKind(file.path) ?? infrastructureKind(file.path) === "compose");
  for (const file of wanted.slice(0, READ_MAX)) {
    const isManifest = manifestKind(file.path) !== undefined;
    const read = await code.text(path, file.path, isManifest ? MANIFEST_BYTES_MAX : COMPOSE_BYTES_MAX);
    const manifest = read.kind === "text" && isManifest ? await readManifest(file.path, read.text) : undefined;
    const services = read.kind === "text" && !isManifest ? await composeServices(read.text) : undefined;
    if (manifest) manifests.set(file.path, manifest);
    else if (services) compose.push({ path: file.path, services });
    else unread.push(file.path);
  }
  unread.push(...wanted.slice(READ_MAX).map((file) => file.path));
  return { manifests, compose, unread };
}

function partData(part: Part, edges: readonly PartEdge[]): JsonObject {
  const { path, name, kind, files, bytes, languages, entryPoints } = part;
  const needed = edges.filter((edge) => edge.from === path);
  return {
    path,
    name,
    kind,
    files,
    bytes,
    languages: Object.fromEntries(byCount(languages)),
    entry_points: entryPoints,
    depends_on: needed.map(({ to, declared, imports }) => ({ path: to, declared, imports })),
  };
}

function countsOf(names: readonly (string | undefined)[]): JsonObject {
  const counts = new Map<string, number>();
  for (const name of names) if (name !== undefined) counts.set(name, (counts.get(name) ?? 0) + 1);
  return Object.fromEntries(byCount(counts));
}

function byCount(counts: ReadonlyMap<string, number>): readonly (readonly [string, number])[] {
  return [...counts].sort(([oneName, one], [twoName, two]) => two - one || (oneName < twoName ? -1 : 1));
}

/** Documents at the root, and directories of documents. */
function docsOf(files: readonly CodeFile[]): readonly JsonObject[] {
  const counts = new Map<string, number>();
  for (const { path } of files) {
    if (!["md", "mdx", "rst", "adoc", "txt"].includes(endOf(path)) || nameOf(path) === "robots.txt") continue;
    const within = /^(?:.*\/)?(?:docs?|documentation|wiki|adr|rfcs?|plans|specs?)(?=\/)/i.exec(path)?.[0];
    const place = within === undefined ? path : `${within}/`;
    if (
      within !== undefined ||
      /^(?:readme|contributing|architecture|changelog|design|status|agents|security)\b/i.test(nameOf(path))
    )
      counts.set(place, (counts.get(place) ?? 0) + 1);
  }
  return [...counts].map(([path, count]) => ({ path, files: count }));
}

function infrastructureOf(files: readonly CodeFile[], compose: readonly ComposeFile[]): readonly JsonObject[] {
  const services = new Map(compose.map((file) => [file.path, file.services.map(({ name }) => name)]));
  return files.flatMap(({ path }) => {
    const kind = infrastructureKind(path);
    if (kind === undefined) return [];
    const names = services.get(path);
    return [{ kind, path, ...(names && { services: names }) }];
  });
}
