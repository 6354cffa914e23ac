/** `create_branch`: makes a branch of what the session works on, and lets the session work on it. */
import type { infer as Infer } from "zod";
import type { Tool } from "../../model/tool/tool.ts";
import { IN_KERNEL } from "../kit/capabilities.ts";
import { BRANCH, branchArgument, branchText, described } from "./branch-argument.ts";

const parameters = branchArgument("Name of the new branch, such as `try/other-parser`.");

/** The tool `create_branch`. */
export const createBranch: Tool<Infer<typeof parameters>> = {
  name: "create_branch",
  title: "Create a branch",
  description:
    "Makes a branch: a copy of the workspace, or of the branch that you work on, that stays until it is merged or dropped. From your next call " +
    "on you see and change the branch alone: files, searches, commands and git. Secret files are not in it. " +
    "`merge_branch` brings your changes back, `drop_branch` throws them away. It is no branch of git.",
  parameters,
  outputSchema: BRANCH,
  capability: { ...IN_KERNEL, effect: "control", risk: "low" },
  analyse: () => [],
  async execute({ name }, { branches }) {
    return { kind: "data", data: described(await branches.create(name)) };
  },
  toText: (data) => `made the branch ${branchText(data)}`,
};
