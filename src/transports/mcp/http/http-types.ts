/** Defines what the MCP door needs of an HTTP request and its response, of either version of HTTP. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";

/** A request of either version. */
export type HttpRequest = IncomingMessage | Http2ServerRequest;
/** A response of either version. */
export type HttpResponse = ServerResponse | Http2ServerResponse;

/** A body that was read, or why it could not be. */
export type ReadBody =
  | { readonly kind: "read"; readonly bytes: Uint8Array }
  | { readonly kind: "refused"; readonly status: number; readonly message: string }
  | { readonly kind: "gone" };

/** One HTTP request as the front hands it over: hosts and headers are looked at, and nothing of the body is read. */
export interface McpHttpRequest {
  readonly request: HttpRequest;
  readonly response: HttpResponse;
  /** The bearer token, if there is one that could be one. */
  readonly token: string | undefined;
  /** Why no more calls are taken now. */
  readonly refusal: string | undefined;
  readonly readBody: () => Promise<ReadBody>;
  /** Milliseconds in which a peer has to read what was written. */
  readonly stallMs: number;
  readonly shutdownSignal: AbortSignal;
}

/** The value of a header that may stand once; `undefined` when it is absent. */
export function headerOf({ headers }: Pick<HttpRequest, "headers">, name: string): string | undefined {
  const value = headers[name];
  return typeof value === "string" ? value : undefined;
}
