/** `get_related_tests`: the tests that have to do with a file, each with its reasons. */
import { z } from "zod";
import { isJsonObject, type JsonObject } from "../../base/json.ts";
import type { Tool } from "../../model/tool/tool.ts";
import { pathArgument } from "../kit/argument.ts";
import { READS } from "../kit/capabilities.ts";
import { countText, nameText, objectsOf } from "../kit/plain-text.ts";
import { flag, integer, listOf, objectOf, text } from "../kit/result-schema.ts";
import { tokensArgument } from "./kit/token-budget.ts";

const TOKENS_DEFAULT = 1000;

const parameters = z.strictObject({
  file_path: pathArgument("The source file."),
  root_dir: pathArgument("Only tests below this directory. Default `.`, the whole workspace.").optional(),
  max_tokens: tokensArgument(TOKENS_DEFAULT),
});

type Arguments = z.infer<typeof parameters>;

/** The tool `get_related_tests`. */
export const getRelatedTests: Tool<Arguments> = {
  name: "get_related_tests",
  title: "Tests of a file",
  description:
    "Finds the tests that have to do with a file, best first, each with its reasons: its name, that it imports the file (perhaps through others), or that both were changed together in git's history.",
  parameters,
  outputSchema: objectOf({
    file_path: text(),
    tests: listOf(
      objectOf({
        path: text(),
        reasons: listOf(objectOf({ kind: text("`name`, `import`, `package`, `history`, or `inline`."), why: text() })),
      }),
    ),
    history: text("`read`, or why there is none: `no_repository`, `not_allowed`, `unreadable`."),
    left_out: objectOf({ tests: integer(), sources: integer("Files whose imports were not read.") }),
    truncated: flag("There may be more tests."),
  }),
  capability: READS,
  analyse: ({ file_path: file, root_dir: root = "." }) =>
    [...new Set([file, root])].map((path) => ({ resource: { kind: "file", path }, effect: "read" })),
  async execute({ file_path: file, root_dir: root = ".", max_tokens: tokens = TOKENS_DEFAULT }, context) {
    const { testsOfFile } = await import("./tests/tests-of-file.ts");
    const data = await testsOfFile(context, { file, root, tokens });
    return { kind: "data", data, ...(data["truncated"] === true && { truncated: true }) };
  },
  toText: testsText,
};

function testsText(data: JsonObject): string {
  const tests = objectsOf(data["tests"]).map(({ path, reasons }) => {
    const why = objectsOf(reasons).map((reason) => String(reason["why"]));
    return `${nameText(path)}: ${why.join("; ")}`;
  });
  const leftOut = isJsonObject(data["left_out"]) ? data["left_out"] : {};
  const more = leftOut["tests"] === 0 ? "" : `; left out: ${countText(leftOut["tests"], "test")}: raise \`max_tokens\``;
  const history = data["history"] === "read" ? "" : `; git's history was not read (${String(data["history"])})`;
  const unread = leftOut["sources"] === 0 ? "" : `; imports of ${countText(leftOut["sources"], "file")} were not read`;
  const none = tests.length === 0 ? `no test has to do with ${nameText(data["file_path"])}; search for its names` : "";
  return [...tests, `[${none === "" ? countText(tests.length, "test") : none}${more}${history}${unread}]`].join("\n");
}
