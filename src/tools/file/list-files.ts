/** `list_files`: what is in a directory, in a stable order, without following links or entering managed directories. */
import { z } from "zod";
import { isJsonObject, type JsonObject } from "../../base/json.ts";
import { LIST_DEPTH_MAX, LIST_ENTRIES_MAX, MAX_PATH_LEN } from "../../base/limits.ts";
import { hasMoreCharacters } from "../../model/outcome/constraints.ts";
import { ToolFailure } from "../../model/outcome/failure.ts";
import type { ListEntry } from "../../model/place/files.ts";
import type { Tool } from "../../model/tool/tool.ts";
import { compileGlob } from "../../names/glob.ts";
import { numberArgument, pathArgument } from "../kit/argument.ts";
import { READS } from "../kit/capabilities.ts";
import { nameText, objectsOf } from "../kit/plain-text.ts";
import { flag, integer, listOf, objectOf, text } from "../kit/result-schema.ts";

/** Entries that one listing returns when the call does not say. */
const LIST_ENTRIES_DEFAULT = 1000;

/** Kinds of entries. */
const KINDS = 4;
/** Characters that count as a token. */
const TOKEN_CHARACTERS = 4;
const LIST_TOKENS_MIN = 64;
const LIST_TOKENS_MAX = 100_000;

const parameters = z.strictObject({
  path: pathArgument("Directory to list, relative to the workspace root. Default `.`, the root itself.").optional(),
  recursive: z.boolean().optional().meta({ description: "List what is in its directories too. Default false." }),
  max_depth: numberArgument(
    `Levels to list when \`recursive\`; 1 is the directory itself. Default ${LIST_DEPTH_MAX}.`,
    1,
    LIST_DEPTH_MAX,
  ),
  glob: z
    .string()
    .min(1, "must not be empty; leave it out to list everything")
    .refine((text) => !hasMoreCharacters(text, MAX_PATH_LEN), {
      params: { rule: "max_length" },
      message: `is longer than ${MAX_PATH_LEN} characters`,
    })
    .optional()
    .meta({ description: "Only entries that match: `*.ts` by name, or `src/**/*.ts` from the listed directory." }),
  kinds: z
    .array(z.enum(["file", "directory", "symlink", "other"]))
    .min(1)
    .max(KINDS)
    .optional()
    .meta({ description: "Only entries of these kinds." }),
  max_tokens: numberArgument(
    `Most tokens of paths in the answer, at ${TOKEN_CHARACTERS} characters each. The answer says how to go on.`,
    LIST_TOKENS_MIN,
    LIST_TOKENS_MAX,
  ),
  after: pathArgument(
    "Go on behind this entry: `next.after` of the answer before, with the same arguments.",
  ).optional(),
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
  outputSchema: objectOf(
    {
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
      next: {
        ...objectOf({ after: text() }),
        description: "What to add to the same call to see what comes behind.",
      },
    },
    ["next"],
  ),
  capability: READS,
  analyse: (args) => [{ resource: { kind: "file", path: directoryOf(args) }, effect: "read" }],
  async execute(args, context) {
    const depthMax = args.recursive ? (args.max_depth ?? LIST_DEPTH_MAX) : 1;
    const path = directoryOf(args);
    const shows = filterOf(args);
    const listing = await context.files.list(path, {
      depthMax,
      entriesMax: args.max_entries ?? LIST_ENTRIES_DEFAULT,
      ...(shows && { shows }),
      ...(args.after !== undefined && { after: args.after }),
    });
    const entries = fitting(listing.entries, args.max_tokens);
    const truncated = listing.truncated || entries.length < listing.entries.length;
    const last = entries.at(-1);
    const next = truncated && last ? { next: { after: last.path } } : {};
    const data = { path, entries: entries.map(entryOf), truncated, ...next };
    return { kind: "data", data, ...(truncated && { truncated: true }) };
  },
  toText: ({ entries, truncated, next }) => [
    objectsOf(entries).map(entryText).join("\n") || "[the directory is empty]",
    ...(truncated === true
      ? [
          `[there are more entries: list a directory below, raise \`max_entries\`${isJsonObject(next) ? `, or add ${JSON.stringify(next).slice(1, -1)} to the same call` : ""}]`,
        ]
      : []),
  ],
};

/** Which entries are shown. @throws ToolFailure for a glob that cannot be used */
function filterOf({ glob, kinds }: Arguments): ((entry: ListEntry) => boolean) | undefined {
  if (glob === undefined && kinds === undefined) return undefined;
  const test = glob === undefined ? () => true : compileGlob(glob);
  if (test === undefined) {
    const message = `the glob ${JSON.stringify(glob)} cannot be used`;
    throw new ToolFailure("NOT_SUPPORTED", message, "use fewer wildcards and balanced brackets, such as `*.ts`");
  }
  const named = (path: string) => (glob?.includes("/") === true ? path : path.slice(path.lastIndexOf("/") + 1));
  return ({ path, kind }) => (kinds === undefined || kinds.includes(kind)) && test(named(path));
}

/** The first entries for which there is room; at least one. */
function fitting(entries: readonly ListEntry[], tokens: number | undefined): readonly ListEntry[] {
  if (tokens === undefined) return entries;
  let room = tokens * TOKEN_CHARACTERS;
  const end = entries.findIndex(({ path }, index) => {
    room -= path.length + ENTRY_CHARACTERS;
    return room < 0 && index > 0;
  });
  return end === -1 ? entries : entries.slice(0, end);
}

/** Characters of an entry besides its path. */
const ENTRY_CHARACTERS = 12;

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
