/**
 * What would be decided about a call that nobody makes: for examples beside a policy, for the replay of recorded calls,
 * and for trying a change out before it is recommended. Pure but for what the parts read; nothing runs, nothing is recorded.
 *
 * INVARIANT: the decisions are the pipeline's own functions, so that an imagined call is decided as a real one would be.
 */
import { INITIAL_MARK, judgeFlow } from "../flow/flow.ts";
import type { Verdict } from "../model/decision.ts";
import type { EffectClass } from "../model/effect.ts";
import type { Session } from "../model/session.ts";
import type { PolicyEngine } from "../policy/policy.ts";
import type { PolicyContext, PolicyRequest, PolicyResource } from "../policy/request.ts";
import { analyse } from "./analyse.ts";
import { type Decided, evaluateRequests, policyRequest, requestsOf, type ToolFacts } from "./decide.ts";
import type { ToolRegistry } from "./registry.ts";
import { checkScope } from "./scope.ts";
import type { Judged } from "./trail.ts";

/** An imagined call: by whom, with which tool and arguments, judged by which policy. */
export interface ImaginedCall {
  readonly registry: ToolRegistry;
  readonly policy: PolicyEngine;
  readonly caller: Judged;
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly nowMs: number;
}

/** One access of an imagined call, as policy sees it. */
export interface ImaginedAccess {
  readonly resource: PolicyResource;
  readonly effect: EffectClass;
}

/** What would be decided, by the pipeline's stages from analysis to flow control: what policy allowed, or the denial. */
export function imagineCall({ registry, policy, caller, tool: name, args, nowMs }: ImaginedCall): Verdict<Decided> {
  const call = { requestId: "", sessionToken: "", dedupeKey: "", tool: name, arguments: args, variant: "call", reply: "result" } as const;
  const analysed = analyse(registry, call, { caller });
  if (!analysed.ok) return analysed;
  const { tool, accesses } = analysed.value;
  const scoped = checkScope(caller, tool, accesses, nowMs);
  if (!scoped.ok) return scoped;
  const decided = evaluateRequests(policy, tool, requestsOf(caller, tool, scoped.value, nowMs));
  if (!decided.ok) return decided;
  const flow = judgeFlow(caller.mark, tool.capability, scoped.value);
  return flow.ok ? decided : flow;
}

/** What policy alone would decide about accesses that are already known. */
export function imagineAccesses(
  policy: PolicyEngine,
  session: Session,
  tool: ToolFacts,
  accesses: readonly ImaginedAccess[],
  context: Partial<PolicyContext> & Pick<PolicyContext, "time">,
): Verdict<Decided> {
  const mark = { trustLevel: context.trust ?? INITIAL_MARK.trustLevel, dataClass: context.dataClass ?? INITIAL_MARK.dataClass };
  const ask = ({ resource, effect }: ImaginedAccess): PolicyRequest => {
    const request = policyRequest({ session, mark }, tool, effect, resource, context.time * 1000);
    return { ...request, context: { ...request.context, ...context } };
  };
  const [first, ...more] = accesses.map(ask);
  return evaluateRequests(policy, tool, [
    first ?? ask({ resource: { kind: "tool", name: tool.name }, effect: tool.capability.effect }),
    ...more,
  ]);
}
