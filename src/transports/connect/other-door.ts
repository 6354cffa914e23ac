/**
 * Serves the paths of the HTTP front door that carry another protocol than RPC.
 *
 * The front has looked at hosts, headers and the number of calls before; how a body is bounded and held is the front's
 * as well. INVARIANT: a body is read once at most, never beyond its bound, and accounted for until its request is over.
 */
import { Code, ConnectError } from "@connectrpc/connect";
import { tokenOf } from "./methods/bearer.ts";
import type { Hold } from "./wire/body-buffer.ts";
import type { OtherPaths } from "./wire/exchange.ts";
import type { NodeRequest, NodeResponse } from "./wire/respond.ts";
import { type HttpExchange, readBody } from "./wire/unary.ts";

/** A body that was read, or why it could not be. */
export type ReadBody =
  | { readonly kind: "read"; readonly bytes: Uint8Array }
  | { readonly kind: "refused"; readonly status: number; readonly message: string }
  | { readonly kind: "gone" };

/** A request as another door gets it. */
export interface OtherRequest {
  readonly request: NodeRequest;
  readonly response: NodeResponse;
  /** The token of `authorization: Bearer TOKEN`, if there is one that could be one. */
  readonly token: string | undefined;
  /** Why no more calls are taken now. */
  readonly refusal: string | undefined;
  readonly readBody: () => Promise<ReadBody>;
  /** Milliseconds in which a peer has to read what was written. */
  readonly stallMs: number;
  readonly shutdownSignal: AbortSignal;
}

/** A protocol beside RPC. */
export interface OtherDoor {
  /** Whether a path is its own; the query is cut off. */
  readonly owns: (path: string) => boolean;
  /** Serves one request; resolves when it is over. */
  readonly serve: (request: OtherRequest) => Promise<void>;
  /** Ends what it keeps between requests. */
  readonly close: () => void;
}

/** What serving another door's requests needs. */
export interface OtherDoorHost {
  readonly door: OtherDoor;
  readonly bodyBytesMax: number;
  readonly stallMs: number;
  readonly hold: Hold;
  readonly shutdownSignal: AbortSignal;
}

/** The paths of another door, as the front hands their requests over. */
export function otherPaths(host: OtherDoorHost): OtherPaths {
  const serve: OtherPaths["serve"] = (exchange, refusal) => serveOther(host, exchange, refusal);
  return { owns: host.door.owns, serve };
}

/** Hands one request to its door; resolves when it is over. */
async function serveOther(
  { door, bodyBytesMax, stallMs, hold, shutdownSignal }: OtherDoorHost,
  { request, response }: HttpExchange,
  refusal: ConnectError | undefined,
): Promise<void> {
  let heldBytes = 0;
  const holding = (changeBytes: number) => {
    heldBytes += changeBytes;
    return hold(changeBytes);
  };
  try {
    await door.serve({
      request,
      response,
      token: tokenOf(request.headers.authorization),
      refusal: refusal?.rawMessage,
      readBody: () => bodyOf(request, { requestBytesMax: bodyBytesMax, stallMs, hold: holding }),
      stallMs,
      shutdownSignal,
    });
  } finally {
    hold(-heldBytes);
  }
}

async function bodyOf(request: NodeRequest, bounds: Parameters<typeof readBody>[0]): Promise<ReadBody> {
  try {
    return { kind: "read", bytes: await readBody(bounds, request) };
  } catch (error) {
    if (!(error instanceof ConnectError)) throw error;
    if (error.code === Code.Canceled) return { kind: "gone" };
    return { kind: "refused", status: STATUS[error.code] ?? 400, message: error.rawMessage };
  }
}

const STATUS: Readonly<Partial<Record<Code, number>>> = {
  [Code.ResourceExhausted]: 413,
  [Code.DeadlineExceeded]: 408,
};
