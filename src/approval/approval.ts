/**
 * What an obligation asks for before an allowed call may run.
 *
 * There is no channel through which a person could answer yet, so an obligation denies: nobody can be asked, and
 * nobody approves their own call.
 */
import { allow, deny, type Obligation, type Verdict } from "../model/decision.ts";

/** An obligation and the rule that imposed it. */
export interface ImposedObligation {
  readonly obligation: Obligation;
  readonly ruleId: string;
}

/** Whether nothing has to happen before the call, or all of it has: arming, then approval. */
export function checkObligations(tool: string, obligations: readonly ImposedObligation[]): Verdict<undefined> {
  const armed = checkArming(tool, obligations);
  return armed.ok ? checkApproval(tool, obligations) : armed;
}

/** Whether the call needs no arming, or is armed. */
function checkArming(tool: string, obligations: readonly ImposedObligation[]): Verdict<undefined> {
  const imposed = obligations.find((candidate) => candidate.obligation === "arm");
  if (!imposed) return allow(undefined);
  return deny({
    layer: "gates",
    reason: "tool_requires_arming",
    ruleId: imposed.ruleId,
    message: `\`${tool}\` runs only while the kernel is armed, and it is not; leave this step to the operator`,
    fix: `an operator's permit with @waives("${imposed.ruleId}")`,
  });
}

/** Whether the call needs no approval, or has one. */
function checkApproval(tool: string, obligations: readonly ImposedObligation[]): Verdict<undefined> {
  const imposed = obligations.find((candidate) => candidate.obligation !== "arm");
  if (!imposed) return allow(undefined);
  const what = imposed.obligation === "ask" ? "a person's approval" : "to be staged for a person's review";
  return deny({
    layer: "approval",
    reason: "tool_approval_required",
    ruleId: imposed.ruleId,
    message: `\`${tool}\` needs ${what} by rule \`${imposed.ruleId}\`, and nobody can be asked here; choose another way or leave this step to the operator`,
    fix: `an operator's permit with @waives("${imposed.ruleId}")`,
  });
}
