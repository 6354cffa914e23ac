/** `handrail upstream`: other people's MCP servers, whose tools agents call through the kernel. */
import { basename } from "node:path";
import { type Command, Option } from "commander";
import { KernelError, usageError } from "../../base/errors.ts";
import { ToolFailure } from "../../model/outcome/failure.ts";
import type {
  AddedUpstream,
  CheckedUpstream,
  Given,
  ShownUpstream,
  UpstreamDesk,
  UpstreamWish,
} from "../../server/upstream/upstream-desk.ts";
import { visibleLines } from "../../text/foreign-text.ts";
import { type KernelFlags, withKernel, withKernelOptions } from "../start/kernel-options.ts";
import { EXIT_FAILURE } from "../terminal/exit-codes.ts";
import { currentUser } from "../terminal/inputs.ts";
import { print, printJson, say, table, visible } from "../terminal/output.ts";

interface JsonFlag extends KernelFlags {
  readonly json?: boolean;
}

interface AddFlags extends JsonFlag {
  readonly directory?: string;
  readonly read?: string[];
  readonly write?: string[];
  readonly env?: string[];
  readonly secret?: string[];
  readonly allowHost?: string[];
  readonly npm?: string;
  readonly bin?: string;
  readonly url?: string;
  readonly privateHost?: string;
  readonly bearer?: string;
  readonly grant?: NonNullable<UpstreamWish["grants"]>;
  readonly effect: UpstreamWish["effect"];
  readonly trust: UpstreamWish["trust"];
}

const HELP = `
A server that is started here runs in the sandbox: it has nothing of the kernel's environment, no network but the hosts
that --allow-host names, and no directory of the machine but those that --directory, --read and --write name, in which
secret files are hidden. A server that is reached by --url gets requests of the kernel's own, and nothing else of this
machine. Tools are called mcp.NAME.TOOL, ask before each call, and are offered once a person has seen and approved them.

Secrets are named, never written: those that \`handrail secrets\` keeps. Options stand before \`--\`, each once for each
value.

Exit codes: 0 success, 1 the server cannot be used, 64 wrong usage.
Examples:
  handrail upstream add memory --npm @modelcontextprotocol/server-memory
  handrail upstream add notes --read /opt/notes -- node /mnt/notes/server.js
  handrail upstream add tracker --secret TRACKER_TOKEN=TRACKER --allow-host api.example.com --npm @example/tracker
  handrail upstream add docs --url https://docs.example.com/mcp --bearer DOCS_TOKEN
  handrail upstream show notes
  handrail upstream approve notes --seen HASH
  handrail upstream check`;

/** Adds `handrail upstream`. */
export function addUpstreamCommand(program: Command): void {
  const upstream = program
    .command("upstream")
    .description("other people's MCP servers, whose tools agents call through the kernel")
    .addHelpText("after", HELP);
  addAdd(upstream);
  withOptions(upstream.command("list").description("show the servers; starts none")).action((flags: JsonFlag) =>
    withDesk(flags, (desk) => {
      const all = desk.list();
      if (flags.json) return printJson({ servers: all });
      const rows = all.map((server) => [server.name, String(server.approvedTools), wayTo(server)]);
      print(
        rows.length === 0
          ? "there are no upstream servers"
          : table([["NAME", "APPROVED TOOLS", "COMMAND OR ADDRESS"], ...rows]),
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
        else print(`${name} is removed; a kernel that runs takes its tools away within seconds`);
      }),
  );
}

function addAdd(upstream: Command): void {
  const add = upstream
    .command("add <name> [command...]")
    .description("keep how a server is started or where it is reached, and show what it offers")
    .option("--npm <package[@version]>", "npm package that holds the server; what stands behind `--` are its arguments")
    .option("--bin <program>", "program of the package of --npm; needed where it has several")
    .option("--url <address>", "address of a server over Streamable HTTP, in place of a command")
    .option("--private-host <host:port>", "the server of --url lies in your own network, or on this machine")
    .option("--bearer <SECRET>", "secret that is sent as bearer token, to that server alone")
    .option("--directory <directory>", "directory that it may read; else it has an empty one of its own to write")
    .option("--read <directory>", "one more directory that it may read, as /mnt/NAME", all)
    .option("--write <directory>", "one more directory that it may write, as /mnt/NAME", all)
    .option("--env <NAME=VALUE...>", "variables of its environment, written before `--`")
    .option("--secret <NAME=SECRET>", "variable of its environment that holds a secret, by its name", all)
    .option("--allow-host <host[:port]>", "server of the internet that it may reach; port 443 where none is named", all)
    .addOption(
      new Option("--effect <effect>", "effect class of its tools, as policy knows it")
        .choices(["read", "write", "exec", "network"])
        .default("exec"),
    )
    .addOption(
      new Option("--grant <request...>", "what it may ask of its client, written before `--`").choices([
        "roots",
        "elicitation",
      ]),
    )
    .addOption(
      new Option("--trust <trust>", "how far its answers are trusted")
        .choices(["untrusted", "user"])
        .default("untrusted"),
    );
  withOptions(add).action((name: string, command: string[], flags: AddFlags) =>
    withDesk(flags, async (desk) => {
      const wish = { ...wishOf(command, flags), ...packageOf(flags), by: currentUser() };
      printShown(await desk.add(name, wish), flags);
    }),
  );
}

function packageOf({ npm, bin }: AddFlags): Pick<AddedUpstream, "npm"> {
  if (npm === undefined) {
    if (bin !== undefined) throw usageError("`--bin` names a program of the package of `--npm`");
    return {};
  }
  say(`installing ${visible(npm)}`);
  return { npm: { spec: npm, environment: process.env, ...(bin !== undefined && { program: bin }) } };
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

/** One option's values, in their order. */
function all(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

function wishOf(command: readonly string[], flags: AddFlags): UpstreamWish {
  const { directory, read, write, env = [], secret, allowHost, url, privateHost, bearer, effect, trust, grant } = flags;
  return {
    ...{ command: [...command], environment: pairsOf(env), effect, trust },
    ...(directory !== undefined && { directory }),
    ...(read && { read }),
    ...(write && { write }),
    ...(secret && { secrets: pairsOf(secret) }),
    ...(allowHost && { hosts: allowHost }),
    ...(url !== undefined && { url }),
    ...(privateHost !== undefined && { private_host: privateHost }),
    ...(bearer !== undefined && { bearer }),
    ...(grant && { grants: grant }),
  };
}

function wayTo({ command, url }: Given): string {
  return visible(url ?? command.join(" "));
}

/** What it is given beside a command or an address, as lines. */
function givenLines({
  package: installed,
  directory,
  read = [],
  write = [],
  secrets = {},
  hosts = [],
  ...rest
}: Given): readonly string[] {
  const { private_host, bearer, grants = [] } = rest;
  const lines = [
    ...(installed === undefined ? [] : [`is ${installed.name} ${installed.version}, ${installed.integrity}`]),
    ...(directory === undefined ? [] : [`reads ${directory} as /workspace`]),
    ...read.map((path) => `reads ${path} as /mnt/${basename(path)}`),
    ...write.map((path) => `writes ${path} as /mnt/${basename(path)}`),
    ...Object.entries(secrets).map(([variable, name]) => `has the secret ${name} in ${variable}`),
    ...hosts.map((host) => `reaches ${host}`),
    ...(private_host === undefined ? [] : [`lies at ${private_host}, outside of the public internet`]),
    ...(bearer === undefined ? [] : [`gets the secret ${bearer} as bearer token`]),
    ...grants.map((grant) => `may ask its client for ${grant}`),
  ];
  return lines.map((line) => `  ${visible(line)}`);
}

function pairsOf(pairs: readonly string[]): Record<string, string> {
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

function printShown({ name, hash, tools, ...given }: ShownUpstream, flags: JsonFlag): void {
  const isApproved = tools.every(({ state, unusable }) => state === "approved" || unusable !== undefined);
  if (flags.json) {
    printJson({ name, ...given, hash, approved: isApproved, tools });
    return;
  }
  print([`${name}: ${wayTo(given)}`, ...givenLines(given)].join("\n"));
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
