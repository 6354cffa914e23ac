/**
 * Makes one governed tool call from the command line (`handrail call`).
 *
 * It prints the ToolResult, and its exit code says what came of the call.
 */

import type { Command } from "commander";
import { textOf } from "../../base/bytes.ts";
import { usageError } from "../../base/errors.ts";
import { newId, systemRandom } from "../../base/ids.ts";
import { LINE_BYTES_MAX } from "../../base/limits.ts";
import type { OpenKernel } from "../../server/compose.ts";
import { AS_OPERATOR, operatorOf, type ServingFlags, withKernel, withServingOptions } from "../start/kernel-options.ts";
import { type SessionFlags, wishOf, withSessionOptions } from "../start/session-options.ts";
import { onStop } from "../start/stop-signals.ts";
import { EXIT_DENIED, EXIT_OK, EXIT_TOOL_ERROR } from "../terminal/exit-codes.ts";
import { currentUser, parseJsonObject, readStandardInput } from "../terminal/inputs.ts";
import { printJson } from "../terminal/output.ts";

interface CallFlags extends ServingFlags, SessionFlags {
  readonly json: string;
  readonly agent: string;
  readonly asOperator?: boolean;
  readonly session?: string;
  readonly dedupeKey?: string;
}

/** Adds `handrail call`. */
export function addCallCommand(program: Command): void {
  const made = program
    .command("call <tool>")
    .description("make one tool call through the kernel and print its result as JSON")
    .option("--json <arguments>", "arguments as a JSON object, or - for standard input", "{}");
  const command = withSessionOptions(made, { role: "role to act in (default: dev)" })
    .option("--agent <name>", "agent name for the evidence", "cli")
    .option(...AS_OPERATOR)
    .option("--session <token>", "act under an existing session instead of a new one")
    .option("--dedupe-key <key>", "execute the call at most once under this key; use it with --session");
  withServingOptions(command)
    .addHelpText(
      "after",
      '\nExit codes: 0 success, 1 usage or configuration, 2 denied, 3 tool error, also of a call that SIGINT, SIGTERM or SIGHUP\nended.\nExample: handrail call read_file --json \'{"path":"README.md"}\' --workspace .',
    )
    .action(async (tool: string, flags: CallFlags) => {
      process.exitCode = await call(tool, flags);
    });
}

async function call(tool: string, flags: CallFlags): Promise<number> {
  const text = flags.json === "-" ? textOf(await readStandardInput(LINE_BYTES_MAX)) : flags.json;
  if (text === undefined) throw usageError("--json cannot be used: standard input is not UTF-8; send it as UTF-8 text");
  const args = parseJsonObject(text, "--json");
  const work = async (kernel: OpenKernel): Promise<number> => {
    const own = flags.session === undefined ? await mint(kernel, flags) : undefined;
    const abort = new AbortController();
    onStop(() => abort.abort()); // what runs is ended, put in order and recorded
    const response = await kernel.door.execute(
      {
        kind: "call",
        requestId: newId("req", systemRandom),
        sessionToken: own?.token ?? flags.session ?? "",
        tool,
        arguments: args,
        ...(flags.dedupeKey !== undefined && { dedupeKey: flags.dedupeKey }),
      },
      abort.signal,
    );
    const { toToolResult } = await import("../../server/doors/library.ts");
    printJson(toToolResult(response));
    if (own) await kernel.administration.endSession(own.session);
    const codes = { success: EXIT_OK, denied: EXIT_DENIED, error: EXIT_TOOL_ERROR } as const;
    // A command that was ended has a result, too; whoever asked for the call did not get what was asked for.
    return abort.signal.aborted && response.outcome.kind === "success" ? EXIT_TOOL_ERROR : codes[response.outcome.kind];
  };
  return withKernel(flags, work, { awaitSequences: true });
}

async function mint(kernel: OpenKernel, flags: CallFlags) {
  return kernel.administration.createSession({
    ...(await operatorOf(flags, kernel)),
    ...wishOf(flags),
    userId: currentUser(),
    agentId: flags.agent,
  });
}
