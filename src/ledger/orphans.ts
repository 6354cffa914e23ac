/**
 * Closes the intents of kernels that died between intent and outcome.
 *
 * What they did is unknown, and the ledger says so. The instance store is trusted that a free lock means a dead
 * instance.
 *
 * INVARIANT: each orphan is closed exactly once, however many kernels start at the same time, because the append
 * refuses to close an intent that is not open.
 */
import { KernelError } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import type { EventSink } from "../model/outcome/event.ts";
import type { InstanceStore } from "./instance-store.ts";

/** An intent that no entry has closed, and whose call it was. */
export interface OpenIntent {
  readonly sequence: number;
  readonly instanceId: string;
  readonly sessionId: string;
  readonly actor: string;
  readonly requestId: string;
  /** What it says of a person's act on a branch. */
  readonly branchAct?: JsonObject;
}

/** The event would close an intent that is not open: somebody else closed it, or it never was one. */
export class IntentNotOpenError extends KernelError {
  constructor() {
    super("INTERNAL", "the intent that this event would close is not open");
    this.name = "IntentNotOpenError";
  }
}

/** Where open intents are read. */
export interface OpenIntentSource {
  readonly openIntents: () => Promise<readonly OpenIntent[]>;
}

/**
 * Closes every open intent whose instance is gone with a durable `tool_outcome_unknown`, but for acts on branches, of
 * which it can be said what became of them.
 * @returns the intents that this call closed
 * @throws KernelError LEDGER_UNAVAILABLE when the ledger cannot be read or written
 */
export async function closeOrphans(
  ledger: OpenIntentSource & EventSink,
  instances: Pick<InstanceStore, "isAlive">,
  nowMs: number,
): Promise<readonly OpenIntent[]> {
  const alive = new Map<string, boolean>();
  const closed: OpenIntent[] = [];
  for (const intent of await ledger.openIntents()) {
    if (intent.branchAct !== undefined) continue;
    const known = alive.get(intent.instanceId) ?? (await instances.isAlive(intent.instanceId));
    alive.set(intent.instanceId, known);
    if (!known && (await close(intent, ledger, nowMs))) closed.push(intent);
  }
  return closed;
}

async function close(intent: OpenIntent, sink: EventSink, nowMs: number): Promise<boolean> {
  const { sequence, instanceId, sessionId, actor, requestId } = intent;
  const payload = { instance_id: instanceId, intent_sequence: sequence, reason: "instance_gone" };
  try {
    await sink.record(
      { type: "tool_outcome_unknown", sessionId, actor, requestId, timeMs: nowMs, payload, closes: sequence },
      "durable",
    );
    return true;
  } catch (error) {
    if (error instanceof IntentNotOpenError) return false;
    throw error;
  }
}
