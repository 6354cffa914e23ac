/**
 * Why a call would be allowed or denied: the same stages as the pipeline, up to flow control, with nothing executed and
 * nothing recorded. Another policy, other zones or other switches may be assumed, to try a change out.
 */
import { judgeFlow } from "../flow/flow.ts";
import type { ToolCall } from "../model/call.ts";
import type { Denial } from "../model/decision.ts";
import type { Workspace } from "../model/workspace.ts";
import type { Zone } from "../model/zone.ts";
import { type Explanation, explain } from "../policy/explain.ts";
import type { PolicyEngine } from "../policy/policy.ts";
import type { PolicyRequest } from "../policy/request.ts";
import { resourceId } from "../policy/vocabulary.ts";
import type { Authenticated } from "../session/session.ts";
import { analyse } from "./analyse.ts";
import { markOf } from "./caller.ts";
import { requestsOf } from "./decide.ts";
import type { KernelParts, KernelSettings } from "./parts.ts";
import type { CallRedaction } from "./redaction.ts";
import { checkMasterGate, checkScope } from "./scope.ts";
import type { Judged } from "./trail.ts";

/** One access and what policy says of it. */
export interface ExplainedAccess {
  /** The path of a file; the name of anything else. */
  readonly resource: string;
  readonly effect: string;
  /** Where a file lies. */
  readonly zone?: Zone;
  readonly policy: Explanation;
  /** What policy was asked. */
  readonly request: PolicyRequest;
}

/** The explanation of one call: the denial of another stage, and what policy says of each access if it was asked. */
export interface CallExplanation {
  readonly tool: string;
  readonly denial?: Denial;
  readonly accesses: readonly ExplainedAccess[];
}

/** What may be assumed otherwise than it is. */
export interface Assumptions {
  readonly settings?: KernelSettings;
  readonly disabledTools?: ReadonlySet<string>;
  readonly workspace?: Workspace;
  readonly policy?: PolicyEngine;
}

/** The explanation as it may be printed: what it repeats of the call is redacted. */
export function redactedExplanation(explanation: CallExplanation, redaction: CallRedaction): CallExplanation {
  const { tool, denial, accesses } = explanation;
  return {
    tool: redaction.text(tool),
    ...(denial && { denial: redaction.denial(denial) }),
    accesses: accesses.map((access) => ({ ...access, resource: redaction.text(access.resource) })),
  };
}

/** Explains a call under a session and a lease. */
export async function explainCall(
  parts: KernelParts,
  who: Authenticated,
  tool: string,
  args: Readonly<Record<string, unknown>>,
  assuming: Assumptions = {},
): Promise<CallExplanation> {
  const nowMs = parts.clock.nowMs();
  const gate = checkMasterGate(assuming.settings ?? parts.settings, tool);
  if (!gate.ok) return { tool, denial: gate.denial, accesses: [] };
  const open = await parts.workspaces.open(who.session);
  const caller: Judged = {
    ...who,
    place: { ...open, workspace: assuming.workspace ?? open.workspace, disabledTools: assuming.disabledTools ?? open.disabledTools },
    mark: await markOf(parts, who.session),
  };
  const call: ToolCall = { requestId: "", sessionToken: "", dedupeKey: "", tool, arguments: args, variant: "call", reply: "result" };
  await parts.registry.prepare(tool);
  const analysed = analyse(parts.registry, call, { caller });
  if (!analysed.ok) return { tool, denial: analysed.denial, accesses: [] };
  const scoped = checkScope(caller, analysed.value.tool, analysed.value.accesses, nowMs);
  if (!scoped.ok) return { tool, denial: scoped.denial, accesses: [] };
  const engine = assuming.policy ?? (await parts.policy(who.session.preset));
  const accesses = requestsOf(caller, analysed.value.tool, scoped.value, nowMs).map((request): ExplainedAccess => {
    const { resource, effect } = request;
    const isFile = resource.kind === "file";
    return {
      resource: isFile ? resource.path : resourceId(resource),
      effect,
      ...(isFile && { zone: resource.zone }),
      policy: explain(engine, request),
      request,
    };
  });
  // As in the pipeline: flow control looks at what policy allows.
  const isAllowed = accesses.every(({ policy }) => policy.verdict.decision === "allow");
  const flow = isAllowed ? judgeFlow(caller.mark, analysed.value.tool.capability, scoped.value) : undefined;
  return flow === undefined || flow.ok ? { tool, accesses } : { tool, denial: flow.denial, accesses };
}
