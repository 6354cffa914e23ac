/**
 * Re-check: after any wait, what allowed the call must still hold. Switches, session, lease, the workspace's rules,
 * policy and the principal's mark are looked at again, and policy is asked again, because it may depend on the time; the
 * state of the target is looked at by the handle that touches it.
 */
import { checkObligations } from "../approval/approval.ts";
import { judgeFlow } from "../flow/flow.ts";
import { type Denial, deny, type Verdict } from "../model/decision.ts";
import type { PolicyEngine } from "../policy/policy.ts";
import { authenticate } from "../session/session.ts";
import { callerOf } from "./caller.ts";
import { type Decided, evaluateAccesses } from "./decide.ts";
import type { KernelParts } from "./parts.ts";
import { checkMasterGate, checkScope } from "./scope.ts";
import type { Trail } from "./trail.ts";

const CHANGED: Denial = {
  layer: "policy",
  reason: "tool_policy_invalid",
  ruleId: "POLICY:changed",
  message: "the policy changed while the call waited; send it again",
};

const RULES_CHANGED: Denial = {
  layer: "policy",
  reason: "tool_policy_invalid",
  ruleId: "WORKSPACE:changed",
  message: "the rules of the workspace changed while the call waited; send it again",
};

/** Whether the call may still run now. */
export async function recheck(parts: KernelParts, trail: Trail, decidedBy: PolicyEngine): Promise<Verdict<undefined>> {
  const decided = await stillAllowed(parts, trail, decidedBy);
  if (!decided.ok) return decided;
  const { name } = trail.tool as NonNullable<Trail["tool"]>;
  return checkObligations(name, decided.value.obligations);
}

/** Whether everything up to flow control still allows the call: what a replay needs, and what arming and approval rest on. */
export async function stillAllowed(parts: KernelParts, trail: Trail, decidedBy: PolicyEngine): Promise<Verdict<Decided>> {
  const { call, caller, tool } = trail;
  if (!call || !caller || !tool)
    return deny({ layer: "authenticate", reason: "session_invalid", ruleId: "SESSION:invalid", message: "the call lost its session" });
  const gate = checkMasterGate(parts.settings, tool.name);
  if (!gate.ok) return gate;
  const nowMs = parts.clock.nowMs();
  const again = await authenticate(parts.sessions, call.sessionToken, nowMs);
  if (!again.ok) return again;
  const now = await callerOf(parts, again.value);
  if (now.place.rules !== caller.place.rules) return deny(RULES_CHANGED);
  const scoped = checkScope(now, tool, trail.accesses, nowMs);
  if (!scoped.ok) return scoped;
  const current = await parts.policy(caller.session.preset);
  if (current.hash !== decidedBy.hash) return deny(CHANGED);
  const decided = evaluateAccesses(current, now, tool, scoped.value, nowMs);
  if (!decided.ok) return decided;
  const flow = judgeFlow(now.mark, tool.capability, scoped.value);
  return flow.ok ? decided : flow;
}
