/** `handrail mcp`: an MCP server on standard input and output that needs no daemon and no earlier command. */

import type { Command } from "commander";
import { openFromFlags, type ServingFlags, withServingOptions } from "../start/kernel-options.ts";
import { type MetricsFlags, serveMetricsIfAsked, withMetricsOptions } from "../start/metrics-options.ts";
import { type SessionFlags, wishOf, withSessionOptions } from "../start/session-options.ts";
import { onStop } from "../start/stop-signals.ts";
import { currentUser } from "../terminal/inputs.ts";

interface McpFlags extends ServingFlags, SessionFlags, MetricsFlags {
  readonly agent?: string;
}

/** The agent's name until its client has said its own, and of a client that says none. */
const UNNAMED = "mcp";

/** Adds `handrail mcp`. */
export function addMcpCommand(program: Command): void {
  const made = program.command("mcp").description("serve one MCP client on standard input and output");
  const role = "role of the session; roles other than dev are granted by the operator";
  const command = withSessionOptions(made, { role }).option(
    "--agent <name>",
    "agent name (default: the one that the client gives itself)",
  );
  withServingOptions(withMetricsOptions(command))
    .addHelpText(
      "after",
      "\nExit codes: 0 once the client is gone, or at SIGINT, SIGTERM or SIGHUP; 1 configuration or\nstate; 64 wrong usage.",
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
      ...wishOf(flags),
      userId: currentUser(),
      ...(flags.agent === undefined ? { agentId: UNNAMED, process: process.pid } : { agentId: flags.agent }),
    });
    const { serveMcpOnStandardStreams } = await serving;
    const metrics = await serveMetricsIfAsked(kernel, flags);
    const served = serveMcpOnStandardStreams(kernel, minted, { isNamedByClient: flags.agent === undefined });
    onStop(() => process.stdin.destroy());
    await served.finally(() => metrics?.close());
    await kernel.administration.endSession(minted.session);
  } finally {
    await kernel.close();
  }
}
