/** `search_knowledge`: the parts of the workspace's code and documents that answer a question in plain words. */
import { z } from "zod";
import type { JsonObject } from "../../base/json.ts";
import type { KnowledgePart } from "../../model/place/knowledge.ts";
import type { Tool } from "../../model/tool/tool.ts";
import { numberArgument, pathArgument, textArgument } from "../kit/argument.ts";
import { READS } from "../kit/capabilities.ts";
import { countText, nameText, objectsOf } from "../kit/plain-text.ts";
import { flag, integer, listOf, objectOf, text } from "../kit/result-schema.ts";

/** Bytes of a question. */
const QUESTION_BYTES_MAX = 4096;
/** Parts that are answered, at most and when the call does not say. */
const PARTS_MAX = 50;
const PARTS_DEFAULT = 8;
/** Tokens of the answer when the call does not say; a token is counted as four characters. */
const TOKENS_DEFAULT = 4000;
const TOKENS_MAX = 25_000;
const CHARACTERS_PER_TOKEN = 4;
/** Characters that a part's path, lines and title take beside its text. */
const PART_OVERHEAD_CHARACTERS = 80;

/** What an agent is told while not everything is indexed. */
export const BUILDING_WARNING = "Knowledge Base Building...";

const parameters = z.strictObject({
  query: textArgument(
    "What you want to know, in plain words or by names, such as `how are retries bounded`.",
    QUESTION_BYTES_MAX,
  )
    .refine((query) => query.trim() !== "", {
      params: { rule: "required" },
      message: "must not be empty; ask something",
    })
    .meta({ minLength: 1 }),
  limit: numberArgument(`Most parts to return. Default ${PARTS_DEFAULT}.`, 1, PARTS_MAX),
  path: pathArgument("Only below this directory. Default `.`, the whole workspace.").optional(),
  glob: z
    .string()
    .min(1)
    .max(1000)
    .optional()
    .meta({ description: "Only files that match, such as `*.md` or `src/**`." }),
  max_tokens: numberArgument(
    `Most tokens of the answer, counted as ${CHARACTERS_PER_TOKEN} characters each. Default ${TOKENS_DEFAULT}.`,
    100,
    TOKENS_MAX,
  ),
});

type Arguments = z.infer<typeof parameters>;

/** The tool `search_knowledge`. */
export const searchKnowledge: Tool<Arguments> = {
  name: "search_knowledge",
  title: "Search knowledge",
  description:
    "Finds the parts of code and documents that answer a question, best first, with their lines. " +
    "Use it to find where something is done; use `search_file` for an exact text or pattern.",
  parameters,
  outputSchema: objectOf(
    {
      query: text(),
      results: listOf(
        objectOf(
          {
            path: text("As other calls can name the file."),
            first_line: integer("The first is 1."),
            last_line: integer(),
            title: text("Headings or the declaration that it is part of."),
            text: text("The lines as they are now."),
            cut: integer("Characters at the end of the lines that did not fit `max_tokens`."),
          },
          ["cut"],
        ),
      ),
      state: text("`ready`, or `building` while some files are not indexed yet."),
      files_left: integer("Files that are still to be indexed."),
      left_out: integer("Parts that were found and did not fit `max_tokens`."),
      truncated: flag("There is more than was returned."),
      warning: text(),
      vectors: text("Whether parts are also found by meaning: `ready`, `building`, or `unavailable` for now."),
    },
    ["warning", "vectors"],
  ),
  capability: READS,
  analyse: ({ path = "." }) => [{ resource: { kind: "file", path }, effect: "read" }],
  async execute({ query, path = ".", limit = PARTS_DEFAULT, glob, max_tokens: tokens = TOKENS_DEFAULT }, context) {
    const found = await context.knowledge.search(path, { text: query, limit, ...(glob !== undefined && { glob }) });
    const shown = withinTokens(found.parts, tokens);
    const leftOut = found.parts.length - shown.length;
    const truncated = found.truncated || leftOut > 0 || shown.some(({ cut }) => cut > 0);
    const data = {
      query,
      results: shown.map(resultOf),
      state: found.state,
      files_left: found.filesLeft,
      left_out: leftOut,
      truncated,
      ...(found.vectors !== undefined && { vectors: found.vectors }),
      ...(found.state === "building" && { warning: BUILDING_WARNING }),
    };
    return { kind: "data", data, ...(truncated && { truncated: true }) };
  },
  toText: (data) => [...objectsOf(data["results"]).map(partText), noteText(data)],
};

/** A part as it is shown, and how many characters of it are not. */
interface ShownPart extends KnowledgePart {
  readonly cut: number;
}

/** The first parts that fit; of the first one as much as fits, because nothing helps nobody. */
function withinTokens(parts: readonly KnowledgePart[], tokens: number): readonly ShownPart[] {
  const most = tokens * CHARACTERS_PER_TOKEN - PART_OVERHEAD_CHARACTERS;
  return fittingParts(parts, tokens).map((part) => {
    const shown = part.text.slice(0, most).replace(/[\uD800-\uDBFF]$/, "");
    return { ...part, text: shown, cut: part.text.length - shown.length };
  });
}

function fittingParts(parts: readonly KnowledgePart[], tokens: number): readonly KnowledgePart[] {
  let room = tokens * CHARACTERS_PER_TOKEN;
  const fitting = parts.findIndex(({ text: lines }, index) => {
    room -= lines.length + PART_OVERHEAD_CHARACTERS;
    return room < 0 && index > 0;
  });
  return fitting === -1 ? parts : parts.slice(0, fitting);
}

function resultOf({ path, firstLine, lastLine, title, text: lines, cut }: ShownPart): JsonObject {
  return { path, first_line: firstLine, last_line: lastLine, title, text: lines, ...(cut > 0 && { cut }) };
}

function partText({ path, first_line: first, last_line: last, title, text: lines, cut }: JsonObject): string {
  const about = title === "" ? "" : ` (${String(title)})`;
  const rest = cut === undefined ? "" : `\n[${countText(cut, "character")} more: read the file]`;
  return `${nameText(path)}:${String(first)}-${String(last)}${about}\n${String(lines)}${rest}`;
}

function noteText(data: JsonObject): string {
  const count = objectsOf(data["results"]).length;
  const building =
    data["state"] === "building"
      ? `; ${BUILDING_WARNING} ${countText(data["files_left"], "file")} left, so that parts may be missing`
      : "";
  const leftOut = Number(data["left_out"]);
  const isCut = objectsOf(data["results"]).some((part) => part["cut"] !== undefined);
  const more =
    leftOut > 0
      ? `; ${countText(leftOut, "part")} left out: raise \`max_tokens\`, or read the files`
      : data["truncated"] === true && !isCut
        ? "; there are more: raise `limit`, or ask more precisely"
        : "";
  const words = data["vectors"] === "unavailable" ? "; found by words alone, because meaning is not available now" : "";
  return `[${count === 0 ? "nothing was found" : countText(count, "part")}${building}${words}${more}]`;
}
