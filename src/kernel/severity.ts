/**
 * How grave what is recorded of a call is. What roles with high privileges do always stands in the security audit, and so
 * carries a severity; what touches the machine itself is critical, whoever tries it (Flow §2.4, §6.2).
 */
import type { JsonObject } from "../base/json.ts";
import { PRIVILEGED_ROLES } from "../model/role.ts";
import { isSystemTool } from "../model/system.ts";
import type { Trail } from "./trail.ts";

/** The severity of a call's record as a member of its payload; none for what is nobody's concern. */
export function severityFact(
  { call, session, tool, accesses }: Pick<Trail, "call" | "session" | "tool" | "accesses">,
  otherwise?: "warning",
): JsonObject {
  // Refused before anybody knows the tool, such as where it is switched off, it goes by its name.
  const isNamed = tool === undefined && call !== undefined && isSystemTool(call.tool);
  const isSystem = isNamed || tool?.capability.effect === "system" || accesses.some(({ effect }) => effect === "system");
  if (isSystem) return { severity: "critical" };
  if (otherwise !== undefined) return { severity: otherwise };
  return session !== undefined && PRIVILEGED_ROLES.has(session.role) ? { severity: "info" } : {};
}
