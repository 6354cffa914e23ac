/** Intent before effect: what is about to happen is durable before it happens. */
import type { Clock } from "../base/clock.ts";

import type { Kernel } from "./answer/kernel.ts";
import type { Granted } from "./call/stages.ts";

/** Milliseconds after which a store's answer counts as a wait, so that what allowed the call is looked at again. */
const SLOW_STORE_MS = 2;

/**
 * Whether what allowed a call that waited may have changed meanwhile: a person was asked, or a store took its time.
 * Whatever has an intent is looked at again in any case, because recording that takes time.
 */
export function mustRecheck(clock: Clock, { holdings, decidedAtMs }: Granted): boolean {
  return holdings.approval !== undefined || clock.monotonicMs() - decidedAtMs >= SLOW_STORE_MS;
}

/** Begins the claim of a call with an effect and records its intent. Resolves with the sequence of the intent. */
export async function recordIntent({ evidence }: Kernel, granted: Granted): Promise<number> {
  await granted.holdings.claim?.begin();
  return evidence.intent(granted);
}
