/**
 * Labels of results and control of what leaves.
 *
 * A result carries its tool's declared label; a finding of the redactor raises the class. Nothing in this kernel's own
 * tool set reaches a network yet, so that any access that would leave the machine is refused: it could not be judged.
 */
import type { Access } from "../model/access.ts";
import type { ToolCapability } from "../model/capability.ts";
import { allow, deny, type Verdict } from "../model/decision.ts";
import type { Label } from "../model/label.ts";

/** Refuses accesses whose information flow cannot be judged (FC-2). */
export function checkFlow(accesses: readonly Access[]): Verdict<undefined> {
  const leaving = accesses.find((access) => access.effect === "network" || access.resource.kind === "host");
  if (leaving === undefined) return allow(undefined);
  return deny({
    layer: "flow",
    reason: "flow_sensitive_egress",
    ruleId: "FC-2",
    message: "the call would send data out of the workspace, which this kernel cannot judge; use a tool that stays inside",
  });
}

/** The label of a tool's result: declared by its capability, raised to `secret` when a secret was found in it. */
export function labelResult(labels: ToolCapability["labels"], tool: string, secretsFound: number, nowMs: number): Label {
  return {
    trustLevel: labels?.outputTrust ?? "untrusted",
    dataClass: secretsFound > 0 ? "secret" : (labels?.outputDataClass ?? "internal"),
    source: { origin: `tool:${tool}`, timestamp: new Date(nowMs).toISOString() },
  };
}
