/** `handrail history` and `handrail undo`: what calls changed in files, and bringing it back. */
import { realpathSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { type Command, InvalidArgumentError } from "commander";
import { usageError } from "../../base/errors.ts";
import { ToolFailure } from "../../model/outcome/failure.ts";
import { changeKindOf, type FileState } from "../../model/work/file-history.ts";
import type { HistoryLine, PlannedUndo, UndoReport } from "../../server/people/undo-administration.ts";
import { workspaceDirectory } from "../../server/workspace/workspace-catalog.ts";
import { type KernelFlags, withKernel, withKernelOptions } from "../start/kernel-options.ts";
import { EXIT_FAILURE } from "../terminal/exit-codes.ts";
import { currentUser } from "../terminal/inputs.ts";
import { print, printJson, say, table, visible } from "../terminal/output.ts";

interface HistoryFlags extends KernelFlags {
  readonly workspace: string;
  readonly limit: number;
  readonly json?: boolean;
}

interface UndoFlags extends KernelFlags {
  readonly workspace?: string;
  readonly session?: string;
  readonly path: readonly string[];
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

const LINES = 100;
const LINES_MAX = 10_000;

/** Adds `handrail history`. */
export function addHistoryCommand(program: Command): void {
  withKernelOptions(
    program
      .command("history <path>")
      .description("list what calls changed at a path and below it, newest first, and what can be brought back")
      .option("--workspace <directory>", "workspace that the path belongs to", ".")
      .option("--limit <count>", "changes that are listed", lineCount, LINES)
      .option("--json", "print JSON"),
  ).action(showHistory);
}

/** Adds `handrail undo`. */
export function addUndoCommand(program: Command): void {
  withKernelOptions(
    program
      .command("undo <call>")
      .description(
        "bring back all that a call changed in files, where nobody has changed it since: all of it or nothing",
      )
      .option("--workspace <directory>", "workspace, where the call changed files of several")
      .option("--session <id>", "session, where several made a call of that id")
      .option("--path <path>", "bring back only this path and all below it; can be repeated", oneMore, [])
      .option("--dry-run", "say what would be brought back")
      .option("--json", "print JSON"),
  )
    .addHelpText(
      "after",
      "\nExit codes: 0 undone, or it could be; 1 nothing was undone, for what is listed; 64 wrong usage.",
    )
    .action(undo);
}

function lineCount(text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count >= 1 && count <= LINES_MAX) return count;
  throw new InvalidArgumentError(`a whole number from 1 to ${LINES_MAX}`);
}

function oneMore(path: string, paths: readonly string[]): readonly string[] {
  return [...paths, path];
}

async function showHistory(path: string, flags: HistoryFlags): Promise<void> {
  const root = workspaceDirectory(flags.workspace);
  const inside = insideOf(root, path);
  await withKernel(flags, async (kernel) => {
    const lines = await kernel.undo.history(root, inside, flags.limit);
    if (flags.json) return printJson(lines.map(plainLine));
    if (lines.length === 0) return say(`nothing is known that changed \`${visible(path)}\``);
    print(
      table([["TIME", "CALL", "TOOL", "BY", "CHANGE", "BYTES", "PATH", "CAN BE BROUGHT BACK"], ...lines.map(rowOf)]),
    );
  });
}

/**
 * The path below the workspace that `path` names, from there or from here: of what may be gone, the directory as it
 * really lies.
 */
function insideOf(root: string, path: string): string {
  const named = resolve(root, path);
  let at = dirname(named);
  const names = [basename(named)];
  if (named === root) return ".";
  for (;;) {
    try {
      at = realpathSync(at);
      break;
    } catch {
      // it may be gone: what is above it says where it was
      names.unshift(basename(at));
      at = dirname(at);
    }
  }
  const inside = relative(root, join(at, ...names));
  if (inside === "" || inside === ".") return ".";
  if (inside.startsWith(".."))
    throw usageError(`\`${visible(path)}\` lies outside of the workspace; name its own with --workspace`);
  return inside;
}

function plainLine({ entry, change, untilMs }: HistoryLine): object {
  const { unkept } = change;
  return {
    time: new Date(entry.atMs).toISOString(),
    call: entry.callId,
    session: entry.sessionId,
    actor: entry.actor,
    role: entry.role,
    tool: entry.tool,
    workspace: entry.root,
    path: change.path,
    change: changeKindOf(change),
    is_made: change.isMade,
    ...(change.before && { before: plainState(change.before) }),
    ...(change.after && { after: plainState(change.after) }),
    can_be_undone: unkept === undefined,
    ...(unkept === undefined ? { until: new Date(untilMs).toISOString() } : { not_kept: unkept }),
  };
}

function plainState({ kind, mode, bytes, content }: FileState): object {
  return {
    kind,
    mode: mode.toString(8).padStart(4, "0"),
    ...(bytes !== undefined && { bytes }),
    ...(content !== undefined && { content_hash: content }),
  };
}

function rowOf({ entry, change, untilMs }: HistoryLine): string[] {
  const who = entry.role === "" ? entry.actor : `${entry.actor} (${entry.role})`;
  const until = `until ${new Date(untilMs).toISOString()}`;
  return [
    new Date(entry.atMs).toISOString(),
    visible(entry.callId),
    visible(entry.tool),
    visible(who),
    `${changeKindOf(change)}${change.isMade ? "" : "?"}`,
    `${change.before?.bytes ?? "-"} -> ${change.after?.bytes ?? "-"}`,
    visible(change.path),
    change.unkept === undefined ? until : `no: ${WORDS[change.unkept]}`,
  ];
}

const WORDS = {
  too_large: "the file is too large to be kept",
  too_much: "the call changed more than is kept of one call",
  secret: "it lies where secrets lie",
  tree: "the directory is kept as one thing by its own tool",
  not_a_file: "it is no file, link or directory",
  unreadable: "it could not be read",
  not_stored: "the disk did not take it",
  made_room: "it made room for later changes",
  owner_not_kept: "what stands there, or its directory, belongs to another user or group, which could not be kept",
} as const;

async function undo(callId: string, flags: UndoFlags): Promise<void> {
  const root = flags.workspace === undefined ? undefined : workspaceDirectory(flags.workspace);
  const report = await withKernel(flags, (kernel) =>
    kernel.undo
      .undo({
        callId,
        ...(flags.session !== undefined && { session: flags.session }),
        ...(root !== undefined && { root }),
        paths: flags.path.map((path) => path.replace(/^(?:\.\/)+|\/+$/g, "")),
        dryRun: flags.dryRun === true,
        by: currentUser(),
      })
      .catch((error: unknown) => {
        if (error instanceof ToolFailure) throw usageError(`${error.message}; ${error.suggestion}`, error);
        throw error;
      }),
  );
  const conflicts = report.planned.filter(({ state }) => state === "changed" || state === "unkept");
  const isDone = conflicts.length === 0 && report.meanwhile.length === 0;
  const problem = { code: "NOT_UNDONE", message: `nothing was undone; \`--path\` brings back some of it` };
  if (flags.json) printJson(plainReport(report, flags.dryRun === true), isDone ? undefined : problem);
  else tell(report, { isDryRun: flags.dryRun === true, isDone });
  if (!isDone) process.exitCode = EXIT_FAILURE;
}

function plainReport({ root, planned, isUndone, meanwhile, undoId }: UndoReport, dry_run: boolean): object {
  return {
    workspace: root,
    undone: isUndone,
    dry_run,
    ...(undoId !== undefined && { undo: undoId }),
    paths: planned.map(({ change, state, unkept }) => ({
      path: change.path,
      change: changeKindOf(change),
      state,
      ...(unkept !== undefined && { not_kept: unkept }),
    })),
    changed_meanwhile: meanwhile,
  };
}

function tell(
  { planned, isUndone, meanwhile, undoId }: UndoReport,
  { isDryRun, isDone }: { readonly isDryRun: boolean; readonly isDone: boolean },
): void {
  for (const one of planned) print(lineOf(one));
  for (const path of meanwhile) print(`${visible(path)}: somebody is changing it`);
  if (!isDone) say("nothing was undone; name with --path what is to be brought back without the rest");
  else if (isDryRun) say("nothing was done (--dry-run)");
  else
    say(isUndone ? `undone; \`handrail undo ${undoId}\` takes that back` : "everything is as it was before that call");
}

const DONE = {
  created: "removed",
  modified: "brought back",
  deleted: "brought back",
  mode: "rights brought back",
} as const;

function lineOf({ change, state, unkept }: PlannedUndo): string {
  const path = visible(change.path);
  switch (state) {
    case "ready":
      return `${path}: ${DONE[changeKindOf(change)]}`;
    case "done":
      return `${path}: is as it was`;
    case "left":
      return `${path}: stays, it holds more by now`;
    case "changed":
      return `${path}: has changed since that call`;
    case "unkept":
      return `${path}: cannot be brought back, ${unkept === undefined ? "it was not kept" : WORDS[unkept]}`;
  }
}
