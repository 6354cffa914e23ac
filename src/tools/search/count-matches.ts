/**
 * Implements `count_matches`, which counts how often a pattern occurs.
 *
 * It counts as `edit_file` counts, so that a unique match can be told before an edit.
 */
import { z } from "zod";
import { COUNT_FILES_LISTED_MAX } from "../../base/limits.ts";
import type { Tool } from "../../model/tool/tool.ts";
import { hasUsableLength, queryOf, SEARCH_ARGUMENTS, SKIPPED_SCHEMA, skippedOf, TOO_LONG } from "./search-arguments.ts";

const parameters = z.strictObject(SEARCH_ARGUMENTS).refine(hasUsableLength, TOO_LONG);

type Arguments = z.infer<typeof parameters>;

/** The tool `count_matches`. */
export const countMatches: Tool<Arguments> = {
  name: "count_matches",
  title: "Count matches",
  description:
    "Counts how often a text or regular expression occurs in a file or in all files of a directory, without overlap, exactly as `edit_file` " +
    "counts. Use it with `literal` to see whether a text is unique before an edit.",
  parameters,
  outputSchema: {
    type: "object",
    properties: {
      path: { type: "string" },
      total: { type: "integer", description: "Occurrences in all files together." },
      files_matched: { type: "integer", description: "Files with at least one." },
      files: {
        type: "array",
        description: `The first ${COUNT_FILES_LISTED_MAX} of them, in the order of paths.`,
        items: {
          type: "object",
          properties: { path: { type: "string" }, count: { type: "integer" } },
          required: ["path", "count"],
          additionalProperties: false,
        },
      },
      files_searched: { type: "integer" },
      skipped: SKIPPED_SCHEMA,
      truncated: { type: "boolean", description: "A limit left files out of the total." },
    },
    required: ["path", "total", "files_matched", "files", "files_searched", "skipped", "truncated"],
    additionalProperties: false,
  },
  capability: {
    effect: "read",
    risk: "low",
    approval: { level: "auto" },
    execution: { sandbox: "process", networkDefault: "none" },
    labels: { outputTrust: "verified", outputDataClass: "internal" },
    audit: { logArgs: true, logOutput: false },
  },
  analyse: (args) => [{ resource: { kind: "file", path: args.path }, effect: "read" }],
  async execute(args, context) {
    const counted = await context.search.count(args.path, queryOf(args));
    const data = {
      path: args.path,
      total: counted.total,
      files_matched: counted.filesMatched,
      files: counted.files.map(({ path, count }) => ({ path, count })),
      files_searched: counted.filesSearched,
      skipped: skippedOf(counted.skipped),
      truncated: counted.truncated,
    };
    return { kind: "data", data, ...(counted.truncated && { truncated: true }) };
  },
};
