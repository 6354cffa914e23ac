/**
 * Checks whether the peer of a request that ended completed it.
 *
 * Node ends the body of an HTTP/2 stream that was reset as if it were complete, and its client completes what it then
 * resets.
 *
 * INVARIANT: a body that was cut off is never taken for a whole one.
 */
import { Code, ConnectError } from "@connectrpc/connect";
import type { NodeRequest } from "./respond.ts";

/**
 * Resolves when the ended `request` was completed. @throws ConnectError `canceled` when it was cut off or taken back
 */
export async function completed(request: NodeRequest): Promise<void> {
  if (!("stream" in request)) {
    if (!request.complete) throw clientIsGone();
    return;
  }
  // Two turns: what the peer sent together with the end, and what is there to be read behind it, comes in between.
  for (let turn = 0; turn < 2 && !wasReset(request); turn += 1) await new Promise((done) => setImmediate(done));
  if (wasReset(request)) throw clientIsGone();
}

/** The error for a call whose client left. */
export function clientIsGone(): ConnectError {
  return new ConnectError("the client is gone", Code.Canceled);
}

function wasReset(request: Extract<NodeRequest, { stream: unknown }>): boolean {
  const { stream } = request;
  return request.aborted || stream === undefined || stream.aborted || stream.closed || stream.destroyed;
}

/** What Node says of a peer that left in the middle, or of a stream that is gone. */
const PEERS_CODES: ReadonlySet<unknown> = new Set([
  "ECONNRESET",
  "EPIPE",
  "ABORT_ERR",
  "ERR_STREAM_PREMATURE_CLOSE",
  "ERR_STREAM_DESTROYED",
  "ERR_STREAM_WRITE_AFTER_END",
  "ERR_HTTP2_INVALID_STREAM",
  "ERR_HTTP2_STREAM_ERROR",
  "ERR_HTTP2_STREAM_CANCEL",
  "ERR_HTTP2_SESSION_ERROR",
  "ERR_HTTP2_GOAWAY_SESSION",
]);

/** Whether an error only says that the peer left, broke the protocol of HTTP, gave no URL or does not read. */
export function isPeersDoing(error: unknown): boolean {
  if (error instanceof ConnectError) return true;
  if (!(error instanceof Error)) return false;
  if ("code" in error && PEERS_CODES.has(error.code)) return true;
  return error.message.startsWith("the peer ") || ("code" in error && error.code === "ERR_INVALID_URL");
}
