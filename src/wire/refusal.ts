/**
 * Builds the refusal that answers bytes that are no request.
 *
 * It says what is wrong, under the id that the bytes carry if it can be read.
 */
import type { ToolResponse } from "../gen/handrail/tool/v1/tool_pb.ts";
import { invariantOf } from "../model/outcome/constraints.ts";
import type { Denial } from "../model/outcome/decision.ts";
import { deniedResponse } from "./response.ts";
import type { WireError } from "./wire-error.ts";

/** Why `error` refuses a request: two variants break INV-0004, everything else is the rule `WIRE:decode`. */
export function undecodableDenial(error: WireError): Denial {
  const { violation } = error;
  return {
    layer: "validate",
    reason: "validation_failed",
    ruleId: invariantOf(violation),
    message: `the request cannot be decoded: ${error.message}`,
    fix: "send one encoded `ToolRequest` with exactly one variant of `tool`",
    violations: [violation],
  };
}

/** The response to undecodable bytes. `requestId` is what `readRequestId` found, perhaps `""`. */
export function refuseUndecodable(requestId: string, error: WireError): ToolResponse {
  return deniedResponse(requestId, undecodableDenial(error));
}
