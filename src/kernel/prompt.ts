/**
 * What a person is told about a call that needs their approval: facts that the kernel established, redacted and bounded.
 *
 * Trusts the trail: accesses as scope resolved them, the mark as it stands. INVARIANT: `summary`, `risks` and `rules` hold
 * words of the kernel and of the operator's policy alone; what the agent wrote stands in `details.arguments`, `.accesses` and `.changes`.
 */
import { assert } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import { PROMPT_ACCESSES_MAX } from "../base/limits.ts";
import type { ApprovalDetails, ApprovalRequest, AskingRule } from "../model/approval.ts";
import { accessFact } from "./evidence.ts";
import { shownArguments } from "./prompt-arguments.ts";
import { isDanger, risksOf, summaryOf } from "./prompt-risks.ts";
import type { Trail } from "./trail.ts";

/** A request with its facts. */
export type DescribedCall = ApprovalRequest & { readonly details: ApprovalDetails };

/** Describes the call of `trail`, about which `rules` ask. */
export async function describeCall(trail: Trail, rules: readonly AskingRule[]): Promise<DescribedCall> {
  const { call, caller, tool, redaction, accesses } = trail;
  assert(call && caller && tool && redaction, "a call is described after it was judged");
  const { session, mark } = caller;
  const kind = isDanger(rules) ? "danger" : "execute";
  const details = {
    kind,
    rules: rules.map(({ ruleId, rationale }) => ({ ruleId, ...(rationale !== undefined && rationale !== "" && { rationale }) })),
    userId: session.userId,
    agentId: session.agentId,
    role: session.role,
    sessionId: session.id,
    workspace: session.serviceRoot,
    workDir: session.serviceRoot,
    seen: { trustLevel: mark.trustLevel, dataClass: mark.dataClass },
    accesses: shownAccesses(trail),
    changes: [],
    arguments: shownArguments(redaction, call.arguments),
  } satisfies ApprovalDetails;
  return {
    id: `${tool.name}:${kind}`,
    tool: tool.name,
    action: kind === "danger" ? "dangerous_operation" : "execute",
    summary: summaryOf(tool, accesses),
    risks: risksOf(tool, accesses, details.rules, mark),
    details: redaction.facts(details) as typeof details,
  };
}

function shownAccesses({ accesses }: Trail): readonly JsonObject[] {
  const shown = accesses.slice(0, PROMPT_ACCESSES_MAX).map(accessFact);
  const more = accesses.length - shown.length;
  return more === 0 ? shown : [...shown, { kind: "more", count: more }];
}
