/**
 * Decode and validate: from what a transport hands over to a call whose envelope holds, or to all its violations.
 */

import type { InBandAsker } from "../../approval/in-band.ts";
import { hasMoreJsonValues, isJsonObject } from "../../base/json.ts";
import { jsonProblem } from "../../base/json-parse.ts";
import { ARGUMENT_VALUES_MAX } from "../../base/limits.ts";
import type { AskedCall } from "../../model/approval/approval.ts";
import { allow, type Denial, deny, type Verdict, type Violation } from "../../model/outcome/decision.ts";
import type { ProgressListener } from "../../model/outcome/progress.ts";
import type { ToolCall } from "../../model/tool/call.ts";
import { invariantOf, TOO_MANY_VALUES, validateEnvelope, validateRequest } from "../../validate/validate.ts";
import { WireError } from "../../wire/index.ts";
import type { Transfer } from "./transfer.ts";
import { listed, summarised } from "./violations.ts";

/**
 * A request as a transport received it: protobuf bytes, proto3 JSON, or a call by name (MCP, command line, library).
 */
export type Submission =
  | { readonly kind: "wire"; readonly bytes: Uint8Array }
  | { readonly kind: "json"; readonly text: string }
  | {
      readonly kind: "call";
      readonly requestId: string;
      readonly sessionToken: string;
      /** A string; a peer that sends anything else is told so. */
      readonly dedupeKey?: unknown;
      readonly tool: string;
      readonly arguments: unknown;
      /** `result` when absent. */
      readonly reply?: "stream";
    };

/** Who waits for the answer to a submission. */
export interface Waiter {
  /** Aborts when nobody waits any more. */
  readonly signal: AbortSignal;
  /** Hears what the tool reports while it runs. */
  readonly listener?: ProgressListener | undefined;
  /** What streams beside the call. */
  readonly transfer?: Transfer | undefined;
  /** Told that the call is about to wait for people, or would if anybody could be asked. */
  readonly onAsked?: ((asked: AskedCall) => void) | undefined;
  /** The client can show a request for approval to the person who sits there. */
  readonly inBand?: InBandAsker | undefined;
  /** The caller's place in a trace, as it was sent; only observers read it. */
  readonly traceparent?: unknown;
}

type Codec = typeof import("../../wire/protobuf.ts");
let codec: Promise<Codec> | undefined;

/** The codec, loaded with the first bytes: a kernel behind MCP never needs it. */
export function loadCodec(): Promise<Codec> {
  codec ??= import("../../wire/protobuf.ts");
  return codec;
}

/** A submission as far as its id; it is validated once the id is known, so that every answer bears it. */
export interface Decoded {
  /** Empty where none can be read. */
  readonly requestId: string;
  /** INVARIANT: every violation of the envelope is in the one denial (CTR-0033). */
  readonly validate: () => Verdict<ToolCall>;
}

/** Decodes a submission. Only bugs throw. */
export function decode(submission: Submission): Decoded | Promise<Decoded> {
  if (submission.kind === "call") return decodeCall(submission);
  return loadCodec().then((codec) => decodeEncoded(codec, submission));
}

type Encoded = Exclude<Submission, { kind: "call" }>;

function decodeEncoded(codec: Codec, submission: Encoded): Decoded {
  try {
    const message =
      submission.kind === "wire" ? codec.decodeRequest(submission.bytes) : codec.requestFromJson(submission.text);
    const validate = () => {
      const violations = validateRequest(message);
      return violations.length > 0 ? invalid(violations) : allow(codec.toToolCall(message));
    };
    return { requestId: message.requestId, validate };
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    const requestId = submission.kind === "wire" ? codec.readRequestId(submission.bytes) : "";
    return { requestId, validate: () => deny(codec.undecodableDenial(error)) };
  }
}

/** A program that is not checked by types handed over something else. */
const NO_CALL: Denial = {
  layer: "call",
  reason: "tool_call_invalid",
  ruleId: "CALL:envelope",
  message:
    "the call cannot be read: its request id, its session token and the name of its tool must be text; send all three",
};

type NamedCall = Extract<Submission, { kind: "call" }>;

function decodeCall(submission: NamedCall): Decoded {
  const call = { ...submission }; // whoever handed it over may change it meanwhile
  const { requestId, sessionToken, tool } = call;
  const isReadable = [requestId, sessionToken, tool].every((member: unknown) => typeof member === "string");
  return isReadable
    ? { requestId, validate: () => validateCall(call) }
    : { requestId: "", validate: () => deny(NO_CALL) };
}

function validateCall(submission: NamedCall): Verdict<ToolCall> {
  const { requestId, sessionToken, tool } = submission;
  const dedupeKey = typeof submission.dedupeKey === "string" ? submission.dedupeKey : "";
  const violations = [...validateEnvelope({ requestId, sessionToken, dedupeKey, tool })];
  if (submission.dedupeKey !== undefined && typeof submission.dedupeKey !== "string")
    violations.push({ field: "dedupe_key", rule: "format", message: "is not a string; send one, or leave it out" });
  const args = submission.arguments === undefined ? {} : submission.arguments;
  violations.push(...problemsOf(args));
  if (violations.length > 0 || !isJsonObject(args)) return invalid(violations);
  return allow({
    requestId,
    sessionToken,
    dedupeKey,
    tool,
    arguments: args,
    variant: "call",
    reply: submission.reply ?? "result",
  });
}

function problemsOf(args: unknown): readonly Violation[] {
  const field = "call.arguments_json";
  if (!isJsonObject(args))
    return [{ field, rule: "format", message: "the arguments cannot be used: not a JSON object" }];
  if (hasMoreJsonValues(args, ARGUMENT_VALUES_MAX)) return [{ field, rule: "max_items", message: TOO_MANY_VALUES }];
  const problem = jsonProblem(args);
  return problem === undefined ? [] : [{ field, rule: "format", message: `the arguments cannot be used: ${problem}` }];
}

function invalid(violations: readonly Violation[]): Verdict<never> {
  const [first] = violations;
  const summary = summarised(violations, ", ", (violation) => `\`${violation.field}\` ${violation.rule}`);
  return deny({
    layer: "validate",
    reason: "validation_failed",
    ruleId: first ? invariantOf(first) : "INV-0004",
    message: `the request breaks ${violations.length} rule${violations.length === 1 ? "" : "s"}: ${summary}; correct every listed field and send it again`,
    violations: listed(violations),
  });
}
