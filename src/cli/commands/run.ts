/**
 * `handrail run --staged`: runs a command of a person's on a branch.
 *
 * What it changed is shown, and merged if the person agrees. The command runs as an agent's would, in the sandbox,
 * through the kernel and its policy. Nothing of it reaches the workspace before the person has agreed.
 */
import type { Command } from "commander";
import { usageError } from "../../base/errors.ts";
import { newId, systemRandom } from "../../base/ids.ts";
import { RUN_BRANCH } from "../../model/place/branch.ts";
import { quoted } from "../../model/place/command.ts";
import type { Outcome } from "../../model/tool/call.ts";
import type { OpenKernel } from "../../server/compose.ts";
import { openFromFlags, type ServingFlags, withServingOptions } from "../start/kernel-options.ts";
import { onStop } from "../start/stop-signals.ts";
import { EXIT_DENIED, EXIT_OK, EXIT_TOOL_ERROR, exitOfSignal } from "../terminal/exit-codes.ts";
import { currentUser, parseDuration } from "../terminal/inputs.ts";
import { print, say, visible } from "../terminal/output.ts";
import { agreesToMerge, showDifference } from "./branch-difference.ts";
import { mergeNow, rootOf } from "./branches.ts";

interface RunFlags extends ServingFlags {
  readonly workspace: string;
  readonly staged?: boolean;
  readonly preset?: string;
  readonly branch?: string;
  readonly keep?: boolean;
  readonly yes?: boolean;
  readonly timeout: string;
}

/** Adds `handrail run`. */
export function addRunCommand(program: Command): void {
  const command = program
    .command("run <command...>")
    .description("run a command on a branch of the workspace, show what it changed, and merge that if you agree")
    .option("--staged", "work on a branch (the only way there is)")
    .option("--workspace <directory>", "workspace root", ".")
    .option("--preset <name>", "preset of the session that runs it")
    .option("--branch <name>", "work on this branch, made where there is none, and keep it")
    .option("--keep", "keep the branch instead of asking")
    .option("--yes", "merge without asking, if the command ends with 0")
    .option("--timeout <duration>", "after which the command is ended", "10m");
  withServingOptions(command)
    .addHelpText(
      "after",
      "\nExit codes: 0 merged, kept, or nothing was changed; 1 configuration or state; 64 wrong usage;\n2 denied, refused or in conflict; 3 the command failed;\n128 and its number after a signal that interrupted it before anything was merged.\nExample: handrail run --staged -- npm run format",
    )
    .action(async (words: readonly string[], flags: RunFlags) => {
      process.exitCode = await runStaged(words, flags);
    });
}

/** The first signal that asked the command to end, and whom to tell of it. */
interface Stop {
  readonly signal: AbortSignal;
  readonly by: () => NodeJS.Signals | undefined;
}

function stopOf(): Stop {
  const abort = new AbortController();
  let first: NodeJS.Signals | undefined;
  onStop((signal) => {
    first ??= signal;
    abort.abort(); // what runs is ended, put in order and recorded
  });
  return { signal: abort.signal, by: () => first };
}

async function runStaged(words: readonly string[], flags: RunFlags): Promise<number> {
  if (flags.staged !== true) throw usageError("say --staged: the command runs on a branch of the workspace");
  if (flags.keep === true && flags.yes === true) throw usageError("`--keep` and `--yes` do not go together");
  const timeoutMs = parseDuration(flags.timeout);
  const stop = stopOf();
  const kernel = await openFromFlags(flags);
  try {
    const serviceRoot = await rootOf(flags.workspace);
    const name = flags.branch ?? `${RUN_BRANCH}${newId("bra", systemRandom).slice(4, 14).replaceAll("-", "_")}`;
    const outcome = await unlessStopped(stop, () => runOn(kernel, name, { words, flags, timeoutMs, stop }));
    if (outcome === undefined) return interrupted(stop);
    const branch = await kernel.branches.named(serviceRoot, name);
    const difference = await kernel.branches.difference(branch);
    const isEmpty = difference.files.length === 0 && !difference.changesRepository;
    if (isEmpty && flags.branch === undefined) {
      await kernel.branches.drop(branch, currentUser());
      if (stop.signal.aborted) return interrupted(stop);
      say("nothing was changed");
      return outcome;
    }
    showDifference(difference, { name });
    if (stop.signal.aborted) return told(name, interrupted(stop));
    // what a command has left that failed or took too long is half done: nobody agreed to that beforehand
    if (outcome !== EXIT_OK) return told(name, outcome);
    if ((flags.branch !== undefined || flags.keep === true) && flags.yes !== true) return told(name, EXIT_OK);
    const question = () => agreesToMerge(difference, "merge this into the workspace?", stop.signal);
    const isAgreed = flags.yes === true || (process.stdin.isTTY && (await unlessStopped(stop, question)));
    if (stop.signal.aborted) return told(name, interrupted(stop));
    if (isAgreed === true) return await mergeNow(kernel, branch, { shown: difference.shown });
    return told(name, EXIT_DENIED);
  } finally {
    await kernel.close();
  }
}

/** What comes of it; `undefined` where a signal ended it. */
async function unlessStopped<Result>({ signal }: Stop, work: () => Promise<Result>): Promise<Result | undefined> {
  if (signal.aborted) return undefined;
  try {
    return await work();
  } catch (error) {
    if (!signal.aborted) throw error;
    return undefined;
  }
}

function interrupted({ by }: Stop): number {
  const signal = by() ?? "SIGTERM";
  say(`interrupted by ${signal}: nothing was changed in the workspace`);
  return exitOfSignal(signal);
}

function told(name: string, code: number): number {
  say(`the branch ${visible(name)} stays: \`handrail branches diff|merge|drop ${visible(name)}\``);
  return code;
}

/** Runs the command in a session of its own on the branch, and prints what it printed. @returns the exit code */
async function runOn(
  kernel: OpenKernel,
  branch: string,
  {
    words,
    flags,
    timeoutMs,
    stop: { signal },
  }: {
    readonly words: readonly string[];
    readonly flags: RunFlags;
    readonly timeoutMs: number;
    readonly stop: Stop;
  },
): Promise<number> {
  const { workspace, preset } = flags;
  const wish = {
    workspace,
    branch,
    userId: currentUser(),
    agentId: "cli",
    signal,
    ...(preset !== undefined && { preset }),
  };
  const { session, token } = await kernel.administration.createSession(wish);
  try {
    const { outcome } = await kernel.door.execute(
      {
        kind: "call",
        requestId: newId("req", systemRandom),
        sessionToken: token,
        tool: "shell",
        arguments: { command: words.map(quoted).join(" "), timeout_ms: timeoutMs },
      },
      signal,
    );
    return signal.aborted && outcome.kind !== "success" ? EXIT_TOOL_ERROR : show(outcome);
  } finally {
    await kernel.administration.endSession(session);
  }
}

function show(outcome: Outcome): number {
  if (outcome.kind === "denied") {
    say(`handrail: ${visible(outcome.denial.message)}`);
    return EXIT_DENIED;
  }
  if (outcome.kind === "error") {
    say(`handrail: ${visible(outcome.message)}; ${visible(outcome.suggestion)}`);
    return EXIT_TOOL_ERROR;
  }
  const { exit_code: code, stdout, stderr } = outcome.data;
  for (const text of [stdout, stderr])
    if (typeof text === "string" && text !== "") print(text.replace(/\n$/, "").split("\n").map(visible).join("\n"));
  if (code === 0) return EXIT_OK;
  say(`the command ended with ${String(code ?? "no exit code")}`);
  return EXIT_TOOL_ERROR;
}
