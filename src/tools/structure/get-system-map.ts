/** `get_system_map`: the parts of a workspace, what they depend on, its documents and its infrastructure. */
import { z } from "zod";
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.ts";
import type { CodeFile, CodeListing } from "../../model/place/code.ts";
import type { Tool, ToolContext } from "../../model/tool/tool.ts";
import { pathArgument } from "../kit/argument.ts";
import { READS } from "../kit/capabilities.ts";
import { countText, nameText, objectsOf } from "../kit/plain-text.ts";
import { flag, integer, listOf, objectOf, text } from "../kit/result-schema.ts";
import { ImportResolver } from "./imports/import-resolver.ts";
import { endOf, nameOf, sourceKindOf } from "./imports/source-kinds.ts";
import { importsOf } from "./imports/workspace-imports.ts";
import { type ComposeFile, edgesBetween, type PartEdge } from "./map/edges.ts";
import { COMPOSE_BYTES_MAX, composeServices, infrastructureKind } from "./map/infrastructure.ts";
import { MANIFEST_BYTES_MAX, type Manifest, manifestKind, packageFacts, readManifest } from "./map/manifests.ts";
import { type Part, partsOf } from "./map/parts.ts";
import { TokenBudget, tokensArgument } from "./token-budget.ts";

/** Files that a map counts. */
const FILES_MAX = 50_000;
/** Manifests and compose files that are read. */
const READ_MAX = 500;
const TOKENS_DEFAULT = 3000;

const parameters = z.strictObject({
  root_dir: pathArgument("Only below this directory. Default `.`, the whole workspace.").optional(),
  max_tokens: tokensArgument(TOKENS_DEFAULT),
});

type Arguments = z.infer<typeof parameters>;

const COUNTS = { description: "Files by language.", type: "object", additionalProperties: { type: "integer" } };

/** The tool `get_system_map`. */
export const getSystemMap: Tool<Arguments> = {
  name: "get_system_map",
  title: "Map of the system",
  description:
    "Maps a workspace: services, packages and large folders with languages, sizes, entry points and what each depends on; documents; containers, clusters and pipelines.",
  parameters,
  outputSchema: objectOf({
    root_dir: text(),
    files: integer(),
    bytes: integer(),
    languages: COUNTS,
    parts: listOf(
      objectOf(
        {
          path: text(),
          name: text(),
          kind: text("`folder`, or what manages the package: `npm`, `cargo`, `go`, `python`, …"),
          files: integer(),
          bytes: integer(),
          languages: COUNTS,
          entry_points: listOf(text()),
          depends_on: listOf(
            objectOf({
              path: text("Of another part."),
              declared: flag("A manifest or compose file says so."),
              imports: integer("Pairs of files of which one imports the other."),
            }),
          ),
        },
        [],
      ),
    ),
    docs: listOf(objectOf({ path: text("A document, or a directory of them."), files: integer() })),
    infrastructure: listOf(
      objectOf({ kind: text(), path: text(), services: listOf(text("Of a compose file.")) }, ["services"]),
    ),
    unread: { ...listOf(text()), description: "Manifests and compose files that could not be read." },
    left_out: objectOf({ parts: integer(), docs: integer(), infrastructure: integer(), sources: integer() }),
    truncated: flag("There is more than was returned."),
  }),
  capability: READS,
  analyse: ({ root_dir: path = "." }) => [{ resource: { kind: "file", path }, effect: "read" }],
  async execute({ root_dir: path = ".", max_tokens: tokens = TOKENS_DEFAULT }, context) {
    const data = await mapOf(context, path, tokens);
    return { kind: "data", data, ...(data["truncated"] === true && { truncated: true }) };
  },
  toText: mapText,
};

async function mapOf({ code }: ToolContext, path: string, tokens: number): Promise<JsonObject> {
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

function mapText(data: JsonObject): string {
  const lines = [
    `${nameText(data["root_dir"])}: ${countText(data["files"], "file")}, ${sizeText(data["bytes"])}; ${countsText(data["languages"])}`,
    "Parts:",
    ...objectsOf(data["parts"]).map(partText),
  ];
  const docs = objectsOf(data["docs"]).map(
    ({ path, files }) => `${nameText(path)}${files === 1 ? "" : ` (${String(files)})`}`,
  );
  if (docs.length > 0) lines.push(`Documents: ${docs.join(", ")}`);
  const infrastructure = objectsOf(data["infrastructure"]).map(infrastructureText);
  if (infrastructure.length > 0) lines.push(`Infrastructure: ${infrastructure.join(", ")}`);
  const unread = Array.isArray(data["unread"]) ? data["unread"] : [];
  if (unread.length > 0) lines.push(`Not read: ${unread.map((path) => nameText(path)).join(", ")}`);
  lines.push(noteText(data));
  return lines.join("\n");
}

function partText({
  path,
  name,
  kind,
  files,
  bytes,
  languages,
  entry_points: entries,
  depends_on: needs,
}: JsonObject): string {
  const called = name === path || String(path).endsWith(`/${String(name)}`) ? "" : ` ${nameText(name)}`;
  const about = [`${String(kind)}${called}`, countText(files, "file"), sizeText(bytes), countsText(languages)];
  const start =
    Array.isArray(entries) && entries.length > 0
      ? `; starts at ${entries.map((each) => nameText(each)).join(", ")}`
      : "";
  const needed = objectsOf(needs).map(
    (edge) => `${nameText(edge["path"])}${edge["declared"] === true ? " (declared)" : ""} ${String(edge["imports"])}`,
  );
  const arrows = needed.length === 0 ? "" : `; needs ${needed.join(", ")}`;
  return `- ${nameText(path)}: ${about.filter((each) => each !== "").join(", ")}${start}${arrows}`;
}

function infrastructureText({ kind, path, services }: JsonObject): string {
  const names = Array.isArray(services) ? ` (${services.map((each) => nameText(each)).join(", ")})` : "";
  return `${String(kind)} ${nameText(path)}${names}`;
}

function countsText(counts: JsonValue | undefined): string {
  if (!isJsonObject(counts)) return "";
  return Object.entries(counts)
    .map(([language, count]) => `${language} ${String(count)}`)
    .join(", ");
}

function sizeText(bytes: JsonValue | undefined): string {
  const size = Number(bytes);
  return size < 1024 * 1024 ? `${Math.ceil(size / 1024)} KiB` : `${(size / 1024 / 1024).toFixed(1)} MiB`;
}

function noteText(data: JsonObject): string {
  const leftOut = isJsonObject(data["left_out"])
    ? Object.entries(data["left_out"]).filter(([, count]) => count !== 0)
    : [];
  const count = countText(objectsOf(data["parts"]).length, "part");
  if (data["truncated"] !== true) return `[${count}; numbers behind a part are files that import its files]`;
  const what = leftOut.map(([name, number]) => `${String(number)} ${name}`).join(", ");
  return `[${count}; left out: ${what === "" ? "files beyond the first" : what}: raise \`max_tokens\`, or map one directory with \`root_dir\`]`;
}
