/**
 * Makes one governed tool call from the command line (`handrail call`).
 *
 * It prints what came of the call, for people or as the ToolResult JSON, and its exit code says it, too.
 */

import type { Command } from "commander";
import { textOf } from "../../base/bytes.ts";
import { usageError } from "../../base/errors.ts";
import { newId, systemRandom } from "../../base/ids.ts";
import type { JsonObject } from "../../base/json.ts";
import { LINE_BYTES_MAX } from "../../base/limits.ts";
import type { CallResponse } from "../../model/tool/call.ts";
import type { OpenKernel } from "../../server/compose.ts";
import { AS_OPERATOR, operatorOf, type ServingFlags, withKernel, withServingOptions } from "../start/kernel-options.ts";
import { requireSpokenTool } from "../start/named-tool.ts";
import { type SessionFlags, wishOf, withSessionOptions } from "../start/session-options.ts";
import { onStop } from "../start/stop-signals.ts";
import { WaitNotice } from "../start/wait-notice.ts";
import { EXIT_DENIED, EXIT_OK, EXIT_TOOL_ERROR, EXIT_USAGE } from "../terminal/exit-codes.ts";
import { explainedAt } from "../terminal/explained-refusal.ts";
import { currentUser, parseJsonObject, readStandardInput, readTextFile } from "../terminal/inputs.ts";
import { printShaped, say } from "../terminal/output.ts";

/** Flags of commands that make one call. */
export interface CallFlags extends ServingFlags, SessionFlags {
  readonly json?: string | true;
  readonly agent: string;
  readonly asOperator?: boolean;
  readonly session?: string;
  readonly dedupeKey?: string;
}

const HELP = `
Arguments are words. What the value becomes (text, number, true or false, a member of a list) says the tool's schema,
which \`handrail tools TOOL\` shows:
  key=value      as the schema has it; for a list once for each member
  key=@file      the text of a file; @- is standard input
  key:=json      any JSON; key:=@file takes it from a file

Exit codes: 0 success, 1 configuration or state, 2 denied, 3 tool error, also of a call that SIGINT, SIGTERM or SIGHUP
ended, 64 wrong usage.

Examples:
  handrail call read_file path=README.md
  handrail call search_file path=src regex=createServer recursive=true
  handrail call write_file path=notes.txt content=@draft.txt
  handrail call edit_file path=a.txt edits:='[{"operation":"replace","spec":"old","content":"new"}]'
  handrail call list_files --json '{"path":"."}'         the arguments as JSON, and the result, too
  handrail call shell command='npm test' --session @token.txt`;

/** Adds `handrail call`. */
export function addCallCommand(program: Command): void {
  const made = program
    .command("call <tool> [arguments...]")
    .description("make one tool call through the kernel and print its result")
    .option(
      "--json [arguments]",
      "print the ToolResult as JSON; a JSON object, or - for standard input, is the arguments",
    );
  const command = withSessionOptions(made, { role: "role to act in (default: dev)" })
    .option("--agent <name>", "agent name for the evidence", "cli")
    .option(...AS_OPERATOR)
    .option(
      "--session <token>",
      "act under an existing session instead of a new one; @FILE reads the token from a file",
    )
    .option("--dedupe-key <key>", "execute the call at most once under this key; use it with --session");
  withServingOptions(command)
    .addHelpText("after", HELP)
    .action(async (tool: string, words: readonly string[], flags: CallFlags) => {
      process.exitCode = await call(tool, words, flags);
    });
}

async function call(tool: string, words: readonly string[], flags: CallFlags): Promise<number> {
  return makeCall(tool, await givenArguments(words, flags), flags);
}

/**
 * Opens a kernel, makes the call, prints its result.
 * @param given the arguments, once the kernel is open
 * @returns the exit code
 */
export async function makeCall(
  tool: string,
  given: (kernel: OpenKernel, tool: string) => Promise<JsonObject>,
  flags: CallFlags,
): Promise<number> {
  const token = await tokenOf(flags.session);
  const work = async (kernel: OpenKernel): Promise<number> => {
    const args = await given(kernel, tool);
    const own = token === undefined ? await mint(kernel, flags) : undefined;
    const abort = new AbortController();
    const waiting = new WaitNotice(flags);
    onStop(() => abort.abort()); // what runs is ended, put in order and recorded
    const response = await kernel.door.execute(
      {
        kind: "call",
        requestId: newId("req", systemRandom),
        sessionToken: own?.token ?? token ?? "",
        tool,
        arguments: args,
        ...(flags.dedupeKey !== undefined && { dedupeKey: flags.dedupeKey }),
      },
      abort.signal,
      { onAsked: waiting.begin },
    );
    waiting.end();
    await show(tool, response, flags.json !== undefined);
    if (own) await kernel.administration.endSession(own.session);
    // A command that was ended has a result, too; whoever asked for the call did not get what was asked for.
    return abort.signal.aborted && response.outcome.kind === "success" ? EXIT_TOOL_ERROR : exitOf(response);
  };
  return withKernel(flags, work, { awaitSequences: true });
}

function exitOf({ outcome }: CallResponse): number {
  if (outcome.kind !== "denied") return outcome.kind === "success" ? EXIT_OK : EXIT_TOOL_ERROR;
  return outcome.denial.reason === "tool_input_invalid" ? EXIT_USAGE : EXIT_DENIED;
}

async function show(tool: string, response: CallResponse, asJson: boolean): Promise<void> {
  const { toToolResult } = await import("../../server/doors/library.ts");
  const result = toToolResult(response);
  if (asJson) return printShaped(result);
  const { printResult } = await import("../terminal/readable.ts");
  await printResult(tool, result);
  // For people: whoever reads standard error by a program has the code already.
  if (result.status === "error" && process.stderr.isTTY) say(explainedAt(result.error.code));
}

/** The arguments that the words and `--json` give, once the tool can be looked up. Mistakes in JSON show first. */
async function givenArguments(
  words: readonly string[],
  { json, dialect }: Pick<CallFlags, "json" | "dialect">,
): Promise<(kernel: OpenKernel, tool: string) => Promise<JsonObject>> {
  const { callArguments, isArgumentWord } = await import("../start/call-arguments.ts");
  const isWord = typeof json === "string" && isArgumentWord(json); // `--json key=value` asks for JSON, and gives a word
  const all = isWord ? [json, ...words] : words;
  const base = isWord || typeof json !== "string" ? {} : parseJsonObject(await jsonText(json), "--json");
  if (all.length === 0) return async () => base;
  return async (kernel, name) => {
    const tool = await requireSpokenTool(kernel, name, dialect);
    return callArguments(all, { tool, base, readFile: readTextFile });
  };
}

async function jsonText(json: string): Promise<string> {
  if (json !== "-") return json;
  const text = textOf(await readStandardInput(LINE_BYTES_MAX));
  if (text === undefined) throw usageError("--json cannot be used: standard input is not UTF-8; send it as UTF-8 text");
  return text;
}

/** A token on the command line is seen by every user of the machine; a file's is not. */
async function tokenOf(session: string | undefined): Promise<string | undefined> {
  return session?.startsWith("@") ? (await readTextFile(session.slice(1))).trim() : session;
}

async function mint(kernel: OpenKernel, flags: CallFlags) {
  return kernel.administration.createSession({
    ...(await operatorOf(flags, kernel)),
    ...wishOf(flags),
    userId: currentUser(),
    agentId: flags.agent,
    isOneCall: true,
  });
}
