/**
 * Why a call would be allowed or denied: the same stages as the pipeline, up to policy, with nothing executed and
 * nothing recorded.
 */
import type { ToolCall } from "../model/call.ts";
import type { Denial } from "../model/decision.ts";
import { type Explanation, explain } from "../policy/explain.ts";
import type { Authenticated } from "../session/session.ts";
import { analyse } from "./analyse.ts";
import { policyRequest, policyResource } from "./decide.ts";
import type { KernelParts } from "./parts.ts";
import { checkMasterGate, checkScope } from "./scope.ts";

/** The explanation of one call: the denial of an earlier stage, or what policy says of each access. */
export interface CallExplanation {
  readonly tool: string;
  readonly denial?: Denial;
  readonly accesses: readonly { readonly resource: string; readonly effect: string; readonly policy: Explanation }[];
}

/** Explains a call under a session and a lease. */
export async function explainCall(
  parts: KernelParts,
  who: Authenticated,
  tool: string,
  args: Readonly<Record<string, unknown>>,
): Promise<CallExplanation> {
  const nowMs = parts.clock.nowMs();
  const gate = checkMasterGate(parts.settings, tool);
  if (!gate.ok) return { tool, denial: gate.denial, accesses: [] };
  const caller = { ...who, place: await parts.workspaces.open(who.session) };
  const call: ToolCall = { requestId: "", sessionToken: "", dedupeKey: "", tool, arguments: args, variant: "call", reply: "result" };
  const analysed = analyse(parts.registry, call, {});
  if (!analysed.ok) return { tool, denial: analysed.denial, accesses: [] };
  const scoped = checkScope(caller, analysed.value.tool, analysed.value.accesses, nowMs);
  if (!scoped.ok) return { tool, denial: scoped.denial, accesses: [] };
  const engine = await parts.policy(who.session.preset);
  const accesses = scoped.value.map((access) => ({
    resource: access.target?.place.path ?? tool,
    effect: access.effect,
    policy: explain(engine, policyRequest(caller, analysed.value.tool, access.effect, policyResource(access), nowMs)),
  }));
  return { tool, accesses };
}
