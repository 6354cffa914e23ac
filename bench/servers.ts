/** How Handrail and the reference server are started, each as its users start it. */
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ServerCommand } from "./mcp-client.ts";
import type { Playground } from "./playground.ts";
import { referenceServerArguments } from "./reference-server.ts";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
/** The command as users run it. */
export const LAUNCHER = join(ROOT, "handrail");

/** Arguments of Node for Handrail's command line. */
export const HANDRAIL: readonly string[] = ["--disable-warning=ExperimentalWarning", join(ROOT, "src/cli/main.ts")];

/** Name of the peer of the MCP figures. */
export const REFERENCE = "reference server (server-filesystem 2026.8.31)";

/** `handrail mcp` on a workspace, by its launcher. */
export function handrailMcp(playground: Playground, workspace: string, state: string): ServerCommand {
  return {
    program: LAUNCHER,
    args: ["mcp", "--workspace", workspace, "--state", playground.directory(state)],
    environment: playground.environment,
    readTool: "read_file",
    pathOf: (file) => file,
  };
}

/**
 * The reference server on the same workspace; it has no launcher, so that Node's compile cache is off as its users have
 * it.
 */
export function referenceMcp(playground: Playground, workspace: string, compileCache = false): ServerCommand {
  const { NODE_COMPILE_CACHE, ...plain } = playground.environment;
  return {
    args: referenceServerArguments(workspace),
    environment: compileCache ? { ...plain, NODE_COMPILE_CACHE } : plain,
    readTool: "read_text_file",
    pathOf: (file) => `${workspace}/${file}`,
  };
}
