/** The tools that run a project's own toolchain. */
import type { Tool } from "../../model/tool/tool.ts";
import { runLint, runTest } from "./check-tools.ts";
import { installDependencies } from "./install-dependencies.ts";

/** Tests, linter, dependencies. */
export const toolchainTools: readonly Tool[] = [runTest, runLint, installDependencies] as readonly Tool[];
