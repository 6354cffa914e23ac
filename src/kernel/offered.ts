/**
 * Says which tools a session is offered: those that are not refused whatever it calls them with.
 *
 * A model plans with what it is shown, so that a tool which can never run costs it tokens and calls. Nothing is decided
 * here: a call of a tool that is not offered is judged and recorded like any other. INVARIANT: where it is not certain
 * that every call is refused, the tool is offered. What is closed for everybody, or will pass, closes nothing here: the
 * refusal says why.
 */
import type { LeaseDimension, LeaseScope } from "../model/people/lease.ts";
import type { Tool } from "../model/tool/tool.ts";
import { admits } from "../policy/lease-scope.ts";
import { authenticate } from "../session/session.ts";
import type { KernelParts } from "./call/parts.ts";
import type { ToolDefinition } from "./declared/registry.ts";
import { CALL_TOOL } from "./dialect/named-call.ts";
import { checkMasterGate } from "./judge/gates.ts";
import { checkTool } from "./judge/scope.ts";

/** What every call of these tools needs of a lease. */
const NEEDS: Readonly<Record<string, LeaseDimension>> = {
  read_file: "readPaths",
  search_file: "readPaths",
  count_matches: "readPaths",
  search_knowledge: "readPaths",
  get_task_context: "readPaths",
  find_usage: "readPaths",
  diagnostics: "readPaths",
  rename_symbol: "writePaths",
  get_related_tests: "readPaths",
  get_system_map: "readPaths",
  list_files: "readPaths",
  write_file: "writePaths",
  edit_file: "writePaths",
  delete_file: "writePaths",
  shell: "commands",
  run_test: "commands",
  run_lint: "commands",
  install_dependencies: "commands",
  git: "gitOperations",
  artifact_publish: "artifacts",
};
/** Tools that are one operation of git. */
const GIT_TOOL = /^git_([a-z]+)$/;

/** The tools that the session of `token` is offered, by name; all of them for a token that nobody may use now. */
export async function offeredTools(parts: KernelParts, token: string): Promise<readonly ToolDefinition[]> {
  const all = parts.registry.getToolDefinitions();
  const nowMs = parts.clock.nowMs();
  const authenticated = await authenticate(parts.sessions, token, nowMs);
  if (!authenticated.ok) return all;
  const { session, lease } = authenticated.value;
  const caller = { session, lease, place: await parts.workspaces.open(session), gates: parts.settings.gates };
  const offered = all.filter(({ name }) => {
    const tool = parts.registry.get(name);
    if (tool === undefined || isSwitchedOff(parts, name)) return false;
    const denial = checkTool(caller, tool, nowMs);
    if (denial !== undefined && denial.reason !== "lease_expired") return false;
    return !isClosed(lease.scope, tool) && parts.presetCloses?.(session, tool) !== true;
  });
  const listed = withoutUnlisted(parts, offered);
  if (session.dialect === undefined) return listed;
  const { spokenTools } = await import("./dialect/speak.ts");
  return spokenTools(session.dialect, listed);
}

/** The tools that are listed, and one to call the others with where there are some. */
function withoutUnlisted({ registry }: KernelParts, offered: readonly ToolDefinition[]): readonly ToolDefinition[] {
  const listed = offered.filter(({ name }) => registry.get(name)?.isUnlisted !== true);
  if (listed.length === offered.length) return offered;
  return [...listed, CALL_TOOL].sort((left, right) => (left.name < right.name ? -1 : 1));
}

/** Whether the operator has switched off this very tool. */
function isSwitchedOff({ settings }: KernelParts, tool: string): boolean {
  const verdict = checkMasterGate(settings, tool);
  return !verdict.ok && verdict.denial.reason === "tool_not_allowed";
}

/** Whether the lease admits nothing of what every call of the tool needs. */
function isClosed(scope: LeaseScope, { name }: Pick<Tool, "name">): boolean {
  const operation = GIT_TOOL.exec(name)?.[1];
  if (operation !== undefined && !admits(scope, "gitOperations", operation)) return true;
  const dimension = NEEDS[name];
  return dimension !== undefined && scope[dimension].some((alternatives) => alternatives.length === 0);
}
