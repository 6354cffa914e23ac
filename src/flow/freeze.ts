/**
 * Denies calls that a freeze holds.
 *
 * A person's reason for the freeze is for people: the denied agent is never told.
 */
import type { Denial } from "../model/outcome/decision.ts";
import type { Freeze } from "./freeze-store.ts";

/** The refusal of every call that `freeze` holds. */
export function freezeDenial({ target, cause }: Freeze, sessionId: string): Denial {
  const base = { layer: "authenticate", reason: "session_frozen", ruleId: `FREEZE:${target.scope}` } as const;
  if (target.scope === "all") {
    const message = "the operator has stopped every agent; stop working and tell the user";
    return { ...base, message, fix: "the operator runs `handrail resume --all`" };
  }
  if (target.scope === "principal") {
    const message = "the operator has frozen this agent in every workspace; stop working and tell the user";
    return { ...base, message, fix: "the operator runs `handrail resume --principal USER/AGENT`" };
  }
  const why =
    cause === "alert"
      ? "after too many violations within a minute this agent is frozen"
      : "the operator has frozen this agent";
  const message = `${why} in this workspace, whatever session it uses, until a person has reviewed it; stop working and tell the user`;
  return {
    ...base,
    message,
    fix: `the operator runs \`handrail sessions review ${sessionId}\`, then \`handrail sessions resume ${sessionId}\``,
  };
}
