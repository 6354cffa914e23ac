/**
 * Decode and validate: from what a transport hands over to a call whose envelope holds, or to all its violations.
 */

import { isJsonObject } from "../base/json.ts";
import { jsonProblem } from "../base/json-parse.ts";
import type { ToolCall } from "../model/call.ts";
import type { Verdict } from "../model/decision.ts";
import { allow, deny, type Violation } from "../model/decision.ts";
import { invariantOf, validateEnvelope, validateRequest } from "../validate/validate.ts";
import { decodeRequest, readRequestId, toToolCall, undecodableDenial, WireError } from "../wire/index.ts";

/** A request as a transport received it: protobuf bytes, or a call by name (MCP, command line, library). */
export type Submission =
  | { readonly kind: "wire"; readonly bytes: Uint8Array }
  | {
      readonly kind: "call";
      readonly requestId: string;
      readonly sessionToken: string;
      readonly dedupeKey?: string;
      readonly tool: string;
      readonly arguments: unknown;
    };

/** The request's own id, as far as it could be read, and the call or the refusal. */
export interface Received {
  readonly requestId: string;
  readonly verdict: Verdict<ToolCall>;
}

/** Decodes and validates; INVARIANT: every violation of the envelope is in the one answer (CTR-0033). */
export function receive(submission: Submission): Received {
  return submission.kind === "wire" ? receiveBytes(submission.bytes) : receiveCall(submission);
}

function receiveBytes(bytes: Uint8Array): Received {
  let message: ReturnType<typeof decodeRequest>;
  try {
    message = decodeRequest(bytes);
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    return { requestId: readRequestId(bytes), verdict: deny(undecodableDenial(error)) };
  }
  const violations = validateRequest(message);
  const verdict = violations.length > 0 ? invalid(violations) : allow(toToolCall(message));
  return { requestId: message.requestId, verdict };
}

function receiveCall(submission: Extract<Submission, { kind: "call" }>): Received {
  const { requestId, sessionToken, tool, dedupeKey = "" } = submission;
  const violations = [...validateEnvelope({ requestId, sessionToken, dedupeKey, tool })];
  const args = submission.arguments ?? {};
  const problem = isJsonObject(args) ? jsonProblem(args) : "not a JSON object";
  if (problem !== undefined)
    violations.push({ field: "call.arguments_json", rule: "format", message: `the arguments cannot be used: ${problem}` });
  if (violations.length > 0 || !isJsonObject(args)) return { requestId, verdict: invalid(violations) };
  return { requestId, verdict: allow({ requestId, sessionToken, dedupeKey, tool, arguments: args, variant: "call", reply: "result" }) };
}

function invalid(violations: readonly Violation[]): Verdict<never> {
  const [first] = violations;
  const summary = violations.map((violation) => `\`${violation.field}\` ${violation.rule}`).join(", ");
  return deny({
    layer: "validate",
    reason: "validation_failed",
    ruleId: first ? invariantOf(first) : "INV-0004",
    message: `the request breaks ${violations.length} rule${violations.length === 1 ? "" : "s"}: ${summary}; correct every listed field and send it again`,
    violations,
  });
}
