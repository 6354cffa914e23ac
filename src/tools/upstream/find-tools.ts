/**
 * `find_tools`: searches tools that no list shows, so that a client pays for what it uses.
 *
 * INVARIANT: it shows only tools that the caller is offered, by the rule of lists of tools.
 */
import * as z from "zod";
import type { JsonObject } from "../../base/json.ts";
import type { Tool } from "../../model/tool/tool.ts";
import { listOf, objectOf, text } from "../kit/result-schema.ts";

const FOUND_MAX = 10;
/** Characters of a description in what was found. */
const DESCRIPTION_CHARACTERS_MAX = 300;
/** Tools of which an answer shows the schema: a search that finds few is a question for those. */
const SCHEMAS_MAX = 3;

const parameters = z.strictObject({
  query: z.string().max(200).describe("Words of what it should do, or its name; empty for the first."),
});

/** The tool that searches `tools`, whose descriptions a person approved. */
export function findTools(tools: readonly Tool[]): Tool {
  const entries = tools.map(({ name, description, parameters: schema }) => ({
    name,
    description,
    words: `${name} ${description}`.toLowerCase(),
    schema: z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as JsonObject,
  }));
  const tool: Tool<z.infer<typeof parameters>> = {
    name: "find_tools",
    title: "Find tools",
    description: "Searches more tools by name and description. Call what it finds with call_tool.",
    parameters,
    outputSchema: objectOf({ tools: listOf({ type: "object" }), more: { type: "integer" }, hint: text() }),
    capability: { effect: "read", risk: "low", approval: { level: "auto" } },
    analyse: () => [{ resource: { kind: "tool", name: "find_tools" }, effect: "read" }],
    async execute({ query }, { offers }) {
      const found = matching(
        entries.filter(({ name }) => offers(name)),
        query,
      );
      const shown = found.slice(0, FOUND_MAX).map(({ name, description, schema }, index) => ({
        name,
        description: description.slice(0, DESCRIPTION_CHARACTERS_MAX),
        ...(index < SCHEMAS_MAX && { input_schema: schema }),
      }));
      const hint = "search for a tool's name to see its schema; call it with call_tool {name, arguments}";
      return { kind: "data", data: { tools: shown, more: found.length - shown.length, hint } };
    },
  };
  return tool as Tool;
}

/** Those whose name is the query, else those with the most of its words. */
function matching<Entry extends { readonly name: string; readonly words: string }>(
  entries: readonly Entry[],
  query: string,
): readonly Entry[] {
  const exact = entries.filter(({ name }) => name === query.trim());
  if (exact.length > 0) return exact;
  const words = query
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "");
  if (words.length === 0) return entries;
  return entries
    .map((entry) => ({ entry, hits: hitsOf(entry.words, words) }))
    .filter(({ hits }) => hits > 0)
    .sort((left, right) => right.hits - left.hits)
    .map(({ entry }) => entry);
}

/** A whole word counts more than a part of one. */
function hitsOf(text: string, words: readonly string[]): number {
  const whole = new Set(text.split(/[^\p{L}\p{N}]+/u));
  return words.reduce((sum, word) => sum + (whole.has(word) ? 3 : text.includes(word) ? 1 : 0), 0);
}
