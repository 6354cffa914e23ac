/** `list_branches`: the branches of the workspace that belong to the session's user. */
import { z } from "zod";
import type { Tool } from "../../model/tool/tool.ts";
import { READS } from "../kit/capabilities.ts";
import { objectsOf } from "../kit/plain-text.ts";
import { listOf, objectOf } from "../kit/result-schema.ts";
import { BRANCH, branchText, described } from "./branch-argument.ts";

const parameters = z.strictObject({});

/** The tool `list_branches`. */
export const listBranches: Tool<z.infer<typeof parameters>> = {
  name: "list_branches",
  title: "List branches",
  description:
    "Lists the branches that were made of this workspace with `create_branch`, and says which one you work on.",
  parameters,
  outputSchema: objectOf({ branches: listOf(BRANCH) }),
  capability: { ...READS },
  analyse: () => [],
  async execute(_, { branches }) {
    return { kind: "data", data: { branches: (await branches.list()).map(described) } };
  },
  toText: (data) => objectsOf(data["branches"]).map(branchText).join("\n") || "[there are no branches]",
};
