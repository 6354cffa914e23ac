/** The tools that work with branches. */
import type { Tool } from "../../model/tool/tool.ts";
import { branchDiff } from "./compare-branch.ts";
import { createBranch } from "./create-branch.ts";
import { dropBranch } from "./drop-branch.ts";
import { listBranches } from "./list-branches.ts";
import { mergeBranch } from "./merge-branch.ts";

/** All of them. */
export const branchTools: readonly Tool[] = [createBranch, listBranches, branchDiff, mergeBranch, dropBranch];
