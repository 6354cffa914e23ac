/**
 * `shell`: a command line for bash, in the sandbox.
 *
 * Its analysis names every program of the line, every file of a redirection and every host; what of it is not clear is
 * named as a program that may be anything, so that a rule for known programs does not cover it. INVARIANT: the text
 * that is analysed is the text that runs, and the shell that runs it is the one whose grammar it was read with.
 */
import { assert } from "../../base/errors.ts";
import type { Access } from "../../model/place/access.ts";
import { commandOf } from "../../model/place/command.ts";
import { WORKSPACE_ALIAS } from "../../model/place/workspace.ts";
import type { Tool, ToolOutput } from "../../model/tool/tool.ts";
import type { ExecOutcome, ExecOutput } from "../../model/work/exec.ts";
import { EXEC_DATA_PROPERTIES, execData } from "../../model/work/exec-data.ts";
import { RUNS } from "../kit/capabilities.ts";
import { commandTexts } from "../kit/command-text.ts";
import { requireWithinBounds } from "../kit/ended-run.ts";
import { ENDED_BY, integer, text } from "../kit/result-schema.ts";
import { shownStreams, shownText } from "../kit/shown-output.ts";
import { hintFor } from "./hints.ts";
import { type NamedHost, namedHosts } from "./named-hosts.ts";
import type { ParsedCommand } from "./reading/parse-command.ts";
import { environmentOf, parameters, type ShellArguments } from "./shell-arguments.ts";

const MORE_TIME =
  "give it more time with `timeout_ms` (at most 3600000), or have it do less at once; nothing of it runs any more";

const STREAM = {
  type: "object",
  properties: { bytes: integer(), omitted_bytes: integer() },
} as const;

/** The tool `shell`. */
export const shell: Tool<ShellArguments> = {
  name: "shell",
  title: "Run a shell command",
  description:
    "Runs a command line with bash in a sandbox that sees the workspace and read-only system programs, without a network unless it is " +
    "granted. Prefer the tools for files, tests, linting, dependencies and git: they need less permission. Redirections must stay in " +
    "the workspace. Beginning and end of long output are returned, the rest is counted.",
  parameters,
  outputSchema: {
    type: "object",
    properties: {
      exit_code: integer("Absent when the command was ended from outside."),
      signal: text(),
      ended_by: ENDED_BY,
      hint: text("What to do instead, where the command failed because of what a sandbox is."),
      stdout: text(),
      stderr: text(),
      stdout_size: STREAM,
      stderr_size: STREAM,
      duration_ms: integer(),
      processor_ms: integer(),
      memory_bytes_max: integer(),
      ...EXEC_DATA_PROPERTIES,
    },
    required: ["stdout", "stderr", "duration_ms"],
  },
  capability: RUNS,
  prepare: loadParser,
  analyse: (args) => accessesOf(args, parsed(args)),
  async execute(args, context): Promise<ToolOutput> {
    const workDir = args.cwd === undefined ? undefined : insideWorkspace(args.cwd, context.serviceRoot);
    const outcome = await context.exec.run({
      command: { shell: args.command },
      environment: environmentOf(args),
      timeoutMs: args.timeout_ms ?? 0,
      ...(workDir !== undefined && { workDir }),
      ...(args.network_access === true && {
        hosts: hostsOf(args, parsed(args)).map(({ host, port }) => `${host}:${port}`),
      }),
    });
    requireWithinBounds(outcome, MORE_TIME);
    return resultOf(outcome, () => parsed(args).commands);
  },
  toText: (data) => commandTexts(data, typeof data["hint"] === "string" ? [`hint: ${data["hint"]}`] : []),
};

let parser: typeof import("./reading/parse-command.ts") | undefined;

/** The grammar takes some ten milliseconds to load, which a kernel that runs no command need not spend. */
async function loadParser(): Promise<void> {
  parser ??= await import("./reading/parse-command.ts");
}

function parsed({ command, cwd }: ShellArguments): ParsedCommand {
  assert(parser !== undefined, "a tool is prepared before it is analysed");
  return parser.parseCommand(command, cwd ?? ".");
}

function accessesOf(args: ShellArguments, { commands, files, hosts }: ParsedCommand): readonly Access[] {
  const runs = commands.length === 0 ? [commandOf(["true"])] : commands; // assignments and redirections alone
  const asked: readonly Access[] =
    args.network_access === true ? networkAccesses(hostsOf(args, { commands, files, hosts })) : [];
  return [
    ...runs.map((resource): Access => ({ resource, effect: "exec", shellText: args.command })),
    ...(args.cwd === undefined ? [] : [{ resource: { kind: "file", path: args.cwd }, effect: "read" } as const]),
    ...files.map(({ path, effect }): Access => ({ resource: { kind: "file", path }, effect })),
    ...(args.network_access === true ? asked : hosts.map(hostAccess)),
  ];
}

function hostsOf(args: ShellArguments, { commands, hosts }: ParsedCommand): readonly NamedHost[] {
  const all = args.network_access === true ? [...hosts, ...namedHosts(commands)] : hosts;
  return [...new Map(all.map((named) => [`${named.host}:${named.port}`, named])).values()];
}

/** A call that asks for the network without naming a host still asks for it. */
function networkAccesses(hosts: readonly NamedHost[]): readonly Access[] {
  return hosts.length === 0
    ? [{ resource: { kind: "tool", name: "shell" }, effect: "network" }]
    : hosts.map(hostAccess);
}

function hostAccess({ host, port }: NamedHost): Access {
  return { resource: { kind: "host", host, port }, effect: "network" };
}

/** The directory as it is named from the root, where it was given with the root before it. */
function insideWorkspace(path: string, root: string): string {
  for (const base of [root, WORKSPACE_ALIAS])
    if (path === base || path.startsWith(`${base}/`)) return path.slice(base.length + 1) || ".";
  return path;
}

function resultOf(outcome: ExecOutcome, commandsOf: () => ParsedCommand["commands"]): ToolOutput {
  const { exitCode, signal, endedBy, usage } = outcome;
  const { stdout, stderr } = shownStreams(outcome);
  const hint = exitCode === 0 ? undefined : hintFor(stderr.tail === "" ? stderr.head : stderr.tail, commandsOf);
  return {
    kind: "data",
    data: {
      ...(exitCode !== undefined && endedBy === undefined && { exit_code: exitCode }),
      ...(signal !== undefined && { signal }),
      ...(endedBy !== undefined && { ended_by: endedBy }),
      ...(hint !== undefined && { hint }),
      stdout: shownText(stdout),
      stderr: shownText(stderr),
      ...sized("stdout_size", stdout),
      ...sized("stderr_size", stderr),
      duration_ms: Math.round(outcome.durationMs),
      ...execData(outcome),
      ...(usage && { processor_ms: Math.round(usage.processorMs), memory_bytes_max: usage.memoryBytesMax }),
    },
    ...(stdout.omittedBytes + stderr.omittedBytes > 0 && { truncated: true }),
  };
}

function sized(name: string, { totalBytes, omittedBytes }: ExecOutput) {
  return omittedBytes === 0 ? {} : { [name]: { bytes: totalBytes, omitted_bytes: omittedBytes } };
}
