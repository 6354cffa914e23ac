/**
 * Builds the RPC errors of the transport.
 *
 * They answer a call that never reached the kernel, or a request that was no tool call. A denied or failed tool call is
 * never an RPC error. Messages are safe for any peer, and causes go to the log alone.
 */
import { Code, ConnectError } from "@connectrpc/connect";
import { KernelError, type KernelErrorCode } from "../../../base/errors.ts";
import { ToolDeniedSchema } from "../../../gen/handrail/tool/v1/tool_pb.ts";
import { ToolFailure } from "../../../model/outcome/failure.ts";
import type { CallResponse } from "../../../model/tool/call.ts";
import { toWireResponse } from "../../../wire/protobuf.ts";

const CODES: Readonly<Record<KernelErrorCode, Code>> = {
  INTERNAL: Code.Internal,
  CONFIG_INVALID: Code.FailedPrecondition,
  POLICY_INVALID: Code.FailedPrecondition,
  WORKSPACE_INVALID: Code.FailedPrecondition,
  WORKSPACE_BUSY: Code.Unavailable,
  STORE_UNAVAILABLE: Code.Unavailable,
  STORE_CORRUPT: Code.DataLoss,
  LEDGER_UNAVAILABLE: Code.Unavailable,
  WIRE_INVALID: Code.InvalidArgument,
  USAGE: Code.InvalidArgument,
};

/** The error for a peer; whatever is a bug is reported and shown as nothing more than that. */
export function faultOf(error: unknown, report: (error: unknown) => void): ConnectError {
  if (error instanceof ConnectError) return error;
  if (error instanceof KernelError && error.code !== "INTERNAL")
    return new ConnectError(error.message, CODES[error.code]);
  if (error instanceof ToolFailure) {
    const code = error.code === "CONTENT_CORRUPT" ? Code.DataLoss : error.retryable ? Code.Unavailable : Code.Aborted;
    return new ConnectError(`${error.message}; ${error.suggestion}`, code);
  }
  report(error);
  return new ConnectError("the kernel met an internal error; tell the operator", Code.Internal);
}

/** The error for a caller who was not admitted, with the refusal itself as a detail. */
export function refusedFault({ outcome, ...response }: CallResponse): ConnectError {
  const { result } = toWireResponse({ ...response, outcome });
  if (outcome.kind === "denied" && result.case === "denied") {
    const code = outcome.denial.layer === "authenticate" ? Code.Unauthenticated : Code.PermissionDenied;
    return new ConnectError(outcome.denial.message, code, undefined, [{ desc: ToolDeniedSchema, value: result.value }]);
  }
  if (outcome.kind === "error" && outcome.retryable) return new ConnectError(outcome.message, Code.Unavailable);
  return new ConnectError("the kernel could not answer; tell the operator", Code.Internal);
}
