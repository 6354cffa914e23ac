/** Tells observers what became of a call, in the kernel's own words alone. */

import type { CallResponse } from "../../model/tool/call.ts";
import type { CallObserver } from "../../model/tool/observation.ts";
import type { Known } from "../call/stages.ts";
import type { StageTimes } from "./stage-times.ts";

/** Tells each observer once. INVARIANT: a tool's name is that of a registered tool, so that callers choose no names. */
export function tellOf(
  observers: Iterable<CallObserver>,
  { tool, run }: Known,
  { response, times }: { readonly response: CallResponse; readonly times: StageTimes },
): void {
  times.end("answer");
  const { outcome, durationMs } = response;
  const observation = {
    ...(tool !== undefined && { tool: tool.name, effect: tool.capability.effect }),
    outcome: outcome.kind,
    ...(outcome.kind === "denied" && { layer: outcome.denial.layer, error: outcome.denial.reason }),
    ...(outcome.kind === "error" && { error: outcome.code.toLowerCase() }),
    ran: run?.hasBegun === true,
    durationMs,
    stages: times.times,
  };
  for (const observer of observers) observer(observation);
}
