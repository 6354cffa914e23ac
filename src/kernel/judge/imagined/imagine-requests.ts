/** Builds the policy requests for known accesses when nobody makes the call. Pure. */
import { INITIAL_MARK } from "../../../flow/flow.ts";
import type { EffectClass } from "../../../model/outcome/effect.ts";
import type { Session } from "../../../model/people/session.ts";
import type { PolicyContext, PolicyRequest, PolicyResource } from "../../../policy/terms/request.ts";
import { type Demands, NO_DEMANDS, standingDemands } from "../../declared/capability-obligations.ts";
import { actingAs, policyRequest, type ToolFacts } from "../decide.ts";

/** One access of an imagined call, as policy sees it. */
export interface ImaginedAccess {
  readonly resource: PolicyResource;
  readonly effect: EffectClass;
  /** Whether a secret would be written or sent by it. */
  readonly carriesSecret?: boolean;
  /** Whether what lies there is only asked what it has. */
  readonly sendsNothing?: boolean;
  readonly action?: string;
}

/** A use of a tool that nobody makes. */
export interface ImaginedUse {
  readonly session: Session;
  readonly tool: ToolFacts;
  readonly accesses: readonly ImaginedAccess[];
  /** Without `onBranch` it is where the session is now. */
  readonly context: Partial<PolicyContext> & Pick<PolicyContext, "time">;
  /** What the tool's capability asked for the arguments of the call, where that was recorded. */
  readonly known?: Demands | undefined;
}

/** The requests, one for each access, or one for the tool itself where there is none. */
export function imagineRequests({
  session: now,
  tool,
  accesses,
  context,
  known = NO_DEMANDS,
}: ImaginedUse): readonly [PolicyRequest, ...PolicyRequest[]] {
  const mark = {
    trustLevel: context.trust ?? INITIAL_MARK.trustLevel,
    dataClass: context.dataClass ?? INITIAL_MARK.dataClass,
  };
  const demands = [...standingDemands(tool), ...known];
  const session = context.onBranch === undefined ? now : placed(now, context.onBranch);
  const question = { caller: { session, mark, armed: context.armed ?? false }, nowMs: context.time * 1000, demands };
  const ask = ({ action, ...access }: ImaginedAccess): PolicyRequest => {
    const request = policyRequest({ ...question, tool: actingAs(tool, action) }, access);
    return { ...request, context: { ...request.context, ...context } };
  };
  const [first, ...more] = accesses.map(ask);
  return [first ?? ask({ resource: { kind: "tool", name: tool.name }, effect: tool.capability.effect }), ...more];
}

/** The session on some branch, or in the workspace itself. */
export function placed(session: Session, isOnBranch: boolean): Session {
  const { branchId: _id, isBranchBound: _too, ...inWorkspace } = session;
  return isOnBranch ? { ...inWorkspace, isBranchBound: true } : inWorkspace;
}
