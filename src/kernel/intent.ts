/** Intent before effect: what is about to happen is durable before it happens. */
import type { Clock } from "../base/clock.ts";

import type { Kernel } from "./answer/kernel.ts";
import type { CallDocuments, Granted } from "./call/stages.ts";

/** Milliseconds after which a store's answer counts as a wait, so that what allowed the call is looked at again. */
const SLOW_STORE_MS = 2;

/**
 * Whether what allowed a call that waited may have changed meanwhile: a person was asked, or a store took its time.
 * Whatever has an intent is looked at again in any case, because recording that takes time.
 */
export function mustRecheck(clock: Clock, { holdings, decidedAtMs }: Granted): boolean {
  return holdings.approval !== undefined || clock.monotonicMs() - decidedAtMs >= SLOW_STORE_MS;
}

/** What stands before an effect: its intent, and under which hashes the call is kept, where it is. */
export interface Announced {
  /** Sequence of the intent. */
  readonly intent: number;
  /** Resolves once the documents of the call, where they are kept, are durable and recorded, else rejects. */
  readonly documents: Promise<CallDocuments> | undefined;
}

/**
 * Begins the claim of a call with an effect and records its intent, with its documents kept before. The intent stands
 * although documents fail to become durable: whoever ends the call closes it.
 */
export async function recordIntent({ evidence, documents }: Kernel, granted: Granted): Promise<Announced> {
  const facts = evidence.factsOf(granted);
  const kept = documents.wants(granted) ? await documents.call(granted, facts) : undefined;
  await granted.holdings.claim?.begin();
  const recorded = evidence.intent(granted, facts);
  const written = kept && evidence.written("tool_call_written", granted, kept).then(() => kept.hashes);
  written?.catch(() => undefined); // whoever waits for it is told
  return { intent: await recorded, documents: written };
}
