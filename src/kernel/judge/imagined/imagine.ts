/**
 * Decides a call that nobody makes as a real one would be decided.
 *
 * It serves examples beside a policy, the replay of recorded calls, and trying a change out before it is recommended.
 * Pure but for what the parts read: nothing runs and nothing is recorded.
 *
 * INVARIANT: the decisions are the pipeline's own functions, so an imagined call is decided as a real one would be.
 */
import { judgeFlow } from "../../../flow/flow.ts";
import type { Verdict } from "../../../model/outcome/decision.ts";
import type { ToolCall } from "../../../model/tool/call.ts";
import type { PolicyEngine } from "../../../policy/policy.ts";
import type { Redactor } from "../../../redact/redact.ts";
import type { Judged, Ruling } from "../../call/stages.ts";
import { WorkspaceLook } from "../../call/workspace-look.ts";
import type { ToolRegistry } from "../../declared/registry.ts";
import { CallRedaction } from "../../redaction/redaction.ts";
import { analyse, findTool } from "../analyse.ts";
import { evaluateAccesses, evaluateRequests } from "../decide.ts";
import { withGateDemands } from "../gates.ts";
import { checkScope } from "../scope.ts";
import { markSecrets } from "../secret-writes.ts";
import { wholeCall } from "../whole-call.ts";
import { type ImaginedUse, imagineRequests } from "./imagine-requests.ts";

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

/** The call as its caller would have sent it. */
export function imaginedToolCall(tool: string, args: ToolCall["arguments"]): ToolCall {
  return {
    requestId: "",
    sessionToken: "",
    dedupeKey: "",
    tool,
    arguments: args,
    variant: "call",
    reply: "result",
  };
}

/**
 * What would be decided, by the pipeline's stages from analysis to flow control: what policy allowed, or the denial.
 */
export function imagineCall({
  registry,
  policy,
  redactor,
  caller,
  tool: name,
  args,
  nowMs,
}: ImaginedCall): Verdict<Ruling> {
  const call = imaginedToolCall(name, args);
  const found = findTool(registry, caller.gates, name);
  if (!found.ok) return found;
  const tool = found.value;
  const analysed = analyse(tool, call, new WorkspaceLook(caller.place));
  if (!analysed.ok) return analysed;
  const scoped = checkScope({ caller, tool, nowMs }, analysed.value);
  if (!scoped.ok) return scoped;
  const accesses = markSecrets(new CallRedaction(redactor), { tool, call }, scoped.value);
  const demands = withGateDemands(caller, tool.name, analysed.value.demands);
  const decided = evaluateAccesses(
    { policy, caller, tool, nowMs, demands, call: wholeCall(tool, accesses, args) },
    accesses,
  );
  if (!decided.ok) return decided;
  const flow = judgeFlow(caller.mark, tool.capability, accesses);
  return flow.ok ? decided : flow;
}

/** What policy alone would decide about accesses that are already known. */
export function imagineAccesses(policy: PolicyEngine, imagined: ImaginedUse): Verdict<Ruling> {
  return evaluateRequests(policy, imagined.tool, imagineRequests(imagined));
}
