/**
 * Refuses messages with fields that this kernel does not know.
 *
 * The library keeps such fields and goes on without them: a restriction that a newer client asks for would be dropped
 * in silence. INVARIANT: no method sees a message of which a part was not understood; nothing is allowed by leaving it
 * out.
 */
import type { Interceptor } from "@connectrpc/connect";
import { EXCHANGE } from "./exchange.ts";
import { malformed, type Recorder, record } from "./refusal.ts";
import { recordUnread } from "./unread.ts";

/**
 * Looks at every message before its method does, and records refusals of methods and what the library cannot read for
 * them.
 */
export function refuseUnknownFields(recorder: Recorder): Interceptor {
  return (next) => async (request) => {
    const exchange = request.contextValues.get(EXCHANGE);
    if (exchange) exchange.reached = true;
    try {
      if (request.stream) return await next({ ...request, message: known(request.message, recorder) });
      check(request.message);
      return await next(request);
    } catch (error) {
      await record(recorder, error);
      throw error;
    }
  };
}

async function* known<T extends object>(messages: AsyncIterable<T>, recorder: Recorder): AsyncGenerator<T> {
  try {
    for await (const message of messages) {
      check(message);
      yield message;
    }
  } catch (error) {
    await recordUnread(error, recorder);
    await record(recorder, error);
    throw error;
  }
}

function check(message: object): void {
  if (hasUnknown(message))
    throw malformed("the request has fields that this kernel does not know; leave them out, or update the kernel");
}

/** Whether a part of a decoded message was not understood; messages here do not nest in themselves. */
export function hasUnknown(value: unknown): boolean {
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return false;
  if (Array.isArray(value)) return value.some(hasUnknown);
  if ("$unknown" in value && Array.isArray(value.$unknown) && value.$unknown.length > 0) return true;
  return Object.values(value).some(hasUnknown);
}
