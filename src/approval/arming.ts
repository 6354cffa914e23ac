/**
 * Decides whether a call that needs arming may run.
 *
 * Arming is the operator's act alone: no in-band answer grants it, and no approval stands for it.
 */
import { allow, deny, type Obligation, type Verdict } from "../model/outcome/decision.ts";

/** Something that a rule demands before the call. */
interface Demanded {
  readonly obligation: Obligation;
  readonly ruleId: string;
}

/** Whether the call needs no arming, or is armed. */
export function checkArming(tool: string, obligations: readonly Demanded[], armed: boolean): Verdict<undefined> {
  const imposed = armed ? undefined : obligations.find((candidate) => candidate.obligation === "arm");
  if (!imposed) return allow(undefined);
  return deny({
    layer: "gates",
    reason: "tool_requires_arming",
    ruleId: imposed.ruleId,
    message: `\`${tool}\` runs only while it is armed, and it is not; ask the operator to arm it, then send the call again`,
    fix: "the operator runs `handrail arm --for 15m`",
  });
}
