/** `handrail calls`: makes the calls that stand in a model's text, in Brio's XML. */
import type { Command } from "commander";
import { MIB, textOf } from "../../base/bytes.ts";
import { usageError } from "../../base/errors.ts";
import type { OpenKernel } from "../../server/compose.ts";
import type { MadeCall } from "../../server/doors/text-calls.ts";
import { AS_OPERATOR, operatorOf, type ServingFlags, withKernel, withServingOptions } from "../start/kernel-options.ts";
import { type SessionFlags, wishOf, withSessionOptions } from "../start/session-options.ts";
import { onStop } from "../start/stop-signals.ts";
import { EXIT_DENIED, EXIT_OK, EXIT_TOOL_ERROR, EXIT_USAGE } from "../terminal/exit-codes.ts";
import { currentUser, readStandardInput, readTextFile } from "../terminal/inputs.ts";
import { printJson, say, visible } from "../terminal/output.ts";

/** Bytes of a text on standard input. */
const TEXT_BYTES_MAX = 64 * MIB;

interface CallsFlags extends ServingFlags, SessionFlags {
  readonly json?: boolean;
  readonly agent: string;
  readonly asOperator?: boolean;
  readonly keepGoing?: boolean;
}

const HELP = `
Calls are tags: <read_file path="a.txt" />, <shell>ls</shell>, <write_file path="a">…</write_file>; everything else is
text. A text with a malformed tag calls nothing. Each call is judged as any other.

Exit codes: 0 all calls succeeded, 1 configuration or state, 2 one was denied, 3 one failed, 64 the text is malformed.

Examples:
  handrail calls answer.txt
  model | handrail calls - --keep-going --json`;

/** Adds `handrail calls`. */
export function addCallsCommand(program: Command): void {
  const made = program
    .command("calls <file>")
    .description("make the calls that stand in a model's text (Brio's XML), in order; - is standard input");
  const command = withSessionOptions(made, { role: "role to act in (default: dev)" })
    .option("--agent <name>", "agent name for the evidence", "cli")
    .option("--keep-going", "go on after a call that was refused or failed")
    .option("--json", "print JSON")
    .option(...AS_OPERATOR);
  withServingOptions(command)
    .addHelpText("after", HELP)
    .action(async (file: string, flags: CallsFlags) => {
      const text = file === "-" ? await textOfInput() : await readTextFile(file);
      process.exitCode = await withKernel(flags, (kernel) => run(kernel, text, flags), { awaitSequences: true });
    });
}

async function textOfInput(): Promise<string> {
  const text = textOf(await readStandardInput(TEXT_BYTES_MAX));
  if (text === undefined) throw usageError("standard input is not UTF-8; send it as UTF-8 text");
  return text;
}

async function run(kernel: OpenKernel, text: string, flags: CallsFlags): Promise<number> {
  const { makeTextCalls } = await import("../../server/doors/text-calls.ts");
  const { session, token } = await kernel.administration.createSession({
    ...(await operatorOf(flags, kernel)),
    ...wishOf({ dialect: "brio", ...flags }),
    userId: currentUser(),
    agentId: flags.agent,
  });
  const abort = new AbortController();
  onStop(() => abort.abort());
  const { made, problems, left } = await makeTextCalls(kernel.door, text, {
    sessionToken: token,
    signal: abort.signal,
    stopOnError: flags.keepGoing !== true,
    ...(flags.json !== true && { onCall: show }),
  });
  await kernel.administration.endSession(session);
  if (flags.json) {
    const { toToolResult } = await import("../../server/doors/library.ts");
    const calls = made.map(({ call: { name, line, column }, response }) => ({
      tool: name,
      line,
      column,
      result: toToolResult(response),
    }));
    printJson({ calls, problems: problems.map(({ kind: _, ...rest }) => rest), left }, problemOf(made, problems));
  } else {
    for (const { line, column, message } of problems) say(visible(`handrail: ${line}:${column}: ${message}`));
    if (left > 0 && problems.length === 0) say(`handrail: ${left} more calls were not made`);
  }
  return problems.length > 0 ? EXIT_USAGE : exitOf(made);
}

async function show({ call, response }: MadeCall): Promise<void> {
  const { toToolResult } = await import("../../server/doors/library.ts");
  const { printResult } = await import("../terminal/readable.ts");
  await printResult(call.name, toToolResult(response));
}

/** What went wrong, in one line. */
function problemOf(made: readonly MadeCall[], problems: readonly { readonly message: string }[]) {
  const [first] = problems;
  if (first !== undefined) return { code: "TEXT_MALFORMED", message: first.message };
  const failed = made.filter(({ response }) => response.outcome.kind !== "success").length;
  return failed === 0
    ? undefined
    : { code: "CALL_FAILED", message: `${failed} of ${made.length} calls did not succeed` };
}

function exitOf(made: readonly MadeCall[]): number {
  const kinds = new Set(made.map(({ response }) => response.outcome.kind));
  if (kinds.has("denied")) return EXIT_DENIED;
  return kinds.has("error") ? EXIT_TOOL_ERROR : EXIT_OK;
}
