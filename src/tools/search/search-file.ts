/** `search_file`: the lines of a file or of a tree in which a pattern matches, with their surroundings. */
import { z } from "zod";
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.ts";
import { SEARCH_LINE_CHARACTERS_MAX } from "../../base/limits.ts";
import type { Tool } from "../../model/tool/tool.ts";
import type { FoundLine } from "../../model/work/search.ts";
import { numberArgument, pathArgument } from "../kit/argument.ts";
import { READS } from "../kit/capabilities.ts";
import { countText, nameText, objectsOf } from "../kit/plain-text.ts";
import { flag, integer, listOf, objectOf, text } from "../kit/result-schema.ts";
import {
  hasUsableLength,
  queryOf,
  SEARCH_ARGUMENTS,
  SKIPPED_SCHEMA,
  skippedOf,
  skippedText,
  TOO_LONG,
} from "./search-arguments.ts";

/** Lines that one search returns at most. */
const SEARCH_RESULTS_MAX = 1000;
/** Lines that one search returns when the call does not say. */
const SEARCH_RESULTS_DEFAULT = 100;
/** Lines shown before and after each line that matches. */
const SEARCH_CONTEXT_LINES_MAX = 10;

/** Bytes that count as a token. */
const TOKEN_BYTES = 4;
const SEARCH_TOKENS_MIN = 64;
const SEARCH_TOKENS_MAX = 100_000;

const parameters = z
  .strictObject({
    ...SEARCH_ARGUMENTS,
    context: numberArgument(
      "Lines to show before and after each line that matches. Default 0.",
      0,
      SEARCH_CONTEXT_LINES_MAX,
    ),
    max_tokens: numberArgument(
      `Most tokens of lines in the answer, at ${TOKEN_BYTES} bytes each. The answer says how to go on.`,
      SEARCH_TOKENS_MIN,
      SEARCH_TOKENS_MAX,
    ),
    after: z
      .strictObject({ path: pathArgument("Its file."), line: z.int().min(1).meta({ description: "Its number." }) })
      .optional()
      .meta({ description: "Go on behind this line: `next.after` of the answer before, with the same arguments." }),
    max_results: numberArgument(`Most lines to return. Default ${SEARCH_RESULTS_DEFAULT}.`, 1, SEARCH_RESULTS_MAX),
  })
  .refine(hasUsableLength, TOO_LONG);

type Arguments = z.infer<typeof parameters>;

const LINES = listOf(text());

/** The tool `search_file`. */
export const searchFile: Tool<Arguments> = {
  name: "search_file",
  title: "Search files",
  description:
    "Finds the lines that match a regular expression, in a file or in all files of a directory, in the order of paths. " +
    "Leaves out binary files, links, `.git`, `node_modules`, secret files and what `.gitignore` names. " +
    'Example: {"path": ".", "regex": "parseConfig", "word": true, "glob": "*.ts", "context": 2}',
  parameters,
  outputSchema: objectOf(
    {
      path: text(),
      results: listOf(
        objectOf(
          {
            path: text("As other calls can name the file."),
            line: integer("The line in which the match begins; the first is 1."),
            column: integer("The character at which the first match in it begins; the first is 1."),
            text: text("The line without its end."),
            cut: flag(`The line has more than ${SEARCH_LINE_CHARACTERS_MAX} characters; this is a part of it.`),
            end_line: integer("The line in which the match ends, when it is another."),
            before: LINES,
            after: LINES,
          },
          ["cut", "end_line", "before", "after"],
        ),
      ),
      files_searched: integer(),
      skipped: SKIPPED_SCHEMA,
      truncated: flag("There is more than was returned."),
      next: {
        ...objectOf({ after: objectOf({ path: text(), line: integer() }) }),
        description: "What to add to the same call to see what comes behind.",
      },
    },
    ["next"],
  ),
  capability: READS,
  analyse: (args) => [{ resource: { kind: "file", path: args.path }, effect: "read" }],
  async execute(args, context) {
    const options = {
      ...queryOf(args),
      context: args.context ?? 0,
      linesMax: args.max_results ?? SEARCH_RESULTS_DEFAULT,
      ...(args.max_tokens !== undefined && { bytesMax: args.max_tokens * TOKEN_BYTES }),
      ...(args.after && { after: args.after }),
    };
    const found = await context.search.find(args.path, options);
    const last = found.lines.at(-1);
    const data = {
      path: args.path,
      results: found.lines.map((line) => resultOf(line, options.context > 0)),
      files_searched: found.filesSearched,
      skipped: skippedOf(found.skipped),
      truncated: found.truncated,
      ...(found.truncated && last && { next: { after: { path: last.path, line: last.line } } }),
    };
    return { kind: "data", data, ...(found.truncated && { truncated: true }) };
  },
  toText: (data) => {
    const results = objectsOf(data["results"]);
    return [...(results.length > 0 ? [linesText(results)] : []), searchNote(data, results.length)];
  },
};

/** `path:line:text` for each line found, and `path-line-text` for those around it, as grep writes them. */
function linesText(results: readonly JsonObject[]): string {
  const blocks = results.map(({ path, line, end_line: end, text, cut, before, after }) => {
    const name = nameText(path);
    const first = Number(line);
    const last = typeof end === "number" ? end : first;
    const around = (lines: JsonValue | undefined, from: number) =>
      Array.isArray(lines) ? lines.map((each, index) => `${name}-${from + index}-${String(each)}`) : [];
    const found = `${name}:${last > first ? `${first}-${last}` : first}:${String(text)}${cut === true ? " …" : ""}`;
    return [...around(before, first - (Array.isArray(before) ? before.length : 0)), found, ...around(after, last + 1)];
  });
  const hasContext = blocks.some((block) => block.length > 1);
  return blocks.map((block) => block.join("\n")).join(hasContext ? "\n--\n" : "\n");
}

function searchNote(data: JsonObject, found: number): string {
  const lines = found === 0 ? "no line matches" : countText(found, "line");
  const next = isJsonObject(data["next"])
    ? `, or add ${JSON.stringify(data["next"]).slice(1, -1)} to the same call`
    : "";
  const more = data["truncated"] === true ? `; there are more: narrow the search, raise \`max_results\`${next}` : "";
  return `[${lines} in ${countText(data["files_searched"], "file")}${skippedText(data["skipped"])}${more}]`;
}

function resultOf(line: FoundLine, withContext: boolean): JsonObject {
  return {
    path: line.path,
    line: line.line,
    column: line.column,
    text: line.text,
    ...(line.cut && { cut: true }),
    ...(line.endLine !== undefined && { end_line: line.endLine }),
    ...(withContext && { before: line.before, after: line.after }),
  };
}
