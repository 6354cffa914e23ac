/** Bytes or JSON that are no message of the protocol: what is wrong, and where. */
import { KernelError } from "../base/errors.ts";
import type { Violation } from "../model/outcome/decision.ts";

/** Why a message was refused before it could be validated. `message` is safe for any peer and quotes no content. */
export class WireError extends KernelError {
  /** The refusal as a violation: field `tool` for two variants (INV-0004), else the rule `decode` of no field. */
  readonly violation: Violation;
  constructor(message: string, violation?: { readonly field: string; readonly rule: string }) {
    super("WIRE_INVALID", message);
    this.name = "WireError";
    this.violation = { field: violation?.field ?? "", rule: violation?.rule ?? "decode", message };
  }
}

/** The refusal of a request that carries more than one variant of the oneof (INV-0004). */
export function twoVariants(message: string): WireError {
  return new WireError(message, { field: "tool", rule: "mutually_exclusive" });
}
