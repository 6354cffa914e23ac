/**
 * Replay protection as the pipeline meets it: whether a call with a dedupe key goes on, gets the first answer again, or
 * fails. It passed scope, policy and flow before; whatever had to wait for another call passes them once more.
 */
import { callDigest } from "../dedupe/dedupe.ts";
import type { CallResponse } from "../model/call.ts";
import type { Denial } from "../model/decision.ts";
import type { ToolFailure } from "../model/failure.ts";
import type { PolicyEngine } from "../policy/policy.ts";
import { plainArguments } from "./evidence.ts";
import type { KernelParts } from "./parts.ts";
import { stillAllowed } from "./recheck.ts";
import type { Trail } from "./trail.ts";

/** How a call ends that does not go on. */
export type Ended =
  | { readonly kind: "replay"; readonly answer: CallResponse }
  | { readonly kind: "failure"; readonly failure: ToolFailure }
  | { readonly kind: "denial"; readonly denial: Denial };

/**
 * How the call ends here, or `undefined` when it goes on: then, if it has a key, with a claim in its trail.
 * @throws KernelError STORE_UNAVAILABLE or STORE_CORRUPT when nobody can say whether it was executed before
 */
export async function replayed(parts: KernelParts, trail: Trail, policy: PolicyEngine, signal: AbortSignal): Promise<Ended | undefined> {
  const { call, session } = trail;
  if (!call || !session || call.dedupeKey === "") return undefined;
  const digest = callDigest(parts.argumentsKey, call.tool, plainArguments(call.arguments), call.reply);
  const entry = await parts.dedupe.enter({ sessionId: session.id, dedupeKey: call.dedupeKey, call: digest }, signal);
  if (entry.kind === "go_on") trail.claim = entry.claim;
  if (entry.kind === "failure") return entry;
  if (entry.waited) {
    const still = await stillAllowed(parts, trail, policy);
    if (!still.ok) return { kind: "denial", denial: still.denial };
  }
  return entry.kind === "replay" ? entry : undefined;
}
