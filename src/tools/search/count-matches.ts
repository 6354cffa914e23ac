/**
 * Implements `count_matches`, which counts how often a pattern occurs.
 *
 * It counts as `edit_file` counts, so that a unique match can be told before an edit.
 */
import { z } from "zod";
import { COUNT_FILES_LISTED_MAX } from "../../base/limits.ts";
import type { Tool } from "../../model/tool/tool.ts";
import { READS } from "../kit/capabilities.ts";
import { countText, nameText, objectsOf } from "../kit/plain-text.ts";
import { flag, integer, objectOf, text } from "../kit/result-schema.ts";
import {
  hasUsableLength,
  queryOf,
  SEARCH_ARGUMENTS,
  SKIPPED_SCHEMA,
  skippedOf,
  skippedText,
  TOO_LONG,
} from "./search-arguments.ts";

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
  outputSchema: objectOf({
    path: text(),
    total: integer("Occurrences in all files together."),
    files_matched: integer("Files with at least one."),
    files: {
      type: "array",
      description: `The first ${COUNT_FILES_LISTED_MAX} of them, in the order of paths.`,
      items: objectOf({ path: text(), count: integer() }),
    },
    files_searched: integer(),
    skipped: SKIPPED_SCHEMA,
    truncated: flag("A limit left files out of the total."),
  }),
  capability: READS,
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
  toText(data) {
    const { total, files_matched: matched, files_searched: searched, skipped, truncated } = data;
    const files = objectsOf(data["files"]);
    const left = truncated === true ? "; a limit left files out of the total" : "";
    const unnamed =
      typeof matched === "number" && matched > files.length ? `\n… and ${matched - files.length} more` : "";
    return [
      `${countText(total, "match", "matches")} in ${String(matched)} of ${countText(searched, "file")}${skippedText(skipped)}${left}`,
      ...(files.length > 0
        ? [files.map(({ path, count }) => `${nameText(path)}:${String(count)}`).join("\n") + unnamed]
        : []),
    ];
  },
};
