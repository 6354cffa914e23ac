/**
 * Requests that the RPC library cannot read: no message of their method, or not put as their protocol wants. It answers
 * them by itself, before any method is asked, and tells nothing but the signal of their call.
 *
 * INVARIANT: they are recorded as the refusals of the front door are, before they are answered, and once.
 */
import { Code, ConnectError, type HandlerContext } from "@connectrpc/connect";
import { EXCHANGE } from "./exchange.ts";
import { isOwnRefusal, type Recorder } from "./refusal.ts";

/**
 * Codes with which the library says that it cannot read something; with the others it tells of time, of places, or of a
 * peer that is gone.
 */
const UNREADABLE: ReadonlySet<Code> = new Set([Code.InvalidArgument, Code.Unimplemented, Code.Internal, Code.DataLoss]);

/** Records the call of `context` if the library ends it before its method was asked. */
export function watchUnread({ signal, values }: HandlerContext, recorder: Recorder): void {
  const exchange = values.get(EXCHANGE);
  if (exchange === undefined) return;
  const onAbort = () => {
    if (!exchange.reached) exchange.recording = recordUnread(signal.reason, recorder);
  };
  signal.addEventListener("abort", onAbort, { once: true });
}

/**
 * Records `error` if it is the library's word that something cannot be read. Nothing of what was sent is in the record.
 * Never rejects.
 */
export async function recordUnread(error: unknown, recorder: Recorder): Promise<void> {
  if (!(error instanceof ConnectError) || !UNREADABLE.has(error.code) || isOwnRefusal(error)) return;
  const message = "the request is no message of its method";
  await recorder.recordRefusal({ layer: "validate", reason: "validation_failed", ruleId: "WIRE:rpc", message });
}
