/** `find_usage`: where a name is defined, imported, called, written and referred to, by language server or syntax. */
import { z } from "zod";
import { isJsonObject, type JsonObject } from "../../base/json.ts";
import type { UsageKind } from "../../model/place/code.ts";
import type { Tool } from "../../model/tool/tool.ts";
import { numberArgument, pathArgument } from "../kit/argument.ts";
import { READS } from "../kit/capabilities.ts";
import { countText, nameText, objectsOf } from "../kit/plain-text.ts";
import { flag, integer, listOf, objectOf, text } from "../kit/result-schema.ts";
import { tokensArgument } from "./kit/token-budget.ts";

const SYMBOL_CHARACTERS_MAX = 200;
const TOKENS_DEFAULT = 2000;
const KINDS = ["definition", "import", "call", "write", "reference"] as const satisfies readonly UsageKind[];

const parameters = z.strictObject({
  symbol: z
    .string()
    .max(SYMBOL_CHARACTERS_MAX)
    .regex(/^[\p{L}_$][\p{L}\p{N}\p{M}_$]*$/u, "must be one name, such as `loadConfig`; name no object before it")
    .meta({ description: "The name, exactly as code writes it, without what stands before its dot." }),
  path: pathArgument("A directory or file to look into. Default `.`, the whole workspace.").optional(),
  defined_in: pathArgument("Only usages of what this file defines, where several files define the name.").optional(),
  line: numberArgument("With `defined_in`: the line of the definition, where the file defines the name in several.", 1),
  kinds: z.array(z.enum(KINDS)).min(1).max(KINDS.length).optional().meta({ description: "Only these. Default: all." }),
  max_tokens: tokensArgument(TOKENS_DEFAULT),
});

type Arguments = z.infer<typeof parameters>;

/** The tool `find_usage`. */
export const findUsage: Tool<Arguments> = {
  name: "find_usage",
  title: "Usages of a name",
  description:
    "Finds where a function, class, method or other name is defined, imported, called, written and referred to: by the project's own language server where there is one, else by the syntax of the code and its scopes; the answer says which. No comments, no strings, no locals of the same name. `kinds: [definition]` finds definitions alone.",
  parameters,
  outputSchema: objectOf(
    {
      symbol: text(),
      by: text("Who knows: `language-server`, or `syntax`: the tree of each file, its scopes and imports."),
      servers: { ...listOf(text()), description: "The language servers that answered." },
      fallback: {
        ...listOf(objectOf({ server: text(), why: text(), message: text() }, ["server"])),
        description: "Why a language is known by its syntax alone.",
      },
      counts: {
        description: "All usages that were found, by kind.",
        type: "object",
        additionalProperties: { type: "integer" },
      },
      usages: listOf(
        objectOf(
          {
            path: text(),
            line: integer(),
            column: integer(),
            kind: text(KINDS.map((kind) => `\`${kind}\``).join(", ")),
            text: text("The line."),
            within: text("The function or type around it."),
            defined_in: text("The file that defines it, as far as imports show."),
            binding: text("`member`: of an object whose type syntax does not show. `local`: of a function or block."),
            by: text("Where another than `by` of the whole answer knows it."),
          },
          ["within", "defined_in", "binding", "by"],
        ),
      ),
      left_out: objectOf({
        usages: integer(),
        locals: integer("Names of functions and blocks that are other ones; look into their file to see them."),
        files: integer("Files that hold the name and were not looked into."),
        others: integer("Usages of other things of that name, which a language server told apart."),
        hidden: integer("Places in files that this call may not read, or outside of the workspace."),
      }),
      not_parsed: { ...listOf(text()), description: "Files that hold the text, but whose syntax is not known." },
      partly_parsed: {
        ...listOf(text()),
        description: "Files with parts that could not be parsed: usages in them may be missing.",
      },
      truncated: flag("There may be more."),
    },
    ["servers", "fallback"],
  ),
  capability: READS,
  analyse: ({ path = ".", defined_in: file }) =>
    [...new Set([path, ...(file === undefined ? [] : [file])])].map((each) => ({
      resource: { kind: "file", path: each },
      effect: "read",
    })),
  async execute(args, context) {
    const { usagesData } = await import("./usages/usages-data.ts");
    const data = await usagesData({ ...args, tokens: args.max_tokens ?? TOKENS_DEFAULT }, context);
    return { kind: "data", data, ...(data["truncated"] === true && { truncated: true }) };
  },
  toText: usagesText,
};

function usagesText(data: JsonObject): string {
  const lines: string[] = [];
  let before: unknown;
  for (const { path, line, column, kind, text: source, within, defined_in: file, binding, by } of objectsOf(
    data["usages"],
  )) {
    if (path !== before) lines.push(nameText(path));
    before = path;
    const notes = [
      ...(within === undefined ? [] : [`in ${nameText(within)}`]),
      ...(file === undefined ? [] : [`of ${nameText(file)}`]),
      ...(binding === undefined ? [] : [String(binding)]),
      ...(by === undefined ? [] : [`by ${String(by)}`]),
    ];
    const note = notes.length === 0 ? "" : ` (${notes.join(", ")})`;
    lines.push(`  ${String(line)}:${String(column)} ${String(kind)}${note}: ${nameText(source)}`);
  }
  const counts = isJsonObject(data["counts"]) ? Object.entries(data["counts"]) : [];
  const sum = counts.map(([kind, count]) => countText(count, kind)).join(", ");
  const unparsed = Array.isArray(data["not_parsed"]) ? data["not_parsed"] : [];
  const partly = Array.isArray(data["partly_parsed"]) ? data["partly_parsed"] : [];
  if (partly.length > 0)
    lines.push(`Parsed in part, search for what may be missing: ${partly.map((each) => nameText(each)).join(", ")}`);
  if (unparsed.length > 0)
    lines.push(`Not parsed, but holds the text: ${unparsed.map((each) => nameText(each)).join(", ")}`);
  for (const { server, message } of objectsOf(data["fallback"] ?? []))
    lines.push(`No language server${server === undefined ? "" : ` (${nameText(server)})`}: ${nameText(message)}`);
  const servers = Array.isArray(data["servers"]) ? data["servers"].map((each) => nameText(each)).join(", ") : "";
  lines.push(
    `[by ${servers === "" ? "syntax" : `language server ${servers}`}: ${sum === "" ? "no usage; check the name, or use `search_file`" : sum}${leftOutText(data)}]`,
  );
  return lines.join("\n");
}

function leftOutText(data: JsonObject): string {
  const leftOut = isJsonObject(data["left_out"]) ? data["left_out"] : {};
  const parts = [
    ...(leftOut["usages"] === 0
      ? []
      : [`${String(leftOut["usages"])} left out: raise \`max_tokens\`, narrow \`path\` or \`kinds\``]),
    ...(leftOut["locals"] === 0
      ? []
      : [`${countText(leftOut["locals"], "local")} of that name left out: name their file in \`path\``]),
    ...(leftOut["others"] === 0
      ? []
      : [`${countText(leftOut["others"], "usage")} of other things of that name left out`]),
    ...(leftOut["hidden"] === 0 ? [] : [`${countText(leftOut["hidden"], "place")} in files that you may not read`]),
    ...(leftOut["files"] === 0 ? [] : [`${countText(leftOut["files"], "file")} not looked into: narrow \`path\``]),
  ];
  return parts.map((part) => `; ${part}`).join("");
}
