/**
 * Rebuilds from a request for approval what policy was asked about, so that it can be asked again.
 *
 * Trusts the request's document, which the kernel wrote, for what the call touched.
 */
import { imagineRequests, looksUp } from "../../kernel/index.ts";
import type { ShownRequest } from "../../model/approval/approval-document.ts";
import type { Session } from "../../model/people/session.ts";
import type { Tool } from "../../model/tool/tool.ts";
import type { PolicyEngine } from "../../policy/policy.ts";
import type { PolicyRequest } from "../../policy/terms/request.ts";
import { parseRecordedAccess, type RecordedAccess } from "../../policy/terms/resource.ts";

/** What the call touched, in full; a text says why that cannot be told. */
export function accessesOf({ details }: ShownRequest): readonly RecordedAccess[] | string {
  const accesses: RecordedAccess[] = [];
  for (const fact of details.accesses) {
    if (fact["kind"] === "more") return "it touches too much for a permit of its own; write one by hand";
    const access = parseRecordedAccess(fact);
    if (access === undefined || JSON.stringify(fact).includes("[REDACTED:"))
      return "what it touches holds a secret, or cannot be named in a policy; write a permit by hand";
    accesses.push(access);
  }
  return accesses;
}

/** A call that people were asked about. */
export interface AskedCall {
  readonly request: ShownRequest;
  readonly session: Session;
  readonly tool: Tool;
  readonly accesses: readonly RecordedAccess[];
  /** The call in full; empty where it does not matter which of its kind it is. */
  readonly call?: string;
  readonly nowMs: number;
}

/** What policy was asked about the call, with what asked besides. */
export function askedAgain(asked: AskedCall): readonly PolicyRequest[] {
  const { request, session, tool, accesses, call = "", nowMs } = asked;
  const { details } = request;
  const { trustLevel: trust, dataClass } = details.seen;
  // the session may have left the branch since, or gone to one
  const onBranch = details.branch !== undefined;
  const time = Math.floor(nowMs / 1000);
  const context = { time, armed: true, trust, dataClass, call, lookUp: looksUp(accesses), onBranch };
  const rules = new Set(details.rules.map(({ ruleId }) => ruleId));
  return withDemands(imagineRequests({ session: { ...session, role: details.role }, tool, accesses, context }), rules);
}

/**
 * The requests with what asked besides policy: rules of the kernel, whose ids begin with a capital letter. What flow
 * control or a tool says of one access stands there already; what the arguments or a mode asked is put to each.
 */
function withDemands(requests: readonly PolicyRequest[], asked: ReadonlySet<string>): readonly PolicyRequest[] {
  const due = requests.flatMap((request) => request.capabilityObligations ?? []);
  const known = new Set(due.filter(({ obligation }) => obligation === "ask").map(({ ruleId }) => ruleId));
  const more = [...asked]
    .filter((ruleId) => /^[A-Z]/.test(ruleId) && !known.has(ruleId))
    .map((ruleId) => ({ obligation: "ask", ruleId, reason: "" }) as const);
  return requests.map((request) => ({
    ...request,
    capabilityObligations: [...(request.capabilityObligations ?? []), ...more],
  }));
}

/** Rules that ask about a request under `engine`; sorted. */
export function asksOf(engine: PolicyEngine, request: PolicyRequest): readonly string[] {
  const verdict = engine.evaluatePlainly(request);
  if (verdict.decision === "deny") return [];
  return verdict.obligations
    .filter(({ obligation }) => obligation === "ask")
    .map(({ ruleId }) => ruleId)
    .sort();
}
