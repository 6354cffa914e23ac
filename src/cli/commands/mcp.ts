/** `handrail mcp`: an MCP server on standard input and output that needs no daemon and no earlier command. */
import type { Command } from "commander";
import { openFromFlags, type ServingFlags, withServingOptions } from "../start/kernel-options.ts";
import { onStop } from "../start/stop-signals.ts";
import { currentUser } from "../terminal/inputs.ts";

interface McpFlags extends ServingFlags {
  readonly workspace: string;
  readonly project?: string;
  readonly role?: string;
  readonly preset?: string;
  readonly mode?: string;
  readonly skill?: string;
  readonly agent: string;
}

/** Adds `handrail mcp`. */
export function addMcpCommand(program: Command): void {
  const command = program
    .command("mcp")
    .description("serve one MCP client on standard input and output")
    .option("--workspace <directory>", "workspace root", ".")
    .option("--project <directory>", "project root that holds the workspace (default: the workspace)")
    .option("--role <role>", "role of the session; roles other than dev are granted by the operator")
    .option("--preset <name>", "reader, dev, autonomous, meao, brio or open")
    .option("--mode <name>", "mode that narrows the session (`handrail modes list`)")
    .option("--skill <name>", "skill that narrows it further (`handrail skills list`)")
    .option("--agent <name>", "agent name for the evidence", "mcp");
  withServingOptions(command)
    .addHelpText(
      "after",
      "\nExit codes: 0 once the client is gone, or at SIGINT, SIGTERM or SIGHUP; 1 usage or configuration.",
    )
    .action(serve);
}

async function serve(flags: McpFlags): Promise<void> {
  const kernel = await openFromFlags(flags);
  try {
    // The protocol's library is loaded while the ledger's thread starts; if that fails, it shows where it is awaited.
    const serving = import("../../server/doors/serve-mcp.ts");
    serving.catch(() => undefined);
    const minted = await kernel.administration.createSession({
      workspace: flags.workspace,
      ...(flags.project !== undefined && { projectRoot: flags.project }),
      ...(flags.role !== undefined && { role: flags.role }),
      ...(flags.preset !== undefined && { preset: flags.preset }),
      ...(flags.mode !== undefined && { mode: flags.mode }),
      ...(flags.skill !== undefined && { skill: flags.skill }),
      userId: currentUser(),
      agentId: flags.agent,
    });
    const { serveMcpOnStandardStreams } = await serving;
    const served = serveMcpOnStandardStreams(kernel, minted);
    onStop(() => process.stdin.destroy());
    await served;
    await kernel.administration.endSession(minted.session);
  } finally {
    await kernel.close();
  }
}
