/**
 * Says whether a session is offered a tool: whether it is not refused whatever it is called with.
 *
 * Lists of tools and searches for tools ask here. Nothing is decided: a call of a tool that is not offered is judged
 * and recorded like any other. INVARIANT: where it is not certain that every call is refused, the tool is offered. What
 * is closed for everybody, or will pass, closes nothing here: the refusal says why.
 */
import type { LeaseDimension, LeaseScope } from "../../model/people/lease.ts";
import type { Tool } from "../../model/tool/tool.ts";
import { admits } from "../../policy/lease-scope.ts";
import type { KernelParts } from "../call/parts.ts";
import { checkMasterGate } from "./gates.ts";
import { checkTool, type ToolUser } from "./scope.ts";

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

/** Whether the caller is offered the tool of that name. */
export function isOffered(
  parts: Pick<KernelParts, "registry" | "settings" | "presetCloses">,
  { caller, nowMs }: { readonly caller: ToolUser; readonly nowMs: number },
  name: string,
): boolean {
  const tool = parts.registry.get(name);
  if (tool === undefined || isSwitchedOff(parts, name)) return false;
  const denial = checkTool(caller, tool, nowMs);
  if (denial !== undefined && denial.reason !== "lease_expired") return false;
  return !isClosed(caller.lease.scope, tool) && parts.presetCloses?.(caller.session, tool) !== true;
}

/** Whether the operator has switched off this very tool. */
function isSwitchedOff({ settings }: Pick<KernelParts, "settings">, tool: string): boolean {
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
