/**
 * Explains why a call would be allowed or denied.
 *
 * It goes through the same stages as the pipeline, up to flow control, with nothing executed and nothing recorded.
 * Another policy, other zones or other switches may be assumed, to try a change out.
 */
import { judgeFlow } from "../../../flow/flow.ts";
import type { Denial } from "../../../model/outcome/decision.ts";
import type { ObeyedFile } from "../../../model/place/obeyed-files/obeyed-file.ts";
import { obeyedBy } from "../../../model/place/obeyed-files/obeyed-files.ts";
import type { Workspace } from "../../../model/place/workspace.ts";
import type { Zone } from "../../../model/place/zone.ts";
import { type Explanation, explain } from "../../../policy/explain.ts";
import type { PolicyEngine } from "../../../policy/policy.ts";
import type { PolicyRequest } from "../../../policy/terms/request.ts";
import { resourceId } from "../../../policy/terms/vocabulary.ts";
import type { Authenticated } from "../../../session/session.ts";
import type { KernelParts, KernelSettings } from "../../call/parts.ts";
import type { Judged } from "../../call/stages.ts";
import { WorkspaceLook } from "../../call/workspace-look.ts";
import { withDeletionDemands } from "../../keeping/deletion.ts";
import type { CallRedaction } from "../../redaction/redaction.ts";
import { analyse, findTool } from "../analyse.ts";
import { isArmed, markOf } from "../caller.ts";
import { requestsOf } from "../decide.ts";
import { checkMasterGate, withGateDemands } from "../gates.ts";
import { checkScope } from "../scope.ts";
import { markSecrets } from "../secret-writes.ts";
import { wholeCall } from "../whole-call.ts";
import { imaginedToolCall } from "./imagine.ts";

/** One access and what policy says of it. */
export interface ExplainedAccess {
  /** The path of a file; the name of anything else. */
  readonly resource: string;
  readonly effect: string;
  /** Where a file lies. */
  readonly zone?: Zone;
  /** Which parts of a command mark it as dangerous. */
  readonly reasons?: readonly string[];
  /** Who obeys it, and why that matters, of a protected file on the list of obeyed files. */
  readonly obeyed?: ObeyedFile;
  readonly policy: Explanation;
  /** What policy was asked. */
  readonly request: PolicyRequest;
}

/** The explanation of one call: the denial of another stage, and what policy says of each access if it was asked. */
export interface CallExplanation {
  readonly tool: string;
  readonly denial?: Denial;
  readonly accesses: readonly ExplainedAccess[];
  /** Whether calls of the session that need arming may run. */
  readonly armed: boolean;
}

/** What may be assumed otherwise than it is. */
export interface Assumptions {
  readonly settings?: KernelSettings;
  readonly disabledTools?: ReadonlySet<string>;
  readonly workspace?: Workspace;
  readonly policy?: PolicyEngine;
  readonly armed?: boolean;
}

/** The explanation as it may be printed: what it repeats of the call is redacted. */
export function redactedExplanation(explanation: CallExplanation, redaction: CallRedaction): CallExplanation {
  const { tool, denial, accesses, armed } = explanation;
  return {
    armed,
    tool: redaction.text(tool),
    ...(denial && { denial: redaction.denial(denial) }),
    accesses: accesses.map((access) => ({ ...access, resource: redaction.text(access.resource) })),
  };
}

/** A call that is to be explained. */
export interface ExplainedCall {
  readonly who: Authenticated;
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly assuming?: Assumptions | undefined;
}

/**
 * Explains a call under a session and a lease. The session's token, which only a call brings along, is no secret here.
 */
export async function explainCall(
  parts: KernelParts,
  redaction: CallRedaction,
  explained: ExplainedCall,
): Promise<CallExplanation> {
  const { who, tool: name, args, assuming = {} } = explained;
  const nowMs = parts.clock.nowMs();
  const armed = assuming.armed ?? (await isArmed(parts, who.session));
  const settings = assuming.settings ?? parts.settings;
  const gate = checkMasterGate(settings, name);
  if (!gate.ok) return { tool: name, denial: gate.denial, accesses: [], armed };
  const open = await parts.workspaces.open(who.session);
  const caller: Judged = {
    ...who,
    place: {
      ...open,
      workspace: assuming.workspace ?? open.workspace,
      disabledTools: assuming.disabledTools ?? open.disabledTools,
    },
    gates: settings.gates,
    mark: await markOf(parts, who.session),
    armed,
    isSandboxed: parts.sandbox.backend() !== "none",
  };
  const call = imaginedToolCall(name, args);
  await parts.registry.prepare(name);
  const refused = (denial: Denial): CallExplanation => ({ tool: name, denial, accesses: [], armed });
  const found = findTool(parts.registry, caller.gates, name);
  if (!found.ok) return refused(found.denial);
  const tool = found.value;
  const analysed = analyse(tool, call, new WorkspaceLook(caller.place));
  if (!analysed.ok) return refused(analysed.denial);
  const scoped = checkScope({ caller, tool, nowMs }, analysed.value);
  if (!scoped.ok) return refused(scoped.denial);
  const engine = assuming.policy ?? (await parts.policy(who.session.preset));
  const deleting = { caller, tool, accesses: scoped.value };
  const asked = await withDeletionDemands(parts, deleting, analysed.value.demands);
  const demands = withGateDemands(caller, tool.name, asked);
  const marked = markSecrets(redaction, { tool, call }, scoped.value);
  const question = { caller, tool, nowMs, demands, call: wholeCall(tool, marked, args) };
  const accesses = requestsOf(question, marked).map((request): ExplainedAccess => {
    const { resource, effect } = request;
    const isFile = resource.kind === "file";
    const obeyed = isFile && resource.zone === "protected" ? obeyedBy(resource.path) : undefined;
    return {
      resource: isFile ? resource.path : resourceId(resource),
      effect,
      ...(isFile && { zone: resource.zone }),
      ...(resource.kind === "command" && resource.reasons !== undefined && { reasons: resource.reasons }),
      ...(obeyed && { obeyed }),
      policy: explain(engine, request),
      request,
    };
  });
  // As in the pipeline: flow control looks at what policy allows.
  const isAllowed = accesses.every(({ policy }) => policy.verdict.decision === "allow");
  const flow = isAllowed ? judgeFlow(caller.mark, tool.capability, marked) : undefined;
  return flow === undefined || flow.ok
    ? { tool: name, accesses, armed }
    : { tool: name, denial: flow.denial, accesses, armed };
}
