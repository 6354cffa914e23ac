/**
 * Whether a request that ended is one that its peer completed.
 *
 * Node ends the body of a stream of HTTP/2 that was reset as if it were complete, and its client completes what it then
 * resets. INVARIANT: a body that was cut off is never taken for a whole one.
 */
import { Code, ConnectError } from "@connectrpc/connect";
import type { NodeRequest } from "./respond.ts";

/** Resolves when the ended `request` was completed. @throws ConnectError `canceled` when it was cut off or taken back */
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
