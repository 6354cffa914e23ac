/**
 * Computes the obligations of an allowed call.
 *
 * The obligations of every permit that matched and those of the tool's capability add up. Then the waivers of the
 * permits that matched lift the obligations that they name.
 *
 * INVARIANT: a waiver lifts obligations and nothing else. It is only looked at once no forbid matched.
 */
import { waives } from "../compile/annotations.ts";
import type { CompiledPolicy } from "../compile/compile.ts";
import type { CapabilityObligation } from "../terms/request.ts";
import type { DueObligation, PolicyAllow, WaivedObligation } from "../terms/verdict.ts";

/** The verdict that allows by `permits`, which all matched and are sorted by id. */
export function allowVerdict(
  permits: readonly CompiledPolicy[],
  capability: readonly CapabilityObligation[],
): PolicyAllow {
  const asked = new Map<string, DueObligation>();
  const add = (due: DueObligation) => {
    const key = `${due.obligation}\n${due.ruleId}`;
    if (!asked.has(key)) asked.set(key, due);
  };
  for (const permit of permits) {
    for (const { obligation, reason } of permit.obligations) add({ obligation, ruleId: permit.id, reason });
  }
  for (const { obligation, ruleId, reason = "" } of capability) add({ obligation, ruleId, reason });
  const obligations: DueObligation[] = [];
  const waived: WaivedObligation[] = [];
  for (const due of asked.values()) {
    const waiver = permits.find((permit) => permit.waives.some((pattern) => waives(pattern, due.ruleId)));
    if (waiver === undefined) obligations.push(due);
    else waived.push({ ...due, waivedBy: waiver.id });
  }
  return { decision: "allow", permits: permits.map((permit) => permit.id), obligations, waived };
}
