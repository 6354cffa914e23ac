/** Lists the tools that say how a workspace is built: its tasks, parts, tests and names. */
import type { Tool } from "../../model/tool/tool.ts";
import { diagnostics } from "./diagnostics.ts";
import { findUsage } from "./find-usage.ts";
import { getRelatedTests } from "./get-related-tests.ts";
import { getSystemMap } from "./get-system-map.ts";
import { getTaskContext } from "./get-task-context.ts";
import { renameSymbol } from "./rename-symbol.ts";

/** The tools that say how a workspace is built. */
export const structureTools: readonly Tool[] = [
  diagnostics,
  findUsage,
  getRelatedTests,
  getSystemMap,
  getTaskContext,
  renameSymbol,
];
