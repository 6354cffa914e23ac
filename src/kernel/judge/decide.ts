/**
 * Policy for a call: every access is evaluated, one denial denies the call, and the obligations of all add up.
 *
 * What turns up while a call runs is judged without the demands of the call as a whole, which were met before it began.
 */

import type { ImposedObligation } from "../../approval/approval.ts";
import { type FlowAccess, flowObligations } from "../../flow/flow.ts";
import { allow, type Denial, deny, type Verdict } from "../../model/outcome/decision.ts";
import type { Mark } from "../../model/outcome/label.ts";
import type { WorkspacePath } from "../../model/place/access.ts";
import type { WireVariant } from "../../model/tool/call.ts";
import type { Tool } from "../../model/tool/tool.ts";
import { admits } from "../../policy/lease-scope.ts";
import type { PolicyEngine } from "../../policy/policy.ts";
import type { CapabilityObligation, PolicyRequest, PolicyResource } from "../../policy/terms/request.ts";
import type { PolicyDeny, PolicyVerdict } from "../../policy/terms/verdict.ts";
import { resourceId } from "../../policy/terms/vocabulary.ts";
import type { PolicyJudge, TreeJudge } from "../call/judges.ts";
import type { Judged, ResolvedAccess } from "../call/trail.ts";
import { type Demands, hostDemand, NO_DEMANDS } from "../declared/capability-obligations.ts";
import { zoneNow } from "./zone-now.ts";

/** As much of a resource's name as a fix repeats: a long one is known to whoever sent it. */
const FIX_RESOURCE_CHARACTERS_MAX = 256;

/** What decisions look at of a tool, and which of its actions it is about; its name when absent. */
export type ToolFacts = Pick<Tool, "name" | "capability"> & { readonly action?: string };

/** What policy allowed: the permits that matched, and what must happen first. */
export interface Decided {
  readonly permits: readonly string[];
  readonly obligations: readonly ImposedObligation[];
}

/** Evaluates every access; a call that names none is judged as its tool. */
export function evaluateAccesses(
  policy: PolicyEngine,
  caller: Judged,
  tool: Tool,
  accesses: readonly ResolvedAccess[],
  nowMs: number,
  demands: Demands,
  call = "",
): Verdict<Decided> {
  return evaluateRequests(policy, tool, requestsOf(caller, tool, accesses, nowMs, demands, call));
}

/**
 * What policy is asked about a call: each access, or the tool itself when there is none.
 * @param call its name (`wholeCall`); without it no permit for this very call holds
 */
export function requestsOf(
  caller: Judged,
  tool: ToolFacts,
  accesses: readonly ResolvedAccess[],
  nowMs: number,
  demands: Demands,
  call = "",
): readonly [PolicyRequest, ...PolicyRequest[]] {
  const [only, ...more] = accesses.map((access) => {
    const facts = actingAs(tool, access.action);
    const request = policyRequest(caller, facts, access.effect, policyResource(access), nowMs, demands, access.carriesSecret, call);
    return restricted(caller, access, request);
  });
  if (only !== undefined) return [only, ...more];
  return [policyRequest(caller, tool, tool.capability.effect, { kind: "tool", name: tool.name }, nowMs, demands, false, call)];
}

/** `tool` as the one of its actions that an access is part of. */
export function actingAs(tool: ToolFacts, action: string | undefined): ToolFacts {
  return action === undefined ? tool : { name: tool.name, capability: tool.capability, action };
}

/** A workspace may want to be asked about its files: policy does not see that in their zone, and may waive it. */
function restricted(caller: Judged, { effect, target }: ResolvedAccess, request: PolicyRequest): PolicyRequest {
  if (effect === "read" || target === undefined || caller.place.workspace.zones.restriction(target.place) !== "protected") return request;
  return { ...request, capabilityObligations: [...(request.capabilityObligations ?? []), WORKSPACE_ASKS] };
}

const WORKSPACE_ASKS: CapabilityObligation = { obligation: "ask", ruleId: "WORKSPACE:protected" };

/** Evaluates the requests of one call: one denial denies it, obligations add up. */
export function evaluateRequests(
  policy: PolicyEngine,
  tool: ToolFacts,
  [only, ...more]: readonly [PolicyRequest, ...PolicyRequest[]],
): Verdict<Decided> {
  if (more.length === 0) return decide(tool, only, policy.evaluate(only));
  const permits = new Set<string>();
  const obligations: ImposedObligation[] = [];
  for (const request of [only, ...more]) {
    const decided = decide(tool, request, policy.evaluate(request));
    if (!decided.ok) return decided;
    for (const permit of decided.value.permits) permits.add(permit);
    obligations.push(...decided.value.obligations);
  }
  return allow({ permits: [...permits].sort(), obligations });
}

/** Judges a file that turned out, when opened, to be another one than the path said: it must be allowed outright. */
export function judgeByPolicy(policy: PolicyEngine, caller: Judged, tool: Tool, nowMs: number): PolicyJudge {
  return (place, effect) => judgeFile(policy, caller, tool, place, effect, nowMs);
}

/** Judges the files of a tree; asks policy once for each zone where it does not look at paths. */
export function judgeTreeByPolicy(policy: PolicyEngine, caller: Judged, tool: Tool, nowMs: number): TreeJudge {
  const known = new Map<string, boolean>();
  return (place, zone) => {
    const key = `${place.root} ${zone}`;
    const before = known.get(key);
    if (before !== undefined) return before;
    const access: ResolvedAccess = { resource: { kind: "file", path: place.path }, effect: "read", target: { place, zone } };
    const requests = requestsOf(caller, tool, [access], nowMs, NO_DEMANDS);
    const decided = evaluateRequests(policy, tool, requests);
    const allowed = decided.ok && decided.value.obligations.length === 0;
    if (!policy.looksAtPath(requests[0])) known.set(key, allowed);
    return allowed;
  };
}

/** Judges an artifact through which content was found that was asked for by its hash: it must be allowed outright. */
export function judgeArtifactBy(policy: PolicyEngine, caller: Judged, tool: Tool, nowMs: number): (id: string) => boolean {
  return (id) => {
    const access: ResolvedAccess = { resource: { kind: "artifact", id }, effect: "read" };
    const decided = evaluateAccesses(policy, caller, tool, [access], nowMs, NO_DEMANDS);
    return decided.ok && decided.value.obligations.length === 0 && admits(caller.lease.scope, "artifacts", id);
  };
}

/** Judges a file that a call came by while it ran; `action` as the access would have named it. */
export function judgeFile(
  policy: PolicyEngine,
  caller: Judged,
  tool: Tool,
  place: WorkspacePath,
  effect: "read" | "write",
  nowMs: number,
  action?: string,
  call = "",
): Denial | undefined {
  const zone = zoneNow(caller.place, place, effect);
  const resource = { kind: "file", path: place.path } as const;
  const access: ResolvedAccess = { resource, effect, target: { place, zone }, ...(action !== undefined && { action }) };
  const decided = evaluateAccesses(policy, caller, tool, [access], nowMs, NO_DEMANDS, call);
  if (!decided.ok) return decided.denial;
  const [due] = decided.value.obligations;
  if (due === undefined) return undefined;
  return {
    layer: "approval",
    reason: "tool_approval_required",
    ruleId: due.ruleId,
    message: `the path leads to \`${place.path}\`, which needs approval by rule \`${due.ruleId}\`; name that file directly`,
    targetPath: place.path,
  };
}

/** The resource of an access as policy sees it. */
export function policyResource(access: ResolvedAccess): PolicyResource {
  if (access.resource.kind !== "file") return access.resource;
  const place = access.target?.place;
  return { kind: "file", path: place?.path ?? access.resource.path, root: place?.root ?? "service", zone: access.target?.zone ?? "secret" };
}

/** One access as policy is asked about it; `demands` are those of the whole call. */
export function policyRequest(
  caller: Pick<Judged, "session" | "mark" | "armed">,
  tool: ToolFacts,
  effect: PolicyRequest["effect"],
  resource: PolicyResource,
  nowMs: number,
  demands: Demands,
  carriesSecret = false,
  call = "",
): PolicyRequest {
  const { session, mark, armed } = caller;
  return {
    principal: {
      sessionId: session.id,
      workspace: session.serviceRoot,
      agent: session.agentId,
      user: session.userId,
      role: session.role,
      mode: session.mode,
    },
    action: tool.action ?? tool.name,
    tool: tool.name,
    effect,
    resource,
    context: {
      armed,
      trust: mark.trustLevel,
      dataClass: mark.dataClass,
      network: effect === "network" || resource.kind === "host",
      time: Math.floor(nowMs / 1000),
      call,
    },
    capabilityObligations: obligationsOf(tool, mark, { resource, effect, carriesSecret }, demands),
  };
}

/** Obligations that policy does not impose but may waive: those of the tool, for the call and for this host, and those of flow control. */
function obligationsOf(tool: ToolFacts, mark: Mark, access: FlowAccess, demands: Demands): readonly CapabilityObligation[] {
  const flow = flowObligations(mark, tool.capability, access);
  const host = hostDemand(tool, access.resource);
  if (flow.length === 0 && host === undefined) return demands;
  return host === undefined ? [...demands, ...flow] : [...demands, host, ...flow];
}

/** Tools that have a variant of their own on the wire are named by it in reasons (CTR-0027). */
const WIRE_NAMES: Readonly<Record<string, WireVariant>> = {
  read_file: "file_read",
  write_file: "file_write",
  edit_file: "file_edit",
  shell: "shell_exec",
  git: "git_op",
  inference: "inference",
  artifact_publish: "artifact_publish",
};

function decide(tool: ToolFacts, request: PolicyRequest, verdict: PolicyVerdict): Verdict<Decided> {
  if (verdict.decision === "allow") return allow({ permits: verdict.permits, obligations: verdict.obligations });
  return deny({
    layer: "policy",
    reason: verdict.rationale ?? `${WIRE_NAMES[tool.name] ?? tool.name}_denied`,
    ruleId: verdict.ruleId,
    message: verdict.message ?? `no policy allows \`${tool.name}\` here; ask the operator whether it should`,
    fix: fixOf(request, verdict),
    ...(request.resource.kind === "command" && { command: request.resource.line }),
  });
}

/** Names nothing that the call did not name itself: the resource lies in the scope, or policy would not have been asked. */
function fixOf(request: PolicyRequest, verdict: PolicyDeny): string {
  if (verdict.cause === "error")
    return "the operator corrects the policy, which `handrail policy check` and `handrail policy explain` judge";
  if (verdict.cause === "forbid")
    return `no permit lifts the rule \`${verdict.ruleId}\`; do it another way, or ask the operator about that rule`;
  const resource = resourceId(request.resource).slice(0, FIX_RESOURCE_CHARACTERS_MAX).toWellFormed();
  return `an operator's permit for the role \`${request.principal.role}\`, the action \`${request.action}\` and the resource \`${resource}\` with the effect \`${request.effect}\`; \`handrail policy explain\` prints it`;
}
