/** Intent before effect: what is about to happen is durable before it happens. */
import type { PolicyEngine } from "../policy/policy.ts";
import type { Evidence } from "./answer/evidence.ts";
import { recheck } from "./ask/recheck.ts";
import type { Ended } from "./call/ended.ts";
import type { KernelParts } from "./call/parts.ts";
import type { Trail } from "./call/trail.ts";

/**
 * Begins the claim of a call with an effect and records its intent; what allowed the call is looked at again, because that took time. A
 * read waits for nothing here: it is looked at again only when something before kept it waiting.
 */
export function recordIntent(
  parts: KernelParts,
  evidence: Evidence,
  trail: Trail,
  decidedBy: PolicyEngine,
): undefined | Promise<Ended | undefined> {
  const isRead = trail.tool?.capability.effect === "read";
  return isRead && !trail.waited ? undefined : record(parts, evidence, trail, decidedBy, isRead);
}

async function record(
  parts: KernelParts,
  evidence: Evidence,
  trail: Trail,
  decidedBy: PolicyEngine,
  isRead: boolean,
): Promise<Ended | undefined> {
  if (!isRead) {
    await trail.claim?.begin();
    trail.intent = await evidence.intent(trail);
  }
  const still = await recheck(parts, trail, decidedBy);
  return still.ok ? undefined : { kind: "denial", denial: still.denial };
}
