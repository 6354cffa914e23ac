/**
 * One HTTP request: looked at, refused or handed to the RPC library, answered, cleaned up after.
 *
 * It trusts nothing of the request. The library decides protocol, deadline and framing; the message of a tool call it
 * never sees (`raw-request.ts`). INVARIANT: a request is counted and its bytes are accounted for until it is over,
 * however it ends.
 */
import { Code, ConnectError, type ContextValues, createContextKey, createContextValues } from "@connectrpc/connect";
import type { UniversalHandler, UniversalServerRequest } from "@connectrpc/connect/protocol";
import { universalRequestFromNodeRequest } from "@connectrpc/connect-node";
import { HTTP_HEADER_BYTES_MAX } from "../../base/limits.ts";
import { type AllowedHosts, type Refusal, refusePages } from "./guard.ts";
import type { ConnectLimits } from "./limits.ts";
import { bodyForm, captureMessage, ENVELOPE_HEAD_BYTES, tooLarge } from "./raw-request.ts";
import { isGone, type NodeRequest, type NodeResponse, writeAnswer, writePlain } from "./respond.ts";
import { isPlainUnary, serveUnary, type UnaryHost } from "./unary.ts";

/** The message of a tool call as it came. */
export interface RawMessage {
  readonly format: "proto" | "json";
  readonly bytes: Uint8Array;
}

/** What methods and gates can know of the request that they serve. */
export interface Exchange {
  /** Why no more calls are taken now. */
  readonly refusal: ConnectError | undefined;
  /** The message of a tool call, once it has arrived. */
  message: RawMessage | undefined;
}

/** Where a method finds its exchange. */
export const EXCHANGE = createContextKey<Exchange | undefined>(undefined, { description: "the HTTP request of a call" });

/** What serving one request needs. */
export interface ExchangeHost {
  readonly handlers: ReadonlyMap<string, UniversalHandler>;
  /** The path whose plainest form the library is not needed for, and who serves it. */
  readonly unary: { readonly path: string; readonly host: UnaryHost };
  /** Paths of the methods whose message only the kernel may decode. */
  readonly rawPaths: ReadonlySet<string>;
  readonly allowedHosts: AllowedHosts;
  readonly limits: ConnectLimits;
  /** Accounts for request bytes that are held; whether all connections together may hold them. */
  readonly hold: (changeBytes: number) => boolean;
  readonly onError: (error: unknown) => void;
}

/** Serves one request; resolves when it is over. `refusal` says why its call is not taken, if it is not. */
export async function serveRequest(
  host: ExchangeHost,
  request: NodeRequest,
  response: NodeResponse,
  refusal: ConnectError | undefined,
): Promise<void> {
  response.on("error", () => undefined); // the peer is gone; `close` follows and ends the call
  const refused = refuseLargeHeaders(request) ?? refusePages(request.headers, host.allowedHosts);
  const path = (request.url ?? "").split("?", 1)[0] ?? "";
  const handler = host.handlers.get(path);
  if (refused !== undefined) writePlain(response, refused.status, refused.message);
  else if (handler === undefined) writePlain(response, 404, "there is no such method; see `handrail wire descriptor`");
  else if (request.method !== "POST") writePlain(response, 405, "methods are called with POST");
  else if (path === host.unary.path && isPlainUnary(request)) await callPlainly(host, request, response, refusal);
  else await call(host, handler, path, request, response, { refusal, message: undefined });
  leaveUnread(request, response, host.limits.stallMs);
}

async function callPlainly(
  host: ExchangeHost,
  request: NodeRequest,
  response: NodeResponse,
  refusal: ConnectError | undefined,
): Promise<void> {
  let heldBytes = 0;
  const hold = (changeBytes: number) => {
    heldBytes += changeBytes;
    return host.hold(changeBytes);
  };
  try {
    await serveUnary({ ...host.unary.host, hold }, request, response, refusal);
  } catch (error) {
    cutOff(response);
    if (!isPeersDoing(error)) host.onError(error);
  } finally {
    host.hold(-heldBytes);
  }
}

async function call(
  host: ExchangeHost,
  handler: UniversalHandler,
  path: string,
  request: NodeRequest,
  response: NodeResponse,
  exchange: Exchange,
): Promise<void> {
  let heldBytes = 0;
  const hold = (changeBytes: number) => {
    heldBytes += changeBytes;
    return host.hold(changeBytes);
  };
  try {
    // Whoever stops reading the body must not end the request with it: the answer has yet to leave.
    const body = request.iterator({ destroyOnReturn: false });
    const given = { ...universalRequestFromNodeRequest(request, response, undefined, valuesOf(exchange)), body };
    const read = host.rawPaths.has(path) ? captured(given, exchange, host.limits, hold) : paced(given, host.limits.stallMs);
    await writeAnswer(await handler(read), response, host.limits.stallMs);
  } catch (error) {
    if (!response.headersSent && !isGone(response)) writePlain(response, 400, "the request cannot be understood");
    else cutOff(response);
    if (!isPeersDoing(error)) host.onError(error);
  } finally {
    host.hold(-heldBytes);
  }
}

function cutOff(response: NodeResponse): void {
  if ("stream" in response) response.stream?.destroy();
  else response.destroy();
}

function valuesOf(exchange: Exchange): ContextValues {
  return createContextValues().set(EXCHANGE, exchange);
}

type StreamedRequest = UniversalServerRequest & { readonly body: AsyncIterable<Uint8Array> };

/** The request with an empty message in place of its own, which goes to `exchange`. */
function captured(
  given: StreamedRequest,
  exchange: Exchange,
  limits: ConnectLimits,
  hold: (changeBytes: number) => boolean,
): UniversalServerRequest {
  const form = bodyForm(given.header.get("content-type") ?? undefined);
  if (form === undefined || isCompressed(given.header)) return given;
  const declared = Number(given.header.get("content-length") ?? 0);
  const tooMuch = declared > limits.requestBytesMax + ENVELOPE_HEAD_BYTES;
  const header = new Headers(given.header);
  header.delete("content-length"); // it tells of the message that the library does not see
  const body = captureMessage(
    tooMuch ? refusing(limits) : within(given.body, limits.stallMs),
    form,
    { requestBytesMax: limits.requestBytesMax, hold },
    (bytes) => {
      exchange.message = { format: form.format, bytes };
    },
  );
  return { ...given, header, body };
}

/** A body that is refused for the length that it declares, unread. */
async function* refusing({ requestBytesMax }: ConnectLimits): AsyncGenerator<Uint8Array> {
  yield* [];
  throw tooLarge(requestBytesMax);
}

function paced(given: StreamedRequest, stallMs: number): UniversalServerRequest {
  return { ...given, body: eachWithin(given.body, stallMs) };
}

/** The library refuses these before it reads anything, in the words of each protocol. */
function isCompressed(header: Headers): boolean {
  return ["content-encoding", "connect-content-encoding", "grpc-encoding"].some((name) => (header.get(name) ?? "identity") !== "identity");
}

/** The pieces of `body`, all of which must come within `limitMs`. */
function within(body: AsyncIterable<Uint8Array>, limitMs: number): AsyncIterable<Uint8Array> {
  const deadlineMs = performance.now() + limitMs;
  return timed(body, () => deadlineMs - performance.now(), limitMs);
}

/** The pieces of `body`, each of which must come within `limitMs`. */
function eachWithin(body: AsyncIterable<Uint8Array>, limitMs: number): AsyncIterable<Uint8Array> {
  return timed(body, () => limitMs, limitMs);
}

async function* timed(body: AsyncIterable<Uint8Array>, remainingMs: () => number, limitMs: number): AsyncGenerator<Uint8Array> {
  const pieces = body[Symbol.asyncIterator]();
  try {
    for (;;) {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<never>((_, reject) => {
        const message = `the request was not complete within ${limitMs} ms; send it without pauses`;
        timer = setTimeout(() => reject(new ConnectError(message, Code.DeadlineExceeded)), remainingMs());
      });
      const next = pieces.next();
      const piece = await Promise.race([next, late]).finally(() => clearTimeout(timer));
      if (piece.done === true) return;
      yield piece.value;
    }
  } finally {
    // Not awaited: a stream that stalls would keep it waiting.
    pieces.return?.().catch(() => undefined);
  }
}

/** HTTP/1.1's parser bounds headers by itself; HTTP/2's only once its peer has said that it knows the bound. */
function refuseLargeHeaders(request: NodeRequest): Refusal | undefined {
  if (!("stream" in request)) return undefined;
  let size = 0;
  for (const text of request.rawHeaders) size += text.length;
  if (size <= HTTP_HEADER_BYTES_MAX) return undefined;
  return { status: 431, message: `the headers have more than ${HTTP_HEADER_BYTES_MAX} bytes; send fewer` };
}

/** What a peer still sends is thrown away, so that it can finish and read its answer; one that does not finish is cut off. */
function leaveUnread(request: NodeRequest, response: NodeResponse, limitMs: number): void {
  if (request.complete || isGone(response)) return;
  const late = setTimeout(() => ("stream" in request ? request.stream.destroy() : request.destroy()), limitMs);
  request.once("close", () => clearTimeout(late));
  request.resume();
}

/** Whether an error only says that the peer left, broke the protocol of HTTP or does not read. */
function isPeersDoing(error: unknown): boolean {
  if (error instanceof ConnectError) return true;
  if (!(error instanceof Error)) return false;
  return "code" in error || error.message.startsWith("the peer ") || error instanceof TypeError;
}
