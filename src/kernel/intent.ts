/** Intent before effect: what is about to happen is durable before it happens. */
import type { Verdict } from "../model/decision.ts";
import type { PolicyEngine } from "../policy/policy.ts";
import type { Evidence } from "./evidence.ts";
import type { KernelParts } from "./parts.ts";
import { recheck } from "./recheck.ts";
import type { Trail } from "./trail.ts";

/** Begins the call's claim and records its intent, if it has an effect; what allowed it is looked at again, because that or something before took time. */
export async function recordIntent(
  parts: KernelParts,
  evidence: Evidence,
  trail: Trail,
  decidedBy: PolicyEngine,
): Promise<Verdict<undefined>> {
  if (trail.tool?.capability.effect !== "read") {
    await trail.claim?.begin();
    trail.intent = await evidence.intent(trail);
  }
  return recheck(parts, trail, decidedBy);
}
