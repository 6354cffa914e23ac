/** Answers that the socket gives by itself, when a call never reached the kernel or the kernel failed to answer. */
import { create } from "@bufbuild/protobuf";
import { ToolResponseSchema } from "../../gen/handrail/tool/v1/tool_pb.ts";
import type { ToolFailureCode } from "../../model/outcome/failure.ts";
import { WireError } from "../../wire/index.ts";
import { encodeResponse, readRequestId, refuseUndecodable } from "../../wire/protobuf.ts";

/** An encoded `ToolError`; without `requestId` of no request. */
export function errorAnswer(
  errorCode: ToolFailureCode,
  message: string,
  { requestId = "", retryAfterMs = 0 }: { readonly requestId?: string; readonly retryAfterMs?: number },
): Uint8Array {
  const value = { errorCode, message, retryable: retryAfterMs > 0, retryAfterMs: BigInt(retryAfterMs) };
  return encodeResponse(create(ToolResponseSchema, { requestId, result: { case: "error", value } }));
}

/** The encoded refusal of a frame that is no request. */
export function undecodableAnswer(requestId: string, error: WireError): Uint8Array {
  return encodeResponse(refuseUndecodable(requestId, error));
}

/** The encoded answer to a request whose call threw `error`: a refusal if it is undecodable, else an internal error. */
export function thrownAnswer(request: Uint8Array, error: unknown): Uint8Array {
  const requestId = readRequestId(request);
  if (error instanceof WireError) return undecodableAnswer(requestId, error);
  const message = "the kernel met an internal error and refused the call; tell the operator";
  return errorAnswer("INTERNAL", message, { requestId });
}
