/**
 * Whether the client that asks may also answer: only for people that the operator says sit there, and never about what is worth
 * a second channel. Pure.
 */
import type { Access } from "../model/access.ts";
import type { ToolCapability } from "../model/capability.ts";

/** What an attended client said: a person agreed, a person refused, or nobody answered. */
export type InBandAnswer = "accept" | "decline" | "cancel";

/** Tools whose effect outlives the workspace, whatever their analysis says. */
const NEVER_BY_NAME: ReadonlySet<string> = new Set(["git_push"]);

/** Whether a call can be answered in band at all: nothing that changes the machine, and no push. */
export function mayBeAnsweredInBand(
  tool: { readonly name: string; readonly capability: Pick<ToolCapability, "effect" | "requiresArming"> },
  accesses: readonly Access[],
): boolean {
  const { effect, requiresArming } = tool.capability;
  if (effect === "system" || requiresArming === true || NEVER_BY_NAME.has(tool.name)) return false;
  return accesses.every(
    (access) => access.effect !== "system" && !(access.resource.kind === "git_ref" && access.resource.operation?.toLowerCase() === "push"),
  );
}
