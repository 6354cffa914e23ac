/**
 * Rates the severity of a call's record.
 *
 * What roles with high privileges do always stands in the security audit, and so carries a severity. What touches the
 * machine itself is critical, whoever tries it (Flow §2.4, §6.2).
 */
import { PRIVILEGED_ROLES } from "../../model/people/role.ts";
import { isSystemTool } from "../../model/work/system.ts";
import type { Known } from "../call/stages.ts";

/** The severity of a call's record; returns `otherwise` for calls that are neither privileged nor system calls. */
export function severityOf(
  { call, session, tool, accesses = [] }: Pick<Known, "call" | "session" | "tool" | "accesses">,
  otherwise?: "warning",
): "critical" | "warning" | "info" | undefined {
  // Refused before anybody knows the tool, such as where it is switched off, it goes by its name.
  const isNamed = tool === undefined && call !== undefined && isSystemTool(call.tool);
  const isSystem =
    isNamed || tool?.capability.effect === "system" || accesses.some(({ effect }) => effect === "system");
  if (isSystem) return "critical";
  if (otherwise !== undefined) return otherwise;
  return session !== undefined && PRIVILEGED_ROLES.has(session.role) ? "info" : undefined;
}
