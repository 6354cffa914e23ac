/**
 * Policy for a call: every access is evaluated, one denial denies the call, and the obligations of all add up.
 */

import type { ImposedObligation } from "../approval/approval.ts";
import type { WorkspacePath } from "../model/access.ts";
import type { WireVariant } from "../model/call.ts";
import { allow, type Denial, deny, type Verdict } from "../model/decision.ts";
import type { Tool } from "../model/tool.ts";
import type { PolicyEngine } from "../policy/policy.ts";
import type { CapabilityObligation, PolicyRequest, PolicyResource } from "../policy/request.ts";
import type { PolicyVerdict } from "../policy/verdict.ts";
import type { PolicyJudge } from "./run.ts";
import type { Caller, ResolvedAccess } from "./trail.ts";

/** What policy allowed: the permits that matched, and what must happen first. */
export interface Decided {
  readonly permits: readonly string[];
  readonly obligations: readonly ImposedObligation[];
}

/** Evaluates every access; a call that names none is judged as its tool. */
export function evaluateAccesses(
  policy: PolicyEngine,
  caller: Caller,
  tool: Tool,
  accesses: readonly ResolvedAccess[],
  nowMs: number,
): Verdict<Decided> {
  const [only, ...more] = accesses.map((access) => evaluateOne(policy, caller, tool, access, nowMs));
  if (only === undefined) return decide(tool, evaluateTool(policy, caller, tool, nowMs));
  if (more.length === 0) return decide(tool, only);
  const permits = new Set<string>();
  const obligations: ImposedObligation[] = [];
  for (const verdict of [only, ...more]) {
    const decided = decide(tool, verdict);
    if (!decided.ok) return decided;
    for (const permit of decided.value.permits) permits.add(permit);
    obligations.push(...decided.value.obligations);
  }
  return allow({ permits: [...permits].sort(), obligations });
}

/** Judges a file that turned out, when opened, to be another one than the path said: it must be allowed outright. */
export function judgeByPolicy(policy: PolicyEngine, caller: Caller, tool: Tool, nowMs: number): PolicyJudge {
  return (place, effect) => judgeFile(policy, caller, tool, place, effect, nowMs);
}

function judgeFile(
  policy: PolicyEngine,
  caller: Caller,
  tool: Tool,
  place: WorkspacePath,
  effect: "read" | "write",
  nowMs: number,
): Denial | undefined {
  const zone = caller.place.workspace.zones.classify(place);
  const access: ResolvedAccess = { resource: { kind: "file", path: place.path }, effect, target: { place, zone } };
  const decided = decide(tool, evaluateOne(policy, caller, tool, access, nowMs));
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

function evaluateOne(policy: PolicyEngine, caller: Caller, tool: Tool, access: ResolvedAccess, nowMs: number): PolicyVerdict {
  return policy.evaluate(policyRequest(caller, tool, access.effect, policyResource(access), nowMs));
}

function evaluateTool(policy: PolicyEngine, caller: Caller, tool: Tool, nowMs: number): PolicyVerdict {
  return policy.evaluate(policyRequest(caller, tool, tool.capability.effect, { kind: "tool", name: tool.name }, nowMs));
}

/** The resource of an access as policy sees it. */
export function policyResource(access: ResolvedAccess): PolicyResource {
  if (access.resource.kind !== "file") return access.resource;
  const place = access.target?.place;
  return { kind: "file", path: place?.path ?? access.resource.path, root: place?.root ?? "service", zone: access.target?.zone ?? "secret" };
}

/** One access as policy is asked about it. */
export function policyRequest(
  caller: Caller,
  tool: Tool,
  effect: PolicyRequest["effect"],
  resource: PolicyResource,
  nowMs: number,
): PolicyRequest {
  const { session } = caller;
  return {
    principal: {
      sessionId: session.id,
      workspace: session.serviceRoot,
      agent: session.agentId,
      user: session.userId,
      role: session.role,
      mode: session.mode,
    },
    action: tool.name,
    tool: tool.name,
    effect,
    resource,
    context: { armed: false, trust: "user", dataClass: "internal", network: false, time: Math.floor(nowMs / 1000) },
    capabilityObligations: capabilityObligations(tool),
  };
}

const NONE: readonly CapabilityObligation[] = [];

function capabilityObligations(tool: Tool): readonly CapabilityObligation[] {
  const { approval, requiresArming } = tool.capability;
  if (approval.level === "auto" && requiresArming !== true) return NONE;
  const ruleId = `CAPABILITY:${tool.name}`;
  const due: CapabilityObligation[] = [];
  if (approval.level !== "auto") due.push({ obligation: "ask", ruleId });
  if (requiresArming === true) due.push({ obligation: "arm", ruleId });
  return due;
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

function decide(tool: Tool, verdict: PolicyVerdict): Verdict<Decided> {
  if (verdict.decision === "allow") return allow({ permits: verdict.permits, obligations: verdict.obligations });
  return deny({
    layer: "policy",
    reason: verdict.rationale ?? `${WIRE_NAMES[tool.name] ?? tool.name}_denied`,
    ruleId: verdict.ruleId,
    message: verdict.message ?? `no policy allows \`${tool.name}\` here; ask the operator whether it should`,
    fix: "`handrail policy explain` names the narrowest permit that would allow it",
  });
}
