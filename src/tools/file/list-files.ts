/** `list_files`: what is in a directory, in a stable order, without following links or entering managed directories. */
import { z } from "zod";
import type { JsonObject } from "../../base/json.ts";
import { LIST_DEPTH_MAX, LIST_ENTRIES_MAX } from "../../base/limits.ts";
import type { ListEntry } from "../../model/place/files.ts";
import type { Tool } from "../../model/tool/tool.ts";
import { numberArgument, pathArgument } from "../kit/argument.ts";
import { READS } from "../kit/capabilities.ts";
import { nameText, objectsOf } from "../kit/plain-text.ts";
import { flag, integer, listOf, objectOf, text } from "../kit/result-schema.ts";

/** Entries that one listing returns when the call does not say. */
const LIST_ENTRIES_DEFAULT = 1000;

const parameters = z.strictObject({
  path: pathArgument("Directory to list, relative to the workspace root. Default `.`, the root itself.").optional(),
  recursive: z.boolean().optional().meta({ description: "List what is in its directories too. Default false." }),
  max_depth: numberArgument(
    `Levels to list when \`recursive\`; 1 is the directory itself. Default ${LIST_DEPTH_MAX}.`,
    1,
    LIST_DEPTH_MAX,
  ),
  max_entries: numberArgument(`Most entries to return. Default ${LIST_ENTRIES_DEFAULT}.`, 1, LIST_ENTRIES_MAX),
});

type Arguments = z.infer<typeof parameters>;

/** The tool `list_files`. */
export const listFiles: Tool<Arguments> = {
  name: "list_files",
  title: "List files",
  description:
    "Lists a directory of the workspace. `.git` and `node_modules` are named and not entered; secret files are left out; links are not followed.",
  parameters,
  outputSchema: objectOf({
    path: text(),
    entries: listOf(
      objectOf(
        {
          path: text("Relative to the listed directory."),
          kind: { enum: ["file", "directory", "symlink", "other"] },
          size_bytes: integer("Of regular files."),
          escaped: flag("The name is not valid UTF-8; its odd bytes stand as \\xNN, and no tool can name it."),
        },
        ["size_bytes", "escaped"],
      ),
    ),
    truncated: flag("There are more entries than were returned."),
  }),
  capability: READS,
  analyse: (args) => [{ resource: { kind: "file", path: directoryOf(args) }, effect: "read" }],
  async execute(args, context) {
    const depthMax = args.recursive ? (args.max_depth ?? LIST_DEPTH_MAX) : 1;
    const path = directoryOf(args);
    const listing = await context.files.list(path, {
      depthMax,
      entriesMax: args.max_entries ?? LIST_ENTRIES_DEFAULT,
    });
    const data = { path, entries: listing.entries.map(entryOf), truncated: listing.truncated };
    return { kind: "data", data, ...(listing.truncated && { truncated: true }) };
  },
  toText: ({ entries, truncated }) => [
    objectsOf(entries).map(entryText).join("\n") || "[the directory is empty]",
    ...(truncated === true ? ["[there are more entries: list a directory below, or raise `max_entries`]"] : []),
  ],
};

/** One line for an entry: a directory ends with `/`, a file has its size behind a tab. */
function entryText({ path, kind, size_bytes: bytes, escaped }: JsonObject): string {
  const name = nameText(path);
  const unusable = escaped === true ? "\tunusable name" : "";
  if (kind === "directory") return `${name}/${unusable}`;
  return `${name}\t${kind === "file" ? String(bytes ?? "") : String(kind)}${unusable}`;
}

function directoryOf({ path }: Arguments): string {
  return path ?? ".";
}

function entryOf(entry: ListEntry): JsonObject {
  return {
    path: entry.path,
    kind: entry.kind,
    ...(entry.sizeBytes !== undefined && { size_bytes: entry.sizeBytes }),
    ...(entry.escaped && { escaped: true }),
  };
}
