/**
 * Re-check: after any wait, what allowed the call must still hold. Switches, session, lease, the workspace's rules,
 * policy and the principal's mark are looked at again, and policy is asked again, because it may depend on the time;
 * the state of the target is looked at by the handle that touches it.
 */
import { checkObligations } from "../../approval/approval.ts";
import { judgeFlow } from "../../flow/flow.ts";
import { allow, type Denial, deny, type Verdict } from "../../model/outcome/decision.ts";
import { stillPaid } from "../answer/spend.ts";
import type { KernelParts } from "../call/parts.ts";
import type { Caller, Decided, Granted, Ruling } from "../call/stages.ts";
import { mayAct } from "../judge/authenticate.ts";
import { callerOf } from "../judge/caller.ts";
import { withSentContent } from "../judge/content/sent-content.ts";
import { evaluateAccesses } from "../judge/decide.ts";
import { checkMasterGate, withGateDemands } from "../judge/gates.ts";
import { evaluateInPortions, scopeInPortions } from "../judge/portions.ts";
import { checkScope } from "../judge/scope.ts";
import { wholeCall } from "../judge/whole-call.ts";

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

const TOOL_CHANGED: Denial = {
  layer: "policy",
  reason: "tool_policy_invalid",
  ruleId: "CAPABILITY:changed",
  message: "what the operator asks of the tool changed while the call waited; send it again",
};

/** Whether the call may still run now. */
export async function recheck(parts: KernelParts, granted: Granted): Promise<Verdict<undefined>> {
  const still = await stillAllowed(parts, granted);
  if (!still.ok) return still;
  const { ruling, caller } = still.value;
  const has = { armed: caller.armed, approved: granted.holdings.approval?.rules };
  const due = checkObligations(granted.tool.name, ruling.obligations, has);
  return due.ok ? stillPaid(parts, granted) : due;
}

/** What still allows a call, and the caller as things are now. */
export interface StillAllowed {
  readonly ruling: Ruling;
  readonly caller: Caller;
}

/**
 * Whether everything up to flow control still allows the call: what a replay needs, and what arming and approval rest
 * on.
 */
export async function stillAllowed(parts: KernelParts, decided: Decided): Promise<Verdict<StillAllowed>> {
  const { call, caller, tool, demands, accesses } = decided;
  const gate = checkMasterGate(parts.settings, tool.name);
  if (!gate.ok) return gate;
  if (!parts.registry.continues(tool)) return deny(TOOL_CHANGED);
  const nowMs = parts.clock.nowMs();
  const again = await mayAct(parts, call.sessionToken, nowMs);
  if (!again.ok) return again;
  const fresh = await callerOf(parts, again.value);
  // effects land where they were looked at, which need not be where the session works
  const found = decided.review === undefined ? fresh : { ...fresh, place: caller.place, session: caller.session };
  if (fresh.place.rules !== caller.place.rules) return deny(RULES_CHANGED);
  const areEffects = decided.review !== undefined;
  const within = (some: typeof accesses) =>
    checkScope({ caller: found, tool, nowMs }, { input: call.arguments, accesses: some, areEffects });
  // effects stand each for itself; of a call all accesses together show whether it names what it reaches
  const scoped = areEffects ? await scopeInPortions(accesses, within) : within(accesses);
  if (!scoped.ok) return scoped;
  const current = await parts.policy(caller.session.preset);
  if (current.hash !== decided.policy.hash) return deny(CHANGED);
  const sent = await withSentContent(parts, { policy: current, caller: found, tool, accesses: scoped.value, nowMs });
  if (!sent.ok) return sent;
  const now = sent.value;
  const question = { policy: current, caller: now, tool, nowMs, call: wholeCall(tool, scoped.value, call.arguments) };
  const demanded = { ...question, demands: withGateDemands(now, tool.name, demands) };
  const ruling = await evaluateInPortions(scoped.value, (some) => evaluateAccesses(demanded, some));
  if (!ruling.ok) return ruling;
  const flow = judgeFlow(now.mark, tool.capability, scoped.value);
  return flow.ok ? allow({ ruling: ruling.value, caller: now }) : flow;
}
