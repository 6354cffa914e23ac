/**
 * A client of the framed socket: many calls in flight on one connection, each answered by its `request_id` (CTR-0023).
 *
 * It trusts the kernel's bytes no more than the kernel trusts its own: frames are bounded, answers are scanned before
 * they are decoded, and an answer to nothing that was asked ends the connection.
 */
import { connect, type Socket } from "node:net";
import { KernelError, usageError } from "../../base/errors.ts";

import type { ToolRequest, ToolResponse } from "../../gen/handrail/tool/v1/tool_pb.ts";
import { FrameReader, frameSize, writeFrame } from "../../wire/index.ts";
import { decodeResponse, encodeRequest } from "../../wire/protobuf.ts";

/** Calls that one framed client keeps waiting for answers; more are a loop in its caller. */
const FRAMED_CLIENT_CALLS_MAX = 16_384;

/** A connection to a kernel. */
export interface FramedClient {
  /**
   * Sends a request and resolves with its one response.
   * @throws KernelError USAGE for a request id that is empty or in flight; WIRE_INVALID when the connection ends first
   */
  readonly execute: (request: ToolRequest) => Promise<ToolResponse>;
  /** Closes the connection; the kernel aborts calls that are still in flight. */
  readonly close: () => Promise<void>;
}

/** Connects to the kernel that serves `socketPath`. @throws KernelError USAGE when nobody does */
export function connectFramed(socketPath: string): Promise<FramedClient> {
  return new Promise((done, failed) => {
    const socket = connect(socketPath);
    const refused = (cause: Error) => {
      failed(
        usageError(
          `cannot connect to \`${socketPath}\`; check that the kernel runs and that you may open its socket`,
          cause,
        ),
      );
    };
    socket.once("error", refused);
    socket.once("connect", () => {
      socket.off("error", refused);
      done(new Client(socket));
    });
  });
}

interface Waiting {
  readonly done: (response: ToolResponse) => void;
  readonly failed: (error: KernelError) => void;
}

class Client implements FramedClient {
  readonly #socket: Socket;
  readonly #reader = new FrameReader();
  readonly #waiting = new Map<string, Waiting>();
  #outbox: Uint8Array[] = [];
  #outboxBytes = 0;
  #ended: KernelError | undefined;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("data", (bytes: Buffer) => this.#receive(bytes));
    socket.on("error", (cause) =>
      this.#end(new KernelError("WIRE_INVALID", "the connection to the kernel broke", cause)),
    );
    socket.on("close", () => this.#end(new KernelError("WIRE_INVALID", "the kernel closed the connection")));
  }

  readonly execute = async (request: ToolRequest): Promise<ToolResponse> => {
    if (this.#ended !== undefined) throw this.#ended;
    const { requestId } = request;
    if (requestId === "") throw usageError("a request needs a `request_id`; answers are matched by it");
    if (this.#waiting.has(requestId)) throw usageError(`the request id \`${requestId}\` is in flight; use another one`);
    if (this.#waiting.size >= FRAMED_CLIENT_CALLS_MAX)
      throw usageError("too many calls in flight; wait for answers first");
    const bytes = encodeRequest(request);
    return new Promise((done, failed) => {
      this.#waiting.set(requestId, { done, failed });
      this.#send(bytes);
    });
  };

  readonly close = async (): Promise<void> => {
    const closed = new Promise<void>((done) => {
      if (this.#socket.closed) done();
      else this.#socket.once("close", () => done());
    });
    this.#end(new KernelError("WIRE_INVALID", "the connection was closed before the kernel answered"));
    await closed;
  };

  #send(bytes: Uint8Array): void {
    if (this.#outbox.length === 0) process.nextTick(() => this.#flush());
    this.#outbox.push(bytes);
    this.#outboxBytes += frameSize(bytes.byteLength);
  }

  /** Requests of one turn of the event loop leave in one write. */
  #flush(): void {
    const bytes = Buffer.allocUnsafe(this.#outboxBytes);
    let offset = 0;
    for (const request of this.#outbox) offset = writeFrame(bytes, offset, request);
    this.#outbox = [];
    this.#outboxBytes = 0;
    if (this.#ended === undefined) this.#socket.write(bytes);
  }

  #receive(bytes: Buffer): void {
    this.#reader.push(bytes);
    try {
      for (let answer = this.#reader.next(); answer !== undefined; answer = this.#reader.next())
        this.#settle(decodeResponse(answer));
    } catch (error) {
      this.#end(
        error instanceof KernelError ? error : new KernelError("INTERNAL", "an answer could not be taken", error),
      );
    }
  }

  #settle(response: ToolResponse): void {
    const waiting = this.#waiting.get(response.requestId);
    if (waiting === undefined) throw new KernelError("WIRE_INVALID", describe(response));
    this.#waiting.delete(response.requestId);
    waiting.done(response);
  }

  #end(error: KernelError): void {
    if (this.#ended !== undefined) return;
    this.#ended = error;
    for (const { failed } of this.#waiting.values()) failed(error);
    this.#waiting.clear();
    this.#socket.destroy();
  }
}

/** An answer without the id of a call: what the kernel says about the connection itself. */
function describe(response: ToolResponse): string {
  const { case: kind, value } = response.result;
  const reason = kind === "error" || kind === "denied" ? value.message : "it answered a request that was not made";
  return `the kernel ended the connection: ${reason}`;
}
