/** The argument that names a branch, and how a branch is described in results. */
import { z } from "zod";
import type { JsonObject } from "../../base/json.ts";
import { BRANCH_NAME_MAX, branchNameProblem } from "../../model/place/branch.ts";
import type { BranchFacts } from "../../model/work/branches.ts";
import { nameText } from "../kit/plain-text.ts";
import { flag, integer, objectOf, text } from "../kit/result-schema.ts";

/** A branch's name. */
export function branchArgument(description: string) {
  return z.strictObject({
    name: z
      .string()
      .refine((name) => branchNameProblem(name) === undefined, {
        params: { rule: "format" },
        error: ({ input }) => `${branchNameProblem(String(input)) ?? "cannot be used"}; choose another name`,
      })
      .meta({ description, maxLength: BRANCH_NAME_MAX }),
  });
}

/** The schema of a described branch. */
export const BRANCH = objectOf(
  {
    name: text(),
    parent: text("The branch that it was made from; absent where that is the workspace itself."),
    current: flag("Whether this session works on it."),
    state: text("`making`, `ready` or `merging`."),
    entries: integer("Files, directories and links that it was made of."),
    made_by: text("`clone` where the file system shares what is the same, or `copy`."),
    created_at: text("ISO 8601."),
    agent: text("The agent that made it."),
  },
  ["parent"],
);

/** A branch as results have it. */
export function described({
  name,
  parent,
  isCurrent,
  state,
  entries,
  way,
  createdAtMs,
  agentId,
}: BranchFacts): JsonObject {
  return {
    name,
    ...(parent !== undefined && { parent }),
    current: isCurrent,
    state,
    entries,
    made_by: way,
    created_at: new Date(createdAtMs).toISOString(),
    agent: agentId,
  };
}

/** A described branch in one line. */
export function branchText({
  name,
  parent,
  current,
  state,
  entries,
  created_at: createdAt,
  agent,
}: JsonObject): string {
  const from = parent === undefined ? "the workspace" : `\`${String(parent)}\``;
  const here = current === true ? ", you work on it" : "";
  return `\`${String(name)}\` (from ${from}, ${String(state)}, ${String(entries)} entries, made ${String(createdAt)} by ${nameText(agent)}${here})`;
}
