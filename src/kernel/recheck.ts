/**
 * Re-check: after any wait, what allowed the call must still hold. Session, lease and policy are looked at again, and
 * policy is asked again, because it may depend on the time; the state of the target is looked at by the handle that
 * touches it.
 */
import { checkApproval, checkArming } from "../approval/approval.ts";
import { type Denial, deny, type Verdict } from "../model/decision.ts";
import type { PolicyEngine } from "../policy/policy.ts";
import { authenticate } from "../session/session.ts";
import { evaluateAccesses } from "./decide.ts";
import type { KernelParts } from "./parts.ts";
import { checkScope } from "./scope.ts";
import type { Trail } from "./trail.ts";

const CHANGED: Denial = {
  layer: "policy",
  reason: "tool_policy_invalid",
  ruleId: "POLICY:changed",
  message: "the policy changed while the call waited; send it again",
};

/** Whether the call may still run now. */
export async function recheck(parts: KernelParts, trail: Trail, decidedBy: PolicyEngine): Promise<Verdict<undefined>> {
  const { call, caller, tool } = trail;
  if (!call || !caller || !tool)
    return deny({ layer: "authenticate", reason: "session_invalid", ruleId: "SESSION:invalid", message: "the call lost its session" });
  const nowMs = parts.clock.nowMs();
  const again = await authenticate(parts.sessions, call.sessionToken, nowMs);
  if (!again.ok) return again;
  const now = { ...caller, ...again.value };
  const scoped = checkScope(now, tool, trail.accesses, nowMs);
  if (!scoped.ok) return scoped;
  const current = await parts.policy(caller.session.preset);
  if (current.hash !== decidedBy.hash) return deny(CHANGED);
  const decided = evaluateAccesses(current, now, tool, scoped.value, nowMs);
  if (!decided.ok) return decided;
  const armed = checkArming(tool.name, decided.value.obligations);
  return armed.ok ? checkApproval(tool.name, decided.value.obligations) : armed;
}
