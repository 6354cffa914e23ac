/**
 * What would be decided about a call that nobody makes: for examples beside a policy, for the replay of recorded calls,
 * and for trying a change out before it is recommended. Pure but for what the parts read; nothing runs, nothing is recorded.
 *
 * INVARIANT: the decisions are the pipeline's own functions, so that an imagined call is decided as a real one would be.
 */
import { judgeFlow } from "../../flow/flow.ts";
import type { Verdict } from "../../model/outcome/decision.ts";
import type { Session } from "../../model/people/session.ts";
import type { PolicyEngine } from "../../policy/policy.ts";
import type { PolicyContext } from "../../policy/terms/request.ts";
import type { Redactor } from "../../redact/redact.ts";
import type { Judged } from "../call/trail.ts";
import type { Demands } from "../declared/capability-obligations.ts";
import type { ToolRegistry } from "../declared/registry.ts";
import { CallRedaction } from "../redaction/redaction.ts";
import { analyse } from "./analyse.ts";
import { type Decided, evaluateRequests, requestsOf, type ToolFacts } from "./decide.ts";
import { withGateDemands } from "./gates.ts";
import { type ImaginedAccess, imagineRequests } from "./imagine-requests.ts";
import { checkScope } from "./scope.ts";
import { markSecrets } from "./secret-writes.ts";
import { wholeCall } from "./whole-call.ts";

/** An imagined call: by whom, with which tool and arguments, judged by which policy and which rules of redaction. */
export interface ImaginedCall {
  readonly registry: ToolRegistry;
  readonly policy: PolicyEngine;
  readonly redactor: Redactor;
  readonly caller: Judged;
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly nowMs: number;
}

/** What would be decided, by the pipeline's stages from analysis to flow control: what policy allowed, or the denial. */
export function imagineCall({ registry, policy, redactor, caller, tool: name, args, nowMs }: ImaginedCall): Verdict<Decided> {
  const call = { requestId: "", sessionToken: "", dedupeKey: "", tool: name, arguments: args, variant: "call", reply: "result" } as const;
  const analysed = analyse(registry, call, { caller }, caller.gates);
  if (!analysed.ok) return analysed;
  const { tool } = analysed.value;
  const scoped = checkScope(caller, tool, analysed.value, nowMs);
  if (!scoped.ok) return scoped;
  const accesses = markSecrets(new CallRedaction(redactor), tool, call, scoped.value);
  const demands = withGateDemands(caller, tool.name, analysed.value.demands);
  const decided = evaluateRequests(policy, tool, requestsOf(caller, tool, accesses, nowMs, demands, wholeCall(tool, accesses, args)));
  if (!decided.ok) return decided;
  const flow = judgeFlow(caller.mark, tool.capability, accesses);
  return flow.ok ? decided : flow;
}

/**
 * What policy alone would decide about accesses that are already known.
 * @param known what the tool's capability asked for the arguments of the call, where that was recorded
 */
export function imagineAccesses(
  policy: PolicyEngine,
  session: Session,
  tool: ToolFacts,
  accesses: readonly ImaginedAccess[],
  context: Partial<PolicyContext> & Pick<PolicyContext, "time">,
  known?: Demands,
): Verdict<Decided> {
  return evaluateRequests(policy, tool, imagineRequests(session, tool, accesses, context, known));
}
