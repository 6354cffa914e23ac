/** The tools that every kernel has; the code of any other is foreign to it. */
import type { Tool } from "../model/tool.ts";
import { editTools } from "../tools/edit/edit-tools.ts";
import { fileTools } from "../tools/file/file-tools.ts";

/** The tools that every kernel has. */
export const BUILT_IN_TOOLS: readonly Tool[] = [...fileTools, ...editTools];
