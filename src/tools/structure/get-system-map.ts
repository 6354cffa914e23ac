/** `get_system_map`: the parts of a workspace, what they depend on, its documents and its infrastructure. */
import { z } from "zod";
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.ts";
import type { Tool } from "../../model/tool/tool.ts";
import { pathArgument } from "../kit/argument.ts";
import { READS } from "../kit/capabilities.ts";
import { countText, nameText, objectsOf } from "../kit/plain-text.ts";
import { flag, integer, listOf, objectOf, text } from "../kit/result-schema.ts";
import { tokensArgument } from "./kit/token-budget.ts";

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
    const { systemMap } = await import("./map/system-map.ts");
    const data = await systemMap(context, path, tokens);
    return { kind: "data", data, ...(data["truncated"] === true && { truncated: true }) };
  },
  toText: mapText,
};

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
