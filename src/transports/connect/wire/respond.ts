/**
 * Writes the RPC library's answer to an HTTP/1.1 or HTTP/2 response, at the peer's pace.
 *
 * It writes no faster than the peer reads.
 *
 * INVARIANT: a peer that reads nothing for as long as the stall limit loses its connection or stream. Whatever happens,
 * the library's iterator is told that it is over.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import type { UniversalServerResponse } from "@connectrpc/connect/protocol";

/** A request of either version. */
export type NodeRequest = IncomingMessage | Http2ServerRequest;
/** A response of either version. */
export type NodeResponse = ServerResponse | Http2ServerResponse;

/** What both versions have in common, in types that fit both. */
interface Writing {
  writeHead(status: number, headers: Record<string, string>): unknown;
  write(bytes: Uint8Array): boolean;
  addTrailers(headers: Record<string, string>): void;
  end(): unknown;
  on(event: string, listener: (error?: Error) => void): unknown;
  off(event: string, listener: (error?: Error) => void): unknown;
}

/** Sent with every answer: nothing here is for a browser, and nothing may be kept. */
const ALWAYS = { "cache-control": "no-store", "x-content-type-options": "nosniff" };

/** Writes `answer` to its end. Rejects when the peer is gone or reads too slowly. */
export async function writeAnswer(
  answer: UniversalServerResponse,
  given: NodeResponse,
  stallMs: number,
): Promise<void> {
  const response: Writing = given;
  const body = answer.body?.[Symbol.asyncIterator]();
  try {
    // Headers leave after the first piece is there, because a method may set them until then.
    let piece = await body?.next();
    response.writeHead(answer.status, { ...ALWAYS, ...plainHeaders(answer.header) });
    while (body !== undefined && piece !== undefined && piece.done !== true) {
      await write(given, piece.value, stallMs);
      piece = await body.next();
    }
    if (answer.trailer !== undefined) response.addTrailers(plainHeaders(answer.trailer));
    response.end();
  } finally {
    await body?.return?.().catch(() => undefined);
  }
}

/** An answer that is there as a whole. */
export interface WholeAnswer {
  readonly status: number;
  readonly type: string;
  readonly bytes: Uint8Array;
}

/** Writes a whole answer. Rejects when the peer is gone or reads too slowly. */
export async function writeWhole(
  given: NodeResponse,
  { status, type, bytes }: WholeAnswer,
  stallMs: number,
): Promise<void> {
  const response: Writing = given;
  response.writeHead(status, { ...ALWAYS, "content-type": type, "content-length": String(bytes.byteLength) });
  await write(given, bytes, stallMs);
  response.end();
}

/** Answers a request that the library never sees, in words. */
export function writePlain(given: NodeResponse, status: number, message: string): void {
  const response: Writing = given;
  response.writeHead(status, { ...ALWAYS, "content-type": "text/plain; charset=utf-8" });
  response.write(Buffer.from(`${message}\n`));
  response.end();
}

/** Whether nothing can be written any more. */
export function isGone(response: NodeResponse): boolean {
  if ("stream" in response) return response.stream === undefined || response.stream.destroyed;
  return response.destroyed;
}

function write(given: NodeResponse, bytes: Uint8Array, stallMs: number): Promise<void> {
  const response: Writing = given;
  if (isGone(given)) return Promise.reject(new Error("the peer is gone"));
  if (bytes.byteLength === 0 || response.write(bytes)) return Promise.resolve();
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => settle(new Error("the peer does not read")), stallMs);
    const settle = (error?: Error) => {
      clearTimeout(late);
      response.off("drain", onDrain);
      response.off("close", onClose);
      response.off("error", settle);
      if (error) reject(error);
      else resolve();
    };
    const onDrain = () => settle();
    const onClose = () => settle(new Error("the peer is gone"));
    response.on("drain", onDrain);
    response.on("close", onClose);
    response.on("error", settle);
  });
}

function plainHeaders(headers: Headers | undefined): Record<string, string> {
  return Object.fromEntries(headers?.entries() ?? []);
}
