/** `handrail upstream`: other people's MCP servers, whose tools agents call through the kernel. */
import { type Command, Option } from "commander";
import { KernelError, usageError } from "../../base/errors.ts";
import { ToolFailure } from "../../model/outcome/failure.ts";
import type {
  CheckedUpstream,
  ShownUpstream,
  UpstreamDesk,
  UpstreamWish,
} from "../../server/upstream/upstream-desk.ts";
import { visibleLines } from "../../text/foreign-text.ts";
import { type KernelFlags, withKernel, withKernelOptions } from "../start/kernel-options.ts";
import { EXIT_FAILURE } from "../terminal/exit-codes.ts";
import { currentUser } from "../terminal/inputs.ts";
import { print, printJson, table, visible } from "../terminal/output.ts";

interface JsonFlag extends KernelFlags {
  readonly json?: boolean;
}

interface AddFlags extends JsonFlag {
  readonly directory?: string;
  readonly env?: string[];
  readonly effect: UpstreamWish["effect"];
  readonly trust: UpstreamWish["trust"];
}

const HELP = `
A server runs in the sandbox: it has nothing of the kernel's environment, no network, and no directory of the machine
but the one that --directory names, which it may read. Its tools are called mcp.NAME.TOOL, ask before each call, and are
offered once a person has seen and approved them, from the next start of the kernel on.

Exit codes: 0 success, 1 the server cannot be used, 64 wrong usage.
Examples:
  handrail upstream add notes --directory /opt/notes -- node /workspace/server.js
  handrail upstream show notes
  handrail upstream approve notes --seen HASH
  handrail upstream check`;

/** Adds `handrail upstream`. */
export function addUpstreamCommand(program: Command): void {
  const upstream = program
    .command("upstream")
    .description("other people's MCP servers, whose tools agents call through the kernel")
    .addHelpText("after", HELP);
  const add = upstream
    .command("add <name> <command...>")
    .description("keep how a server is started, and show what it offers")
    .option("--directory <directory>", "directory that it may read; else it has an empty one of its own to write")
    .option("--env <NAME=VALUE...>", "variables of its environment, written before `--`")
    .addOption(
      new Option("--effect <effect>", "effect class of its tools, as policy knows it")
        .choices(["read", "write", "exec", "network"])
        .default("exec"),
    )
    .addOption(
      new Option("--trust <trust>", "how far its answers are trusted")
        .choices(["untrusted", "user"])
        .default("untrusted"),
    );
  withOptions(add).action((name: string, command: string[], flags: AddFlags) =>
    withDesk(flags, async (desk) => {
      const { directory, env = [], effect, trust } = flags;
      const place = directory === undefined ? {} : { directory };
      printShown(
        await desk.add(name, { command, environment: environmentOf(env), effect, trust, by: currentUser(), ...place }),
        flags,
      );
    }),
  );
  withOptions(upstream.command("list").description("show the servers; starts none")).action((flags: JsonFlag) =>
    withDesk(flags, (desk) => {
      const all = desk.list();
      if (flags.json) return printJson({ servers: all.map((one) => ({ ...one, command: [...one.command] })) });
      const rows = all.map(({ name, approvedTools, command }) => [
        name,
        String(approvedTools),
        visible(command.join(" ")),
      ]);
      print(
        rows.length === 0 ? "there are no upstream servers" : table([["NAME", "APPROVED TOOLS", "COMMAND"], ...rows]),
      );
    }),
  );
  withOptions(
    upstream.command("show <name>").description("start a server and compare what it offers with what was approved"),
  ).action((name: string, flags: JsonFlag) =>
    withDesk(flags, async (desk) => printShown(await desk.show(name), flags)),
  );
  addCheck(upstream);
  withOptions(
    upstream
      .command("approve <name>")
      .description("offer the tools of a server as they were seen")
      .requiredOption("--seen <hash>", "the hash that `show` printed: what is approved is what was seen"),
  ).action((name: string, flags: JsonFlag & { readonly seen: string }) =>
    withDesk(flags, async (desk) =>
      printShown(await desk.approve(name, { seen: flags.seen, by: currentUser() }), flags),
    ),
  );
  withOptions(upstream.command("remove <name>").description("take a server and its tools away")).action(
    (name: string, flags: JsonFlag) =>
      withDesk(flags, async (desk) => {
        await desk.remove(name, currentUser());
        if (flags.json) printJson({ removed: name });
        else print(`${name} is removed; a kernel that runs offers its tools until it ends`);
      }),
  );
}

function addCheck(upstream: Command): void {
  withOptions(
    upstream
      .command("check [name]")
      .description("start each server, or one, and see whether it offers what was approved"),
  ).action((name: string | undefined, flags: JsonFlag) =>
    withDesk(flags, async (desk) => {
      const checked = await desk.check(name);
      if (checked.some(isWrong)) process.exitCode = EXIT_FAILURE;
      if (flags.json) return printJson({ servers: checked.map((one) => ({ ...one, differs: [...one.differs] })) });
      for (const { name: server, problem, differs } of checked)
        print(`${server}: ${visible(problem ?? (differs.length === 0 ? "as approved" : differsBy(server, differs)))}`);
      if (checked.length === 0) print("there are no upstream servers");
    }),
  );
}

function isWrong({ problem, differs }: CheckedUpstream): boolean {
  return problem !== undefined || differs.length > 0;
}

function differsBy(server: string, differs: readonly string[]): string {
  return `${differs.join(", ")}: not as approved; see \`handrail upstream show ${server}\``;
}

function withOptions(command: Command): Command {
  return withKernelOptions(command).option("--json", "print JSON");
}

function environmentOf(pairs: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf("=");
      if (at < 1) throw usageError(`\`${visible(pair)}\` is no NAME=VALUE`);
      return [pair.slice(0, at), pair.slice(at + 1)];
    }),
  );
}

function withDesk(flags: JsonFlag, work: (desk: UpstreamDesk) => Promise<void> | void): Promise<void> {
  return withKernel(flags, async (kernel) => {
    try {
      await work(await kernel.upstream());
    } catch (error) {
      if (error instanceof ToolFailure)
        throw new KernelError("CONFIG_INVALID", `${error.message}; ${error.suggestion}`);
      throw error;
    }
  });
}

function printShown({ name, command, directory, hash, tools }: ShownUpstream, flags: JsonFlag): void {
  const isApproved = tools.every(({ state, unusable }) => state === "approved" || unusable !== undefined);
  if (flags.json) {
    const place = directory === undefined ? {} : { directory };
    const shown = tools.map((tool) => ({ ...tool, suspicions: [...tool.suspicions] }));
    printJson({ name, command: [...command], ...place, hash, approved: isApproved, tools: shown });
    return;
  }
  print(`${name}: ${visible(command.join(" "))}`);
  for (const { name: tool, state, suspicions, diff, unusable } of tools) {
    print(`\n${visible(tool)}: ${state}${unusable === undefined ? "" : `, not offered: ${visible(unusable)}`}`);
    for (const suspicion of suspicions) print(`  LOOK AT THIS: it ${visible(suspicion)}`);
    if (diff !== undefined) print(visibleLines(diff).join("\n"));
  }
  print(
    isApproved
      ? "\neverything that it offers is approved"
      : `\nto offer its tools as they are now: handrail upstream approve ${name} --seen ${hash}`,
  );
}
