/** `handrail branches`: a person lists, makes, compares, merges and drops the branches of a workspace. */
import type { Command } from "commander";
import { usageError } from "../../base/errors.ts";
import type { JsonObject } from "../../base/json.ts";
import type { ShownBranch } from "../../server/branches/branch-desk.ts";
import type { OpenKernel } from "../../server/compose.ts";
import { type KernelFlags, withKernel, withKernelOptions } from "../start/kernel-options.ts";
import { EXIT_DENIED, EXIT_OK } from "../terminal/exit-codes.ts";
import { confirms, currentUser } from "../terminal/inputs.ts";
import { print, printJson, say, table, visible } from "../terminal/output.ts";
import { agreesToMerge, showDifference } from "./branch-difference.ts";

interface BranchFlags extends KernelFlags {
  readonly workspace: string;
  readonly all?: boolean;
  readonly stat?: boolean;
  readonly path?: string;
  readonly yes?: boolean;
  readonly withChildren?: boolean;
  readonly json?: boolean;
}

/** Adds `handrail branches`. */
export function addBranchesCommand(program: Command): void {
  const branches = program
    .command("branches")
    .description("copies of a workspace on which agents work until somebody merges or drops them");
  const added = (name: string, description: string) =>
    withKernelOptions(
      branches
        .command(name)
        .description(description)
        .option("--workspace <directory>", "workspace root", ".")
        .option("--json", "print JSON"),
    );
  added("list", "list the branches of a workspace, oldest first")
    .option("--all", "those of every workspace")
    .action((flags: BranchFlags) => withKernel(flags, (kernel) => list(kernel, flags)));
  added("create <name>", "make a branch of the workspace as it is now").action((name: string, flags: BranchFlags) =>
    withKernel(flags, (kernel) => create(kernel, name, flags)),
  );
  added("diff <name>", "show what was changed on a branch since it was made")
    .option("--stat", "name the files alone")
    .option("--path <file>", "show the whole difference of one file")
    .action((name: string, flags: BranchFlags) => withKernel(flags, (kernel) => diff(kernel, name, flags)));
  added("merge <name>", "bring what was changed on a branch back, all of it or nothing")
    .option("--yes", "do not show the difference and ask")
    .addHelpText("after", "\nExit codes: 0 merged, 1 configuration or state, 2 nothing was merged, 64 wrong usage.")
    .action(async (name: string, flags: BranchFlags) => {
      process.exitCode = await withKernel(flags, (kernel) => merge(kernel, name, flags));
    });
  added("drop <name>", "remove a branch with everything that was changed on it")
    .option("--with-children", "and all branches that were made from it, innermost first")
    .option("--yes", "do not ask")
    .action(async (name: string, flags: BranchFlags) => {
      process.exitCode = await withKernel(flags, (kernel) => drop(kernel, name, flags));
    });
}

async function list({ branches }: OpenKernel, { all, json, workspace }: BranchFlags): Promise<void> {
  const found = await branches.list(all ? undefined : await rootOf(workspace));
  if (json) return printJson(found.map(publicBranch));
  if (found.length === 0) return print("there is no branch; an agent makes one with `create_branch`");
  const rows = found.map((branch) => [
    visible(branch.name),
    branch.state,
    String(branch.sessions),
    new Date(branch.createdAtMs).toISOString(),
    visible(`${branch.userId}/${branch.agentId}`),
    visible(branch.parent ?? (all ? branch.serviceRoot : "the workspace")),
  ]);
  print(table([["BRANCH", "STATE", "SESSIONS", "MADE", "BY", "FROM"], ...rows]));
  for (const { name, isLeftByRun } of found)
    if (isLeftByRun === true)
      say(
        `${visible(name)} is left of a \`handrail run\` that was killed: look at its \`diff\`, then merge or drop it`,
      );
}

async function create({ branches }: OpenKernel, name: string, { workspace, json }: BranchFlags): Promise<void> {
  const serviceRoot = await rootOf(workspace);
  const wanted = { name, serviceRoot, projectRoot: serviceRoot, userId: currentUser(), agentId: "cli" };
  const branch = await branches.create(wanted);
  if (json) return printJson(publicBranch({ ...branch, sessions: 0 }));
  const how = branch.way === "clone" ? "shared with the workspace until they change" : "copied";
  print(`branch ${visible(branch.name)}: ${branch.entries} files and directories, ${how}`);
}

async function diff(
  { branches }: OpenKernel,
  name: string,
  { workspace, json, stat, path }: BranchFlags,
): Promise<void> {
  const branch = await branches.named(await rootOf(workspace), name);
  const difference = await branches.difference(branch, path);
  const { shown: _whole, ...told } = difference;
  if (json) return printJson(told);
  showDifference(difference, { name, isShort: stat === true });
  if (path !== undefined && difference.namedOnly > 0)
    print(`it cannot be shown as text; it lies in ${visible(branches.pathOf(branch, path))}`);
}

async function merge(kernel: OpenKernel, name: string, { workspace, json, yes }: BranchFlags): Promise<number> {
  const { branches } = kernel;
  const branch = await branches.named(await rootOf(workspace), name);
  if (yes === true) return await mergeNow(kernel, branch, { json });
  const difference = await branches.difference(branch);
  showDifference(difference, { name });
  requireTerminal();
  if (!(await agreesToMerge(difference, `merge \`${visible(name)}\`?`))) return EXIT_DENIED;
  return await mergeNow(kernel, branch, { json, shown: difference.shown });
}

/** Merges a branch and says what came of it. @returns the exit code */
export async function mergeNow(
  { branches }: OpenKernel,
  branch: Awaited<ReturnType<OpenKernel["branches"]["named"]>>,
  { json, shown }: { readonly json?: boolean | undefined; readonly shown?: string },
): Promise<number> {
  const merged = await branches.merge(branch, currentUser(), { shown, onWait: sayWaiting });
  const isMerged = merged.kind !== "conflict" && merged.landed.notKept.length === 0;
  const problem = { code: "NOT_MERGED", message: "nothing was merged" };
  if (json) printJson(merged, isMerged ? undefined : problem);
  if (merged.kind === "conflict") {
    if (!json) {
      print("nothing was merged: these are in conflict");
      for (const { path, why } of merged.conflicts) print(`  ${visible(path)}  (${why.replaceAll("_", " ")})`);
    }
    return EXIT_DENIED;
  }
  const { created, changed, removed, notKept } = merged.landed;
  if (notKept.length > 0) {
    if (!json) {
      print("nothing was merged, because not all of it may be");
      for (const { path, reason } of notKept) print(`  ${visible(path)}  (${reason.replaceAll("_", " ")})`);
    }
    return EXIT_DENIED;
  }
  if (!json)
    print(
      `merged: ${created} made, ${changed} changed, ${removed} removed${merged.isLeft ? `; the branch stays, because ${whyLeft(merged.nested)}` : ""}`,
    );
  return EXIT_OK;
}

function whyLeft(nested: readonly string[]): string {
  if (nested.length === 0) return "somebody wrote on it meanwhile, or works on it yet";
  return `commits of ${nested.map(visible).join(", ")} were not brought back: take them over, then drop it`;
}

async function drop({ branches }: OpenKernel, name: string, flags: BranchFlags): Promise<number> {
  const { workspace, json, yes, withChildren } = flags;
  const branch = await branches.named(await rootOf(workspace), name);
  const dropped = withChildren === true ? await branches.withChildren(branch) : [{ ...branch, sessions: 0 }];
  if (withChildren === true && json !== true) showFamily(dropped);
  const what = dropped.length === 1 ? `\`${visible(name)}\`` : `these ${dropped.length} branches`;
  if (yes !== true && !(await isConfirmed(`drop ${what} with everything that was changed on ${them(dropped)}?`)))
    return EXIT_DENIED;
  for (const one of dropped) {
    await branches.drop(one, currentUser(), { onWait: sayWaiting });
    if (json !== true) print(`the branch ${visible(one.name)} is gone`);
  }
  if (json) printJson(dropped.map(publicBranch));
  return EXIT_OK;
}

function sayWaiting(): void {
  say("the branch is busy; waiting for some seconds until it is free");
}

/** Names what goes, in the order in which it does. */
function showFamily(dropped: readonly ShownBranch[]): void {
  for (const { name, parent, userId, agentId, sessions } of dropped) {
    const on = sessions === 0 ? "" : `, ${sessions} ${sessions === 1 ? "session works" : "sessions work"} on it`;
    print(
      `  ${visible(name)}  (from ${visible(parent ?? "the workspace")}, by ${visible(`${userId}/${agentId}`)}${on})`,
    );
  }
}

function them(dropped: readonly unknown[]): string {
  return dropped.length === 1 ? "it" : "them";
}

/** Asks at a terminal. */
async function isConfirmed(question: string): Promise<boolean> {
  requireTerminal();
  return await confirms(`${question} [y/N] `);
}

/** Elsewhere nobody can be asked. */
function requireTerminal(): void {
  if (process.stdin.isTTY && process.stdout.isTTY) return;
  throw usageError("there is no terminal to ask at; look at `handrail branches diff`, then say --yes");
}

/** The real path of a workspace. */
export async function rootOf(workspace: string): Promise<string> {
  const { workspaceDirectory } = await import("../../server/workspace/workspace-catalog.ts");
  return workspaceDirectory(workspace);
}

function publicBranch({
  id,
  name,
  serviceRoot,
  parent,
  state,
  userId,
  agentId,
  way,
  entries,
  createdAtMs,
  sessions,
  isLeftByRun,
}: ShownBranch): JsonObject {
  return {
    id,
    name,
    workspace: serviceRoot,
    ...(parent !== undefined && { parent }),
    state,
    user: userId,
    agent: agentId,
    made_by: way,
    entries,
    created_at: new Date(createdAtMs).toISOString(),
    sessions,
    ...(isLeftByRun === true && { left_by_killed_run: true }),
  };
}
