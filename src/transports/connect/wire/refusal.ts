/**
 * Refuses requests that name nobody or are no message, and records the refusals as evidence.
 *
 * The front door makes these refusals by itself.
 *
 * INVARIANT: such a refusal is recorded before it is answered, and once, through however many hands its error goes.
 * Nothing of the request is in the record.
 */
import { Code, ConnectError } from "@connectrpc/connect";
import type { KernelDoor } from "../../../kernel/index.ts";
import type { Denial } from "../../../model/outcome/decision.ts";

/** Who records refusals. */
export type Recorder = Pick<KernelDoor, "recordRefusal">;

const UNRECORDED = new WeakMap<ConnectError, Denial>();
const OWN = new WeakSet<ConnectError>();

/** Whether the front door has made this error, so that it records it. */
export function isOwnRefusal(error: ConnectError): boolean {
  return OWN.has(error);
}

/** The error for a request that is no message of its method. */
export function malformed(message: string, code: Code = Code.InvalidArgument): ConnectError {
  return refusal(message, code, { layer: "validate", reason: "validation_failed", ruleId: "WIRE:rpc", message });
}

/** The error for a request that names nobody. */
export function unidentified(message: string): ConnectError {
  return refusal(message, Code.Unauthenticated, {
    layer: "authenticate",
    reason: "session_invalid",
    ruleId: "SESSION:missing",
    message,
  });
}

/** Records `error` if it is a refusal of the front door that is not recorded yet. Never rejects. */
export async function record(recorder: Recorder, error: unknown): Promise<void> {
  const denial = error instanceof ConnectError ? UNRECORDED.get(error) : undefined;
  if (denial === undefined) return;
  UNRECORDED.delete(error as ConnectError);
  await recorder.recordRefusal(denial);
}

function refusal(message: string, code: Code, denial: Denial): ConnectError {
  const error = new ConnectError(message, code);
  UNRECORDED.set(error, denial);
  OWN.add(error);
  return error;
}
