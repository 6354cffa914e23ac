/** `handrail artifacts`: documents of evidence as files, and the calls that a provider's output proposes. */
import type { Command } from "commander";
import { usageError } from "../../base/errors.ts";
import type { OpenKernel } from "../../server/compose.ts";
import { stateDirectoryOf } from "../start/freeze-options.ts";
import { AS_OPERATOR, operatorOf, type ServingFlags, withKernel, withServingOptions } from "../start/kernel-options.ts";
import { type SessionFlags, wishOf, withSessionOptions } from "../start/session-options.ts";
import { onStop } from "../start/stop-signals.ts";
import { WaitNotice } from "../start/wait-notice.ts";
import { EXIT_DENIED, EXIT_FAILURE, EXIT_OK, EXIT_TOOL_ERROR } from "../terminal/exit-codes.ts";
import { currentUser, readTextFile, timeOf } from "../terminal/inputs.ts";
import { print, printJson, say, visible } from "../terminal/output.ts";

interface ExportFlags {
  readonly state?: string;
  readonly session?: string;
  readonly since?: string;
  readonly schema: string;
  readonly tools?: boolean;
  readonly config?: string;
  readonly json?: boolean;
}

interface RunFlags extends ServingFlags, SessionFlags {
  readonly hash?: string;
  readonly unverified?: boolean;
  readonly agent: string;
  readonly asOperator?: boolean;
  readonly session?: string;
  readonly json?: boolean;
}

const HELP = `
Exit codes: 0 success, 1 damaged documents, 2 a call was denied, 3 a tool failed, 64 wrong usage.

Examples:
  handrail artifacts export evidence --since 7d
  handrail artifacts export evidence --schema serverd
  handrail artifacts verify evidence
  handrail artifacts run artifacts/outputs/HASH.json --workspace .`;

/** Documents between two words about how far an export is. */
const PROGRESS_STEP = 1000;

/** Adds `handrail artifacts`. */
export function addArtifactsCommand(program: Command): void {
  const artifacts = program
    .command("artifacts")
    .description("calls, inputs, outputs and approvals as documents: export and verify them; run a provider's output")
    .addHelpText("after", HELP);
  artifacts
    .command("export <directory>")
    .description("write the documents that the ledger names into a new directory")
    .option("--session <id>", "those of one session")
    .option("--since <time>", "those recorded since then: a duration such as 2h, or a date")
    .option("--schema <naming>", "whose identifiers they bear: handrail or serverd", "handrail")
    .option("--tools", "the operator's tool specs and tool policy as well, as they are now")
    .option("--state <directory>", "state directory (default: $XDG_STATE_HOME/handrail)")
    .option("--config <directory>", "operator directory (default: $HANDRAIL_CONFIG_HOME or $XDG_CONFIG_HOME/handrail)")
    .option("--json", "print JSON")
    .action((directory: string, flags: ExportFlags) => exportTo(directory, flags));
  artifacts
    .command("verify <directory>")
    .description("hash exported documents again and look up what they name; exit 1 on damage")
    .option("--json", "print JSON")
    .action(async (directory: string, flags: { readonly json?: boolean }) => {
      process.exitCode = await verify(directory, flags.json === true);
    });
  const run = artifacts
    .command("run <file>")
    .description("make the tool calls of a provider's output (OpenAI, Anthropic, serverd), each through the kernel")
    .option("--hash <hash>", "hash of the file, where its name does not say it")
    .option("--unverified", "take a file of which nobody knows the hash")
    .option("--json", "print a line of JSON for each call");
  const command = withSessionOptions(run, { role: "role to act in (default: dev)" })
    .option("--agent <name>", "agent name for the evidence", "cli")
    .option(...AS_OPERATOR)
    .option(
      "--session <token>",
      "act under an existing session instead of a new one; @FILE reads the token from a file",
    );
  withServingOptions(command).action(async (file: string, flags: RunFlags) => {
    process.exitCode = await runOutput(file, flags);
  });
}

async function exportTo(directory: string, flags: ExportFlags): Promise<void> {
  const { schema: naming } = flags;
  if (naming !== "handrail" && naming !== "serverd")
    throw usageError(`--schema is \`${visible(naming)}\`; write handrail or serverd`);
  const { exportArtifacts } = await import("../../server/artifacts/export-artifacts.ts");
  const { operatorPath } = await import("../../server/operator/operator-directory.ts");
  const abort = new AbortController();
  onStop(() => abort.abort(usageError("the export was interrupted, and nothing was left of it")));
  const report = await exportArtifacts({
    stateDirectory: stateDirectoryOf(flags),
    directory,
    naming,
    ...(flags.session !== undefined && { sessionId: flags.session }),
    ...(flags.tools === true && { toolsOf: flags.config ?? operatorPath(process.env) }),
    ...(flags.since !== undefined && { sinceMs: timeOf(flags.since) }),
    signal: abort.signal,
    ...progress(flags.json === true, "exported"),
  });
  if (flags.json) return printJson(report);
  const { documents, bytes, digest } = report;
  const total = Object.values(documents).reduce((sum, count) => sum + count, 0);
  print(`exported ${total} documents (${bytes} bytes) to ${visible(report.directory)}; digest ${digest}`);
}

async function verify(directory: string, asJson: boolean): Promise<number> {
  const { verifyArtifacts } = await import("../../server/artifacts/verify-artifacts.ts");
  const report = await verifyArtifacts(directory, progress(asJson, "verified").onProgress);
  const problems = report.problems.length + report.problemsOmitted;
  const damage = report.ok ? undefined : `the documents are damaged: ${problems} problems`;
  if (asJson) printJson(report, damage === undefined ? undefined : { code: "CHECK_FAILED", message: damage });
  else {
    for (const { path, problem } of report.problems) print(`${visible(path)}: ${problem}`);
    if (report.problemsOmitted > 0) print(`and ${report.problemsOmitted} more`);
    print(damage ?? `the documents are intact: ${report.documents}; digest ${report.digest}`);
  }
  return report.ok ? EXIT_OK : EXIT_FAILURE;
}

function progress(isQuiet: boolean, verb: string): { readonly onProgress?: (documents: number) => void } {
  if (isQuiet || !process.stderr.isTTY) return {};
  return {
    onProgress: (documents) => {
      if (documents % PROGRESS_STEP === 0) say(`${verb} ${documents} documents`);
    },
  };
}

async function runOutput(file: string, flags: RunFlags): Promise<number> {
  if (flags.hash !== undefined && flags.unverified)
    throw usageError("--hash and --unverified exclude each other; leave one out");
  const { readOutputFile } = await import("../../server/artifacts/output-file.ts");
  const output = await readOutputFile(file, flags.unverified ? "unverified" : flags.hash);
  const token = flags.session?.startsWith("@") ? (await readTextFile(flags.session.slice(1))).trim() : flags.session;
  return withKernel(flags, async (kernel) => {
    const own = token === undefined ? await mint(kernel, flags) : undefined;
    const abort = new AbortController();
    const waiting = new WaitNotice(flags);
    onStop(() => abort.abort());
    const outputs = await kernel.providerOutputs();
    let exit: number = EXIT_OK;
    const run = {
      token: own?.token ?? token ?? "",
      sessionId: own?.session.id ?? "",
      actor: `${currentUser()}/${flags.agent}`,
      signal: abort.signal,
      onAsked: waiting.begin,
    };
    for await (const { at, id, tool, response } of outputs.run(output, run)) {
      waiting.end();
      const { kind } = response.outcome;
      if (kind !== "success" && exit === EXIT_OK) exit = kind === "denied" ? EXIT_DENIED : EXIT_TOOL_ERROR;
      await show({ at, id, tool }, response, flags.json === true);
    }
    waiting.end();
    if (own) await kernel.administration.endSession(own.session);
    if (output.calls.length === 0 && !flags.json) print("the provider's output proposes no tool call");
    return abort.signal.aborted && exit === EXIT_OK ? EXIT_TOOL_ERROR : exit;
  });
}

async function show(
  { at, id, tool }: { readonly at: string; readonly id: string | undefined; readonly tool: string },
  response: Parameters<typeof import("../../server/doors/library.ts").toToolResult>[0],
  asJson: boolean,
): Promise<void> {
  const { toToolResult } = await import("../../server/doors/library.ts");
  const result = toToolResult(response);
  if (asJson) {
    const { requestId: request_id } = response;
    const line = { at, ...(id !== undefined && { id }), tool, request_id, result };
    return printJson(line, result.status === "error" ? result.error : undefined);
  }
  print(`${visible(at)}: ${visible(tool)}`);
  const { printResult } = await import("../terminal/readable.ts");
  await printResult(tool, result);
}

function mint(kernel: OpenKernel, flags: RunFlags) {
  return operatorOf(flags, kernel).then((operator) =>
    kernel.administration.createSession({
      ...operator,
      ...wishOf(flags),
      userId: currentUser(),
      agentId: flags.agent,
      isOneCall: true,
    }),
  );
}
