/**
 * `handrail mcp`: an MCP server on standard input and output.
 *
 * It needs no daemon and no earlier command; with `--connect` it joins a kernel that serves elsewhere instead.
 */
import { stat } from "node:fs/promises";
import type { Command } from "commander";
import { usageError } from "../../base/errors.ts";
import { openFromFlags, type ServingFlags, withServingOptions } from "../start/kernel-options.ts";
import { type MetricsFlags, serveMetricsIfAsked, withMetricsOptions } from "../start/metrics-options.ts";
import { type SessionFlags, wishOf, withSessionOptions } from "../start/session-options.ts";
import { onStop } from "../start/stop-signals.ts";
import { currentUser, readTextFile } from "../terminal/inputs.ts";
import { say, visible } from "../terminal/output.ts";

interface McpFlags extends ServingFlags, SessionFlags, MetricsFlags {
  readonly agent?: string;
  readonly connect?: string;
  readonly session?: string;
}

/** Variable of the environment that holds the session's token for `--connect`. */
const SESSION_VARIABLE = "HANDRAIL_SESSION";

/** Bits of a file's mode by which its group, or anybody, reads it. */
const READABLE_BY_OTHERS = 0o044;

/** The agent's name until its client has said its own, and of a client that says none. */
const UNNAMED = "mcp";

/** Adds `handrail mcp`. */
export function addMcpCommand(program: Command): void {
  const made = program.command("mcp").description("serve one MCP client on standard input and output");
  const role = "role of the session; roles other than dev are granted by the operator";
  const command = withSessionOptions(made, { role })
    .option("--agent <name>", "agent name (default: the one that the client gives itself)")
    .option("--connect <address>", "join the kernel that serves at http://HOST:PORT or unix:PATH, under its user")
    .option(
      "--session <token>",
      `with --connect: token of the session, @FILE reads it from a file (default: ${SESSION_VARIABLE})`,
    );
  withServingOptions(withMetricsOptions(command))
    .addHelpText(
      "after",
      "\nExit codes: 0 once the client is gone, or at SIGINT, SIGTERM or SIGHUP; 1 configuration or\nstate; 64 wrong usage.",
    )
    .action(serve);
}

async function serve(flags: McpFlags, command: Command): Promise<void> {
  if (flags.connect !== undefined) return join(flags.connect, flags, command);
  if (flags.session !== undefined) throw usageError("--session goes with --connect ADDRESS");
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

/** Joins a kernel that serves elsewhere: its operator has made the session, so that nothing of it is said here. */
async function join(address: string, { session }: McpFlags, command: Command): Promise<void> {
  const other = command.options.find(
    (option) =>
      !["connect", "session"].includes(option.attributeName()) &&
      command.getOptionValueSource(option.attributeName()) === "cli",
  );
  if (other !== undefined)
    throw usageError(`${other.long} says what a session is made of; with --connect it was made by the operator`);
  const token = await sessionToken(session ?? process.env[SESSION_VARIABLE]);
  const { joinKernel } = await import("../../server/doors/relay-mcp.ts");
  onStop(() => process.stdin.destroy());
  await joinKernel({ address, token, report: (problem) => say(`handrail: ${problem}`) });
}

async function sessionToken(given: string | undefined): Promise<string> {
  const file = given?.startsWith("@") === true ? given.slice(1) : undefined;
  const token = file === undefined ? given : (await readTextFile(file)).trim();
  if (file !== undefined && ((await stat(file)).mode & READABLE_BY_OTHERS) !== 0)
    say(`handrail: other users of this machine can read \`${visible(file)}\`; run \`chmod go= ${visible(file)}\``);
  if (token !== undefined && token !== "") return token;
  throw usageError(
    `--connect wants the token of a session: --session @FILE or ${SESSION_VARIABLE}; the operator makes one with \`handrail sessions create\``,
  );
}
