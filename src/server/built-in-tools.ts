/** The tools that every kernel has; the code of any other is foreign to it. */
import type { Tool } from "../model/tool.ts";
import { artifactTools } from "../tools/artifact/artifact-tools.ts";
import { editTools } from "../tools/edit/edit-tools.ts";
import { fileTools } from "../tools/file/file-tools.ts";
import { searchTools } from "../tools/search/search-tools.ts";
import { shell } from "../tools/shell/shell.ts";
import { toolchainTools } from "../tools/toolchain/toolchain-tools.ts";

/** The tools that every kernel has. */
export const BUILT_IN_TOOLS: readonly Tool[] = [...fileTools, ...editTools, ...searchTools, ...artifactTools, shell, ...toolchainTools];
