/** `drop_branch`: removes a branch, with everything that was changed on it. */
import type { infer as Infer } from "zod";
import type { Tool } from "../../model/tool/tool.ts";
import { IN_KERNEL } from "../kit/capabilities.ts";
import { BRANCH, branchArgument, branchText, described } from "./branch-argument.ts";

const parameters = branchArgument("Name of the branch.");

/** The tool `drop_branch`. */
export const dropBranch: Tool<Infer<typeof parameters>> = {
  name: "drop_branch",
  title: "Drop a branch",
  description:
    "Removes the branch that you work on, with everything that was changed on it, for good. You go on where it was made from.",
  parameters,
  outputSchema: BRANCH,
  capability: { ...IN_KERNEL, effect: "control", risk: "medium" },
  analyse: () => [],
  async execute({ name }, { branches }) {
    return { kind: "data", data: described(await branches.drop(name)) };
  },
  toText: (data) => `dropped the branch ${branchText(data)}`,
};
