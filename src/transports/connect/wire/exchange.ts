/**
 * One HTTP request: looked at, refused or handed to the RPC library, answered, cleaned up after.
 *
 * It trusts nothing of the request. The library decides protocol, deadline and framing; the message of a tool call it
 * never sees (`raw-request.ts`). INVARIANT: a request is counted and its bytes are accounted for until it is over,
 * however it ends.
 */
import { type ConnectError, type ContextValues, createContextKey, createContextValues } from "@connectrpc/connect";
import type { UniversalHandler, UniversalServerResponse } from "@connectrpc/connect/protocol";
import { universalRequestFromNodeRequest } from "@connectrpc/connect-node";
import type { Hold } from "./body-buffer.ts";
import { clientIsGone, completed, isPeersDoing } from "./ending.ts";
import { type AllowedHosts, type Refusal, refusePages, withoutOwnOrigin } from "./guard.ts";
import { type Intake, type RawMessage, takeIn } from "./intake.ts";
import type { ConnectLimits } from "./limits.ts";
import { HTTP_HEADER_BYTES_MAX } from "./limits.ts";
import { type Recorder, record } from "./refusal.ts";
import { isGone, type NodeRequest, type NodeResponse, writeAnswer, writePlain } from "./respond.ts";
import { type HttpExchange, isPlainUnary, serveUnary, type UnaryHost } from "./unary.ts";

/** What methods and gates can know of the request that they serve. */
export interface Exchange {
  /** Why no more calls are taken now. */
  readonly refusal: ConnectError | undefined;
  /** The message of a tool call, once it has arrived. */
  message: RawMessage | undefined;
  /** The library has found something that its method can be asked about. */
  reached: boolean;
  /** The record that is being made of a request that the library cannot read. */
  recording: Promise<void> | undefined;
}

/** Where a method finds its exchange. */
export const EXCHANGE = createContextKey<Exchange | undefined>(undefined, {
  description: "the HTTP request of a call",
});

/** Paths of another protocol, and who serves their requests. */
export interface OtherPaths {
  readonly owns: (path: string) => boolean;
  readonly serve: (exchange: HttpExchange, refusal: ConnectError | undefined) => Promise<void>;
}

/** What serving one request needs. */
export interface ExchangeHost {
  readonly handlers: ReadonlyMap<string, UniversalHandler>;
  /** The path whose plainest form the library is not needed for, and who serves it. */
  readonly unary: { readonly path: string; readonly host: UnaryHost };
  /** How the body of the method of a path is taken in. */
  readonly intakes: ReadonlyMap<string, Intake>;
  /** A protocol beside RPC, with paths of its own. */
  readonly other: OtherPaths | undefined;
  readonly recorder: Recorder;
  readonly allowedHosts: AllowedHosts;
  readonly limits: ConnectLimits;
  readonly hold: Hold;
  readonly onError: (error: unknown) => void;
}

/** Serves one request; resolves when it is over. `refusal` says why its call is not taken, if it is not. */
export async function serveRequest(
  host: ExchangeHost,
  { request, response }: HttpExchange,
  refusal: ConnectError | undefined,
): Promise<void> {
  response.on("error", () => undefined); // the peer is gone; `close` follows and ends the call
  const path = (request.url ?? "").split("?", 1)[0] ?? "";
  const other = host.other?.owns(path) === true ? host.other : undefined;
  const headers = other === undefined ? request.headers : withoutOwnOrigin(request.headers);
  const refused = refuseLargeHeaders(request) ?? refusePages(headers, hostsNamed(request), host.allowedHosts);
  const handler = host.handlers.get(path);
  if (refused !== undefined) writePlain(response, refused.status, refused.message);
  else if (other !== undefined) await passOn(host, other, { request, response, refusal });
  else if (handler === undefined) writePlain(response, 404, "there is no such method; see `handrail wire descriptor`");
  else if (request.method !== "POST") writePlain(response, 405, "methods are called with POST");
  else if (path === host.unary.path && isPlainUnary(request)) await callPlainly(host, { request, response }, refusal);
  else await call(host, { path, handler, request, response }, newExchange(refusal));
  leaveUnread(request, response, host.limits.stallMs);
}

async function passOn(
  { onError }: ExchangeHost,
  other: OtherPaths,
  { request, response, refusal }: HttpExchange & { readonly refusal: ConnectError | undefined },
): Promise<void> {
  try {
    await other.serve({ request, response }, refusal);
  } catch (error) {
    cutOff(response);
    if (!isPeersDoing(error)) onError(error);
  }
}

function newExchange(refusal: ConnectError | undefined): Exchange {
  return { refusal, message: undefined, reached: false, recording: undefined };
}

async function callPlainly(
  host: ExchangeHost,
  { request, response }: HttpExchange,
  refusal: ConnectError | undefined,
): Promise<void> {
  let heldBytes = 0;
  const hold = (changeBytes: number) => {
    heldBytes += changeBytes;
    return host.hold(changeBytes);
  };
  try {
    await serveUnary({ ...host.unary.host, hold }, { request, response }, refusal);
  } catch (error) {
    cutOff(response);
    if (!isPeersDoing(error)) host.onError(error);
  } finally {
    host.hold(-heldBytes);
  }
}

/** A request that calls a method. */
interface MethodCall {
  readonly path: string;
  readonly handler: UniversalHandler;
  readonly request: NodeRequest;
  readonly response: NodeResponse;
}

async function call(
  host: ExchangeHost,
  { path, handler, request, response }: MethodCall,
  exchange: Exchange,
): Promise<void> {
  let heldBytes = 0;
  const hold = (changeBytes: number) => {
    heldBytes += changeBytes;
    return host.hold(changeBytes);
  };
  try {
    const body = bodyOf(request);
    const given = { ...universalRequestFromNodeRequest(request, response, undefined, valuesOf(exchange)), body };
    const taken = takeIn(given, intakeOf(host, path), {
      input: handler.method.input,
      limits: host.limits,
      hold,
      keep: (message) => {
        exchange.message = message;
      },
    });
    const read = { ...taken, body: recorded(taken.body, host.recorder) };
    await writeAnswer(onceRecorded(await handler(read), exchange), response, host.limits.stallMs);
  } catch (error) {
    if (!response.headersSent && !isGone(response)) writePlain(response, 400, "the request cannot be understood");
    else cutOff(response);
    if (!isPeersDoing(error)) host.onError(error);
  } finally {
    host.hold(-heldBytes);
  }
}

/** A method that nobody described takes the least. */
function intakeOf({ intakes }: ExchangeHost, path: string): Intake {
  return intakes.get(path) ?? { kind: "message", bytesMax: 0 };
}

/** The body, which ends only if its peer completed it. */
async function* bodyOf(request: NodeRequest): AsyncGenerator<Uint8Array> {
  try {
    // Whoever stops reading the body must not end the request with it: the answer has yet to leave.
    yield* request.iterator({ destroyOnReturn: false });
  } catch (error) {
    throw isPeersDoing(error) ? clientIsGone() : error;
  }
  await completed(request);
}

/** The answer, of which nothing leaves while its request is being recorded. */
function onceRecorded(answer: UniversalServerResponse, exchange: Exchange): UniversalServerResponse {
  const { body } = answer;
  return body === undefined ? answer : { ...answer, body: held(body, exchange) };
}

async function* held(body: AsyncIterable<Uint8Array>, exchange: Exchange): AsyncGenerator<Uint8Array> {
  for await (const piece of body) {
    await exchange.recording;
    yield piece;
  }
  await exchange.recording; // what is wrong may stand in the trailers
}

/** The body, whose refusals are in evidence before the library answers them. */
async function* recorded(body: AsyncIterable<Uint8Array>, recorder: Recorder): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    await record(recorder, error);
    throw error;
  }
}

function cutOff(response: NodeResponse): void {
  if ("stream" in response) response.stream?.destroy();
  else response.destroy();
}

function valuesOf(exchange: Exchange): ContextValues {
  return createContextValues().set(EXCHANGE, exchange);
}

/** Every host that a request names, in whatever way. */
function hostsNamed({ rawHeaders }: NodeRequest): readonly string[] {
  return rawHeaders.flatMap((name, index) => {
    const value = rawHeaders[index + 1];
    return index % 2 === 0 && value !== undefined && /^(?:host|:authority)$/i.test(name) ? [value] : [];
  });
}

/** HTTP/1.1's parser bounds headers by itself; HTTP/2's only once its peer has said that it knows the bound. */
function refuseLargeHeaders(request: NodeRequest): Refusal | undefined {
  if (!("stream" in request)) return undefined;
  let size = 0;
  for (const text of request.rawHeaders) size += text.length;
  if (size <= HTTP_HEADER_BYTES_MAX) return undefined;
  return { status: 431, message: `the headers have more than ${HTTP_HEADER_BYTES_MAX} bytes; send fewer` };
}

/**
 * What a peer still sends is thrown away, so that it can finish and read its answer; one that does not finish is cut
 * off.
 */
function leaveUnread(request: NodeRequest, response: NodeResponse, limitMs: number): void {
  if (request.complete || isGone(response)) return;
  const carrier = "stream" in request ? request.stream : request.socket;
  const late = setTimeout(() => carrier.destroy(), limitMs);
  // A request of HTTP/1.1 whose answer has left says no more that it is closed: its connection does.
  const settle = () => {
    clearTimeout(late);
    request.off("end", settle).off("close", settle);
    carrier.off("close", settle);
  };
  late.unref(); // a process that ends does not wait for a peer that does not
  request.once("end", settle).once("close", settle);
  carrier.once("close", settle);
  request.resume();
}
