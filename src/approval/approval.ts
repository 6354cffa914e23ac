/**
 * Checks the obligations of an allowed call before it may run: arming, and a person's approval.
 *
 * Pure. INVARIANT: an approval stands only for the rules that its prompt named. It does not meet another rule that asks
 * as well.
 */
import { allow, type Denial, deny, type Obligation, type Verdict } from "../model/outcome/decision.ts";
import { checkArming } from "./arming.ts";

/** An obligation and the rule that imposed it. */
export interface ImposedObligation {
  readonly obligation: Obligation;
  readonly ruleId: string;
  /** Why, in words of the rule. */
  readonly reason?: string;
}

/**
 * Whether nothing has to happen before the call, or all of it has: arming, then approval of every rule that asks.
 * `approved` are the rules of which somebody approved.
 */
export function checkObligations(
  tool: string,
  obligations: readonly ImposedObligation[],
  { armed, approved }: { readonly armed: boolean; readonly approved: ReadonlySet<string> | undefined },
): Verdict<undefined> {
  const ready = checkArming(tool, obligations, armed);
  if (!ready.ok) return ready;
  const staged = stagedDenial(tool, obligations);
  if (staged) return deny(staged);
  const open = obligations.find(({ obligation, ruleId }) => obligation === "ask" && approved?.has(ruleId) !== true);
  return open === undefined
    ? allow(undefined)
    : deny(requiredDenial(tool, open.ruleId, "and nobody was asked about that; send it again"));
}

/** The denial of a call whose effect has to be looked at before it stands, and is not kept on a branch until then. */
export function stagedDenial(tool: string, obligations: readonly ImposedObligation[]): Denial | undefined {
  const staged = obligations.find(({ obligation }) => obligation === "stage");
  return (
    staged && {
      layer: "approval",
      reason: "tool_approval_required",
      ruleId: staged.ruleId,
      message: `\`${tool}\` is allowed on a branch alone by rule \`${staged.ruleId}\`, where its effect stays until a person merges it; make one with \`create_branch\`, or ask the operator for a session on a branch`,
      fix: waiverOf(staged.ruleId),
    }
  );
}

/**
 * The denial of a call that needs an approval which it does not have; `why` goes on after "needs a person's approval by
 * rule …,".
 */
export function requiredDenial(tool: string, ruleId: string, why: string): Denial {
  return {
    layer: "approval",
    reason: "tool_approval_required",
    ruleId,
    message: `\`${tool}\` needs a person's approval by rule \`${ruleId}\`, ${why}`,
    fix: waiverOf(ruleId),
  };
}

function waiverOf(ruleId: string): string {
  return `an operator's permit with @waives("${ruleId}")`;
}
