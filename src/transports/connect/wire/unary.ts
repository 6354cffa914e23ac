/**
 * Serves tool calls in Connect's unary protocol with protobuf on a fast path.
 *
 * The body of such a call is the request's bytes and nothing else. The RPC library would build a dozen objects around
 * those bytes that nobody looks at, which takes longer than the kernel takes for the call. Everything that differs from
 * the plainest form of the protocol goes to the library instead.
 *
 * INVARIANT: it behaves as the library does. The tests run both through the same clients.
 */
import { Code, ConnectError } from "@connectrpc/connect";
import { codeToHttpStatus, errorToJsonBytes, parseTimeout } from "@connectrpc/connect/protocol-connect";
import { BodyBuffer, type Hold, tooLarge } from "./body-buffer.ts";
import { clientIsGone, completed } from "./ending.ts";
import { faultOf } from "./faults.ts";
import { RPC_TIMEOUT_MAX_MS } from "./limits.ts";
import { incomplete } from "./pace.ts";
import { type Recorder, record } from "./refusal.ts";
import { isGone, type NodeRequest, type NodeResponse, writeWhole } from "./respond.ts";

const CONTENT_TYPE = "application/proto";

/** What the fast path needs of its surroundings. */
export interface UnaryHost {
  /** Runs one encoded request, with the caller's place in a trace as it was sent. */
  readonly execute: (request: Uint8Array, signal: AbortSignal, traceparent?: string) => Promise<Uint8Array>;
  readonly requestBytesMax: number;
  readonly stallMs: number;
  readonly shutdownSignal: AbortSignal;
  readonly hold: Hold;
  readonly recorder: Recorder;
  readonly onError: (error: unknown) => void;
}

/** Whether a request has the plainest form of the protocol. */
export function isPlainUnary({ headers }: NodeRequest): boolean {
  const encoding = headers["content-encoding"];
  return headers["content-type"] === CONTENT_TYPE && (encoding === undefined || encoding === "identity");
}

/** A request, and where it is answered. */
export interface HttpExchange {
  readonly request: NodeRequest;
  readonly response: NodeResponse;
}

/** Serves one call; resolves when it is over. */
export async function serveUnary(
  host: UnaryHost,
  { request, response }: HttpExchange,
  refusal: ConnectError | undefined,
): Promise<void> {
  const call = new AbortController();
  const stop = () => call.abort(host.shutdownSignal.reason);
  const onClose = () => call.abort(clientIsGone());
  let deadline: NodeJS.Timeout | undefined;
  host.shutdownSignal.addEventListener("abort", stop);
  response.on("close", onClose);
  try {
    if (refusal !== undefined) throw refusal;
    const timeout = parseTimeout(headerOf(request, "connect-timeout-ms"), RPC_TIMEOUT_MAX_MS);
    if (timeout.error !== undefined) throw timeout.error;
    if (timeout.timeoutMs !== undefined) {
      deadline = setTimeout(
        () => call.abort(new ConnectError("the operation timed out", Code.DeadlineExceeded)),
        timeout.timeoutMs,
      );
    }
    const traceparent = headerOf(request, "traceparent") ?? undefined;
    const bytes = await host.execute(await readBody(host, request), call.signal, traceparent);
    if (!isGone(response)) await writeWhole(response, { status: 200, type: CONTENT_TYPE, bytes }, host.stallMs);
  } catch (error) {
    await record(host.recorder, error);
    if (isGone(response) || response.headersSent) return;
    const fault = faultOf(error, host.onError);
    const answer = {
      status: codeToHttpStatus(fault.code),
      type: "application/json",
      bytes: errorToJsonBytes(fault, undefined),
    };
    await writeWhole(response, answer, host.stallMs);
  } finally {
    clearTimeout(deadline);
    host.shutdownSignal.removeEventListener("abort", stop);
    response.off("close", onClose);
  }
}

/** The whole body, which must come in time. @throws ConnectError when it is too large, too slow or cut off */
export function readBody(
  { requestBytesMax, stallMs, hold }: Pick<UnaryHost, "requestBytesMax" | "stallMs" | "hold">,
  request: NodeRequest,
): Promise<Uint8Array> {
  if (Number(request.headers["content-length"] ?? 0) > requestBytesMax)
    return Promise.reject(tooLarge(requestBytesMax));
  return new Promise((resolve, reject) => {
    const collected = new BodyBuffer(requestBytesMax, hold);
    const settle = (error?: unknown) => {
      clearTimeout(late);
      request.off("data", onData);
      request.off("end", onEnd);
      request.off("close", onGone);
      if (error !== undefined) reject(error);
      else resolve(collected.bytes);
    };
    const late = setTimeout(() => settle(incomplete(stallMs)), stallMs);
    const onData = (piece: Buffer) => {
      try {
        collected.add(piece);
      } catch (error) {
        settle(error);
      }
    };
    const onEnd = () => {
      request.off("close", onGone); // a complete request of HTTP/1.1 closes, too
      void completed(request).then(() => settle(), settle);
    };
    const onGone = () => settle(clientIsGone());
    request.on("data", onData);
    request.on("end", onEnd);
    request.on("close", onGone);
    request.on("error", () => undefined); // `close` follows
  });
}

function headerOf(request: NodeRequest, name: string): string | null {
  const value = request.headers[name];
  return typeof value === "string" ? value : null;
}
