/**
 * Decode and validate: from what a transport hands over to a call whose envelope holds, or to all its violations.
 */

import { isJsonObject } from "../base/json.ts";
import { jsonProblem } from "../base/json-parse.ts";
import type { ToolCall } from "../model/call.ts";
import type { Verdict } from "../model/decision.ts";
import { allow, deny, type Violation } from "../model/decision.ts";
import { invariantOf, validateEnvelope, validateRequest } from "../validate/validate.ts";
import { WireError } from "../wire/index.ts";
import type { Trail } from "./trail.ts";

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

type Codec = typeof import("../wire/protobuf.ts");
let codec: Promise<Codec> | undefined;

/** The codec, loaded with the first bytes: a kernel behind MCP never needs it. */
export function loadCodec(): Promise<Codec> {
  codec ??= import("../wire/protobuf.ts");
  return codec;
}

/** Decodes and validates; INVARIANT: every violation of the envelope is in the one answer (CTR-0033). */
export async function receive(submission: Submission, trail: Pick<Trail, "requestId" | "call">): Promise<Verdict<ToolCall>> {
  const received = submission.kind === "wire" ? receiveBytes(await loadCodec(), submission.bytes, trail) : receiveCall(submission, trail);
  if (received.ok) trail.call = received.value;
  return received;
}

function receiveBytes(codec: Codec, bytes: Uint8Array, trail: Pick<Trail, "requestId">): Verdict<ToolCall> {
  let message: ReturnType<Codec["decodeRequest"]>;
  try {
    message = codec.decodeRequest(bytes);
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    trail.requestId = codec.readRequestId(bytes);
    return deny(codec.undecodableDenial(error));
  }
  trail.requestId = message.requestId;
  const violations = validateRequest(message);
  return violations.length > 0 ? invalid(violations) : allow(codec.toToolCall(message));
}

function receiveCall(submission: Extract<Submission, { kind: "call" }>, trail: Pick<Trail, "requestId">): Verdict<ToolCall> {
  const { requestId, sessionToken, tool, dedupeKey = "" } = submission;
  trail.requestId = requestId;
  const violations = [...validateEnvelope({ requestId, sessionToken, dedupeKey, tool })];
  const args = submission.arguments ?? {};
  const problem = isJsonObject(args) ? jsonProblem(args) : "not a JSON object";
  if (problem !== undefined)
    violations.push({ field: "call.arguments_json", rule: "format", message: `the arguments cannot be used: ${problem}` });
  if (violations.length > 0 || !isJsonObject(args)) return invalid(violations);
  return allow({ requestId, sessionToken, dedupeKey, tool, arguments: args, variant: "call", reply: "result" });
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
