/**
 * Re-check: after any wait, what allowed the call must still hold. Session, lease and policy are looked at again; the
 * state of the target is looked at by the handle that touches it.
 */
import { allow, deny, type Verdict } from "../model/decision.ts";
import type { PolicyEngine } from "../policy/policy.ts";
import { authenticate } from "../session/session.ts";
import type { KernelParts } from "./parts.ts";
import { checkScope } from "./scope.ts";
import type { Trail } from "./trail.ts";

/** Whether the call may still run now. */
export async function recheck(parts: KernelParts, trail: Trail, decidedBy: PolicyEngine): Promise<Verdict<undefined>> {
  const { call, caller, tool } = trail;
  if (!call || !caller || !tool)
    return deny({ layer: "authenticate", reason: "session_invalid", ruleId: "SESSION:invalid", message: "the call lost its session" });
  const nowMs = parts.clock.nowMs();
  const again = await authenticate(parts.sessions, call.sessionToken, nowMs);
  if (!again.ok) return again;
  const scoped = checkScope({ ...caller, lease: again.value.lease }, tool, trail.accesses, nowMs);
  if (!scoped.ok) return scoped;
  const current = await parts.policy(caller.session.preset);
  if (current.hash === decidedBy.hash) return allow(undefined);
  return deny({
    layer: "policy",
    reason: "tool_policy_invalid",
    ruleId: "POLICY:changed",
    message: "the policy changed while the call waited; send it again",
  });
}
