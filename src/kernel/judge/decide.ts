/**
 * Policy for a call: every access is evaluated, one denial denies the call, and the obligations of all add up.
 *
 * What turns up while a call runs is judged without the demands of the call as a whole, which were met before it began.
 */

import type { ImposedObligation } from "../../approval/approval.ts";
import { type FlowAccess, flowObligations } from "../../flow/flow.ts";
import { allow, type Denial, deny, type Verdict } from "../../model/outcome/decision.ts";
import type { Mark } from "../../model/outcome/label.ts";
import type { Resource, WorkspacePath } from "../../model/place/access.ts";
import { wordsOfCommand } from "../../model/place/command.ts";
import { lookUpsOf } from "../../model/place/look-ups.ts";
import type { WireVariant } from "../../model/tool/call.ts";
import type { Tool } from "../../model/tool/tool.ts";
import { admits } from "../../policy/lease-scope.ts";
import type { PolicyEngine } from "../../policy/policy.ts";
import type { CapabilityObligation, PolicyRequest, PolicyResource } from "../../policy/terms/request.ts";
import type { PolicyDeny, PolicyVerdict } from "../../policy/terms/verdict.ts";
import { resourceId } from "../../policy/terms/vocabulary.ts";
import type { ArtifactJudge, PolicyJudge, TreeJudge } from "../call/judges.ts";
import type { Judged, ResolvedAccess, Ruling } from "../call/stages.ts";
import { type Demands, hostDemand, NO_DEMANDS } from "../declared/capability-obligations.ts";
import { zoneNow } from "./zone-now.ts";

/** As much of a resource's name as a fix repeats: a long one is known to whoever sent it. */
const FIX_RESOURCE_CHARACTERS_MAX = 256;

/** What decisions look at of a tool, and which of its actions it is about; its name when absent. */
export type ToolFacts = Pick<Tool, "name" | "capability"> & { readonly action?: string };

/** What is asked about: a caller's use of a tool, at a time. */
export interface Question<C = Judged> {
  readonly caller: C;
  readonly tool: ToolFacts;
  readonly nowMs: number;
  /** What the tool's capability and the operator's gates ask of the whole call; nothing when absent. */
  readonly demands?: Demands;
  /** The call's name (`wholeCall`); without it no permit for this very call holds. */
  readonly call?: string;
  /** Whether the call is contained; seen from all of its accesses when absent. */
  readonly contained?: boolean;
  /** Whether its commands only look something up; seen from all of its accesses when absent. */
  readonly lookUp?: boolean;
}

/** The same with whom is asked. */
export interface PolicyQuestion extends Question {
  readonly policy: PolicyEngine;
}

/** Evaluates every access; a call that names none is judged as its tool. */
export function evaluateAccesses(question: PolicyQuestion, accesses: readonly ResolvedAccess[]): Verdict<Ruling> {
  return evaluateRequests(question.policy, question.tool, requestsOf(question, accesses));
}

/** What policy is asked about a call: each access, or the tool itself when there is none. */
export function requestsOf(
  question: Question,
  accesses: readonly ResolvedAccess[],
): readonly [PolicyRequest, ...PolicyRequest[]] {
  const { caller, tool, contained = isContained(caller, tool, accesses), lookUp = looksUp(accesses) } = question;
  const [only, ...more] = accesses.map((access) => {
    const request = policyRequest(
      { ...question, contained, lookUp, tool: actingAs(tool, access.action) },
      { ...access, resource: policyResource(access) },
    );
    return restricted(caller, access, request);
  });
  if (only !== undefined) return [only, ...more];
  const asked = { ...question, contained, lookUp };
  return [policyRequest(asked, { effect: tool.capability.effect, resource: { kind: "tool", name: tool.name } })];
}

/**
 * Whether a call that makes `accesses` does what it does in a sandbox that reaches nothing: then no text of it, however
 * odd, does more than its effects show, which are judged before they land.
 */
export function isContained(
  { isSandboxed = false }: Pick<Judged, "isSandboxed">,
  { capability }: Pick<ToolFacts, "capability">,
  accesses: readonly ResolvedAccess[],
): boolean {
  if (!isSandboxed || capability.effect !== "exec") return false;
  return !accesses.some(({ effect, resource }) => effect === "network" || resource.kind === "host");
}

/** Whether the commands among `accesses` are look-ups, and all of them are. */
export function looksUp(accesses: readonly { readonly resource: Resource }[]): boolean {
  const commands = accesses.flatMap(({ resource }) => (resource.kind === "command" ? [resource] : []));
  return commands.length > 0 && lookUpsOf(commands) !== undefined;
}

/** `tool` as the one of its actions that an access is part of. */
export function actingAs(tool: ToolFacts, action: string | undefined): ToolFacts {
  return action === undefined ? tool : { name: tool.name, capability: tool.capability, action };
}

/**
 * A workspace may want to be asked about its files, and a link that leads out of it shows what no zone is of. Policy
 * does not see that in their zone, and may waive it.
 */
function restricted(caller: Judged, access: ResolvedAccess, request: PolicyRequest): PolicyRequest {
  const { effect, target } = access;
  if (effect === "read" || target === undefined) return request;
  const isProtected = caller.place.workspace.zones.restriction(target.place) === "protected";
  const asking = [
    ...(isProtected ? [WORKSPACE_ASKS] : []),
    ...(access.arguments?.["outside"] === true ? [LINK_ASKS] : []),
    ...(access.arguments?.["opens"] === true ? [OPENING_ASKS] : []),
    ...(access.arguments?.["lost"] === true ? [LOSS_ASKS] : []),
  ];
  if (asking.length === 0) return request;
  return { ...request, capabilityObligations: [...(request.capabilityObligations ?? []), ...asking] };
}

const OPENING_ASKS: CapabilityObligation = {
  obligation: "ask",
  ruleId: "COMMIT:open",
  reason: "every user of the machine could write it afterwards",
};

const LOSS_ASKS: CapabilityObligation = {
  obligation: "ask",
  ruleId: "COMMIT:unrecoverable",
  reason: "what is removed is too much to be kept, and cannot be brought back",
};

const LINK_ASKS: CapabilityObligation = { obligation: "ask", ruleId: "LINK:outside" };

const WORKSPACE_ASKS: CapabilityObligation = { obligation: "ask", ruleId: "WORKSPACE:protected" };

/** Evaluates the requests of one call: one denial denies it, obligations add up. */
export function evaluateRequests(
  policy: PolicyEngine,
  tool: ToolFacts,
  [only, ...more]: readonly [PolicyRequest, ...PolicyRequest[]],
): Verdict<Ruling> {
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
export function judgeByPolicy(question: PolicyQuestion): PolicyJudge {
  return (place, effect) => judgeFile(question, { place, effect });
}

/** Judges the files of a tree; asks policy once for each zone where it does not look at paths. */
export function judgeTreeByPolicy(question: PolicyQuestion): TreeJudge {
  const { policy, tool } = question;
  const known = new Map<string, boolean>();
  return (place, zone) => {
    const key = `${place.root} ${zone}`;
    const before = known.get(key);
    if (before !== undefined) return before;
    const access: ResolvedAccess = {
      resource: { kind: "file", path: place.path },
      effect: "read",
      target: { place, zone },
    };
    const requests = requestsOf(question, [access]);
    const decided = evaluateRequests(policy, tool, requests);
    const allowed = decided.ok && decided.value.obligations.length === 0;
    if (!policy.looksAtPath(requests[0])) known.set(key, allowed);
    return allowed;
  };
}

/** Judges an artifact through which content was found that was asked for by its hash: it must be allowed outright. */
export function judgeArtifactBy(question: PolicyQuestion & { readonly tool: Pick<Tool, "actions"> }): ArtifactJudge {
  const isOwnAction = question.tool.actions?.[FETCH] !== undefined;
  return (id) => {
    const access: ResolvedAccess = {
      resource: { kind: "artifact", id },
      effect: "read",
      ...(isOwnAction && { action: FETCH }),
    };
    const decided = evaluateAccesses(question, [access]);
    return decided.ok && decided.value.obligations.length === 0 && admits(question.caller.lease.scope, "artifacts", id);
  };
}

/** The action that reads content, also where another tool reads some to send it. */
const FETCH = "artifact_fetch";

/** A file that a call came by while it ran. */
export interface MetFile {
  readonly place: WorkspacePath;
  readonly effect: "read" | "write";
  /** As the access would have named it. */
  readonly action?: string | undefined;
}

/** Judges a file that a call came by while it ran. */
export function judgeFile(question: PolicyQuestion, { place, effect, action }: MetFile): Denial | undefined {
  const zone = zoneNow(question.caller.place, place, effect);
  const resource = { kind: "file", path: place.path } as const;
  const access: ResolvedAccess = { resource, effect, target: { place, zone }, ...(action !== undefined && { action }) };
  const denial = unlessOutright(
    question,
    access,
    (ruleId) =>
      `the path leads to \`${place.path}\`, which needs approval by rule \`${ruleId}\`; name that file directly`,
  );
  return denial?.layer === "approval" ? { ...denial, targetPath: place.path } : denial;
}

/** Why an access is not allowed outright; `message` is what is said where somebody would have to be asked. */
function unlessOutright(
  question: PolicyQuestion,
  access: ResolvedAccess,
  message: (ruleId: string) => string,
): Denial | undefined {
  const decided = evaluateAccesses(question, [access]);
  if (!decided.ok) return decided.denial;
  const [due] = decided.value.obligations;
  if (due === undefined) return undefined;
  const { ruleId } = due;
  return { layer: "approval", reason: "tool_approval_required", ruleId, message: message(ruleId) };
}

/** Judges a host that a call was led on to: it must be allowed outright. */
export function judgeHost(question: PolicyQuestion, host: string, port: number): Denial | undefined {
  const access: ResolvedAccess = { resource: { kind: "host", host, port }, effect: "network" };
  return unlessOutright(
    question,
    access,
    (ruleId) =>
      `the answer leads on to \`${host}:${port}\`, which needs approval by rule \`${ruleId}\`; ask for that address by a call of its own`,
  );
}

/** The resource of an access as policy sees it. */
export function policyResource(access: ResolvedAccess): PolicyResource {
  if (access.resource.kind !== "file") return access.resource;
  const place = access.target?.place;
  return {
    kind: "file",
    path: place?.path ?? access.resource.path,
    root: place?.root ?? "service",
    zone: access.target?.zone ?? "secret",
  };
}

/** An access as policy sees it: its resource has its canonical name. */
export type PolicyAccess = Pick<PolicyRequest, "effect" | "resource" | "arguments"> & {
  readonly carriesSecret?: boolean;
  readonly sendsNothing?: boolean;
};

/** What policy is asked about one access. */
export function policyRequest(
  {
    caller,
    tool,
    nowMs,
    demands = NO_DEMANDS,
    call = "",
    contained = false,
    lookUp = false,
  }: Question<Pick<Judged, "session" | "mark" | "armed">>,
  { effect, resource, carriesSecret = false, sendsNothing = false, arguments: given }: PolicyAccess,
): PolicyRequest {
  const { session, mark, armed } = caller;
  const onBranch = isOnBranch(session);
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
    ...(given && { arguments: given }),
    context: {
      armed,
      trust: mark.trustLevel,
      dataClass: mark.dataClass,
      network: effect === "network" || resource.kind === "host",
      time: Math.floor(nowMs / 1000),
      call,
      onBranch,
      contained,
      lookUp,
    },
    capabilityObligations: obligationsOf({ tool, mark, demands }, { resource, effect, carriesSecret, sendsNothing }),
    ...(onBranch && staysOnBranch(effect, resource) && { isStaged: true }),
  };
}

/** Whether the session works on a branch; one that is only imagined may have none yet. */
function isOnBranch({ branchId, isBranchBound = false }: Judged["session"]): boolean {
  return branchId !== undefined || isBranchBound;
}

/** A branch holds files: what leaves the machine, changes it, or is published for every session is not kept there. */
function staysOnBranch(effect: PolicyRequest["effect"], { kind }: PolicyResource): boolean {
  return effect !== "network" && effect !== "system" && kind !== "host" && kind !== "artifact";
}

/**
 * Obligations that policy does not impose but may waive: those of the tool, for the call and for this host, and those
 * of flow control.
 */
function obligationsOf(
  { tool, mark, demands }: { readonly tool: ToolFacts; readonly mark: Mark; readonly demands: Demands },
  access: FlowAccess,
): readonly CapabilityObligation[] {
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

function decide(tool: ToolFacts, request: PolicyRequest, verdict: PolicyVerdict): Verdict<Ruling> {
  if (verdict.decision === "allow") {
    const { permits, obligations } = verdict;
    const due =
      request.isStaged === true ? obligations.filter(({ obligation }) => obligation !== "stage") : obligations;
    return allow({ permits, obligations: due });
  }
  return deny({
    layer: "policy",
    reason: verdict.rationale ?? `${WIRE_NAMES[tool.name] ?? tool.name}_denied`,
    ruleId: verdict.ruleId,
    message: verdict.message ?? `no policy allows \`${tool.name}\` here; ask the operator whether it should`,
    fix: fixOf(request, verdict),
    ...(request.resource.kind === "command" && { command: wordsOfCommand(request.resource) }),
  });
}

/**
 * Names nothing that the call did not name itself: the resource lies in the scope, or policy would not have been asked.
 */
function fixOf(request: PolicyRequest, verdict: PolicyDeny): string {
  if (verdict.cause === "error")
    return "the operator corrects the policy, which `handrail policy check` and `handrail policy explain` judge";
  if (verdict.cause === "forbid")
    return `no permit lifts the rule \`${verdict.ruleId}\`; do it another way, or ask the operator about that rule`;
  const resource = resourceId(request.resource).slice(0, FIX_RESOURCE_CHARACTERS_MAX).toWellFormed();
  return `an operator's permit for the role \`${request.principal.role}\`, the action \`${request.action}\` and the resource \`${resource}\` with the effect \`${request.effect}\`; \`handrail policy explain\` prints it`;
}
