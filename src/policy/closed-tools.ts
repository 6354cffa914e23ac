/**
 * Says which tools a shipped preset refuses to a role whatever the call, without loading the engine.
 *
 * INVARIANT: what is closed here the preset's own policies refuse in every case (a test asks the engine). A permit of
 * the operator's may open it, so that this holds only where there are no policies of the operator's.
 */
import type { EffectClass } from "../model/outcome/effect.ts";
import type { PresetName } from "../model/people/preset.ts";
import { BUILT_IN_ROLES } from "../model/people/role.ts";

/** What is looked at of a tool: its effect, and those of its actions where policy is asked about each. */
export interface ClosableTool {
  readonly name: string;
  readonly effect: EffectClass;
  readonly actions?: Readonly<Record<string, EffectClass>> | undefined;
}

/** Tools by which a product owner reads documents; that role may use no other. */
const READS_DOCUMENTS: ReadonlySet<string> = new Set([
  "read_file",
  "search_file",
  "count_matches",
  "search_knowledge",
  "get_task_context",
  "list_files",
  "done",
]);

/** Whether every call of the tool is refused; a role of the operator's own is not known here. */
export function isClosed(preset: PresetName, role: string, tool: ClosableTool): boolean {
  if (!BUILT_IN_ROLES.some((known) => known === role)) return false;
  if (role === "product_owner") return !READS_DOCUMENTS.has(tool.name);
  const effects = tool.actions === undefined ? [tool.effect] : Object.values(tool.actions);
  switch (preset) {
    case "reader":
      return tool.name !== "done" && !effects.includes("read");
    case "autonomous":
      return CLOSED_UNATTENDED.has(tool.name) || effects.every((effect) => effect === "network");
    default:
      return false;
  }
}

/** Unattended work neither merges itself nor installs from the network. */
const CLOSED_UNATTENDED: ReadonlySet<string> = new Set(["merge_branch", "install_dependencies"]);
