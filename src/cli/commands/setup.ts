/** `handrail setup` and `handrail unsetup`: an MCP client's own files start Handrail in place of the client's tools. */
import { homedir } from "node:os";
import { resolve } from "node:path";
import type { Command } from "commander";
import { usageError } from "../../base/errors.ts";
import { inSlices } from "../../base/long-steps.ts";
import { operatorPath } from "../../server/operator/operator-directory.ts";
import { realPath } from "../../server/operator/real-path.ts";
import { LAUNCH } from "../start/own-name.ts";
import { print, printJson, visible } from "../terminal/output.ts";

interface SetupFlags {
  readonly workspace?: string;
  readonly dryRun?: boolean;
  readonly state?: string;
  readonly config?: string;
  readonly connect?: string;
  readonly session?: string;
  readonly json?: boolean;
}

type Direction = "setup" | "unsetup";

/** Adds `handrail setup`. */
export function addSetupCommand(program: Command): void {
  withOptions(program.command("setup [client]"))
    .description("make an MCP client start Handrail, and switch its own tools off; without a client, list them")
    .option("--state <directory>", "state directory that the client's server is to use")
    .option("--config <directory>", "operator directory that the client's server is to use")
    .option("--connect <address>", "join the kernel that serves at http://HOST:PORT or unix:PATH, under its user")
    .option("--session <@file>", "with --connect: the file that holds the session's token")
    .addHelpText(
      "after",
      `
Clients: claude-code, codex, gemini, cursor, vscode, zed. What a file held before is kept in the operator's directory.

Examples:
  handrail setup claude-code --dry-run
  handrail setup claude-code
  handrail doctor`,
    )
    .action((client: string | undefined, flags: SetupFlags) =>
      client === undefined ? list(flags) : run("setup", client, flags),
    );
}

/** Adds `handrail unsetup`. */
export function addUnsetupCommand(program: Command): void {
  withOptions(program.command("unsetup <client>"))
    .description("take back what `handrail setup` changed in a client's files")
    .option("--config <directory>", "operator directory")
    .action((client: string, flags: SetupFlags) => run("unsetup", client, flags));
}

function withOptions(command: Command): Command {
  return command
    .option("--workspace <directory>", "project of the client (default: this directory)")
    .option("--dry-run", "show what would change")
    .option("--json", "print JSON");
}

async function run(direction: Direction, name: string, flags: SetupFlags): Promise<void> {
  const { clientNamed, setUpClient, unsetClient } = await import("../../server/clients/setup.ts");
  const client = clientNamed(name);
  const options = (["state", "config"] as const).flatMap((flag) => {
    const path = flags[flag];
    return path === undefined ? [] : [`--${flag}`, resolve(path)];
  });
  const joining = joiningOf(flags);
  const place = {
    joining,
    workspace: realPath(resolve(flags.workspace ?? ".")),
    home: process.env["HOME"] || homedir(),
    environment: process.env,
    launch: LAUNCH as [string, ...string[]],
    options,
  };
  const isDry = flags.dryRun === true;
  const directory = flags.config === undefined ? operatorPath(process.env) : resolve(flags.config);
  const wish = { operatorPath: directory, client, place, isDry, nowMs: Date.now() };
  const changes = direction === "setup" ? await setUpClient(wish) : await unsetClient(wish);
  const changed = changes.filter(({ before, after }) => before !== after);
  const { wayRound, next } = client;
  if (flags.json)
    return printJson({
      client: name,
      workspace: place.workspace,
      dry_run: isDry,
      files: changes.map(({ path, before, after, kept, backup }) => ({
        path,
        change: changeOf(before, after),
        kept,
        ...(backup !== undefined && { backup }),
      })),
      ...(direction === "setup" && { next, ...(wayRound !== undefined && { way_round: wayRound }) }),
    });
  for (const change of changes) await printChange(change, isDry);
  if (changed.length === 0) print("nothing is left to change");
  if (isDry) return print("\nnothing was written");
  if (direction === "unsetup") return;
  if (wayRound !== undefined) print(`\na way round is left: ${wayRound}`);
  print(`\nnext: ${next}`);
}

/** Arguments of a client that joins a kernel of another user. The token itself has no place in a client's file. */
function joiningOf({ connect, session, state, config }: SetupFlags): readonly string[] | undefined {
  if (connect === undefined) {
    if (session !== undefined) throw usageError("--session goes with --connect ADDRESS");
    return undefined;
  }
  if (session?.startsWith("@") !== true)
    throw usageError("--connect wants --session @FILE, a file of the client's user that holds the session's token");
  if ((state ?? config) !== undefined) throw usageError("--state and --config are those of the kernel that is joined");
  return ["--connect", connect, "--session", `@${resolve(session.slice(1))}`];
}

/** What becomes of a file, in one word. */
function changeOf(before: string | undefined, after: string | undefined): "none" | "made" | "changed" | "removed" {
  if (before === after) return "none";
  if (before === undefined) return "made";
  return after === undefined ? "removed" : "changed";
}

interface Shown {
  readonly path: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
  readonly kept: readonly string[];
  readonly backup?: string;
}

async function printChange({ path, before, after, kept, backup }: Shown, isDry: boolean): Promise<void> {
  for (const what of kept) print(visible(`kept  ${path}: ${what}, which was changed meanwhile`));
  const change = changeOf(before, after);
  if (change === "none") return;
  if (!isDry) {
    const was = backup === undefined ? "" : ` (what it was: ${backup})`;
    return print(visible(`${change}  ${path}${was}`));
  }
  const { unifiedDiff } = await import("../../text/unified-diff.ts");
  const { lineChanges } = await import("../../text/line-changes.ts");
  const [original, updated] = [Buffer.from(before ?? ""), Buffer.from(after ?? "")];
  const { result: changes } = await inSlices("comparing two versions of a file", lineChanges(original, updated));
  const diff = unifiedDiff(path, { original, changes, updated });
  for (const line of diff.text.trimEnd().split("\n")) print(visible(line));
}

async function list(flags: SetupFlags): Promise<void> {
  const { CLIENTS } = await import("../../server/clients/known-clients.ts");
  const { readRecord } = await import("../../server/clients/record.ts");
  const directory = flags.config === undefined ? operatorPath(process.env) : resolve(flags.config);
  const records = await readRecord(directory);
  const clients = CLIENTS.map(({ name, title, scope }) => ({
    client: name,
    title,
    scope,
    set_up: records.filter(({ client }) => client === name).map(({ workspace }) => workspace),
  }));
  if (flags.json) return printJson({ clients });
  for (const { client, title, scope, set_up: where } of clients) {
    const state = where.length === 0 ? "not set up" : scope === "user" ? "set up" : `set up in ${where.join(", ")}`;
    print(visible(`${client.padEnd(13)}${title.padEnd(20)}${state}`));
  }
}
