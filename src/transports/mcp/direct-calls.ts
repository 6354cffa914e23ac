/**
 * The short way of `tools/call`: between the transport and the protocol library, which validates every message several
 * times over. The kernel validates every call anyway and records what it refuses, so that all calls go to it directly,
 * malformed ones above all; everything else takes the library's way and gets its answers. What a call carries besides
 * its name, arguments and replay key (a progress token, a wish for a task) asks for services that are optional and not offered.
 *
 * INVARIANT: a request is answered once, a cancelled one not at all, and a client that is gone has its calls aborted.
 */
import type { JSONRPCMessage, JSONRPCRequest, RequestId, Transport } from "@modelcontextprotocol/server";
import type { CallParameters } from "./call-tool.ts";
import { cancelledRequest } from "./json-rpc.ts";
import { type CallResult, printAnswer } from "./print-result.ts";

/** A transport that also takes answers that are printed already. */
export interface PrintingTransport extends Transport {
  /** Sends the answer to the request `id`, printed as one line without its end. */
  readonly sendPrinted: (id: RequestId, answer: string) => void;
}

/** Makes one call. */
export type CallHandler = (parameters: CallParameters, signal: AbortSignal) => Promise<CallResult>;

/** A transport that answers plain calls itself. */
export class DirectCalls implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #inner: PrintingTransport;
  readonly #call: CallHandler;
  readonly #running = new Map<RequestId, AbortController>();
  /** Calls before the handshake are the library's to refuse. */
  #initialized = false;

  constructor(inner: PrintingTransport, call: CallHandler) {
    this.#inner = inner;
    this.#call = call;
  }

  /** Starts the transport below. */
  start(): Promise<void> {
    this.#inner.onmessage = (message) => this.#take(message);
    this.#inner.onerror = (error) => this.onerror?.(error);
    this.#inner.onclose = () => {
      for (const call of this.#running.values()) call.abort();
      this.onclose?.();
    };
    return this.#inner.start();
  }

  /** Sends a message of the library. */
  send(message: JSONRPCMessage): Promise<void> {
    return this.#inner.send(message);
  }

  /** Closes the transport below. */
  close(): Promise<void> {
    return this.#inner.close();
  }

  #take(message: JSONRPCMessage): void {
    if (!("method" in message)) {
      this.onmessage?.(message);
      return;
    }
    if (message.method === "notifications/initialized") this.#initialized = true;
    if (this.#cancel(cancelledRequest(message))) return;
    if (message.method !== "tools/call" || !this.#initialized || !("id" in message) || this.#running.has(message.id)) {
      this.onmessage?.(message);
      return;
    }
    this.#run(message.id, callParameters(message.params));
  }

  #run(id: RequestId, parameters: CallParameters): void {
    const call = new AbortController();
    this.#running.set(id, call);
    this.#call(parameters, call.signal)
      .then((result) => printAnswer(id, result))
      .catch((error: unknown) => {
        this.onerror?.(error instanceof Error ? error : new Error(String(error)));
        return JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32603, message: "internal error" } });
      })
      .then((answer) => {
        this.#running.delete(id);
        if (!call.signal.aborted) this.#inner.sendPrinted(id, answer);
      });
  }

  #cancel(id: RequestId | undefined): boolean {
    const call = id === undefined ? undefined : this.#running.get(id);
    call?.abort();
    return call !== undefined;
  }
}

/** The parameters as the kernel takes them, whatever they are. */
function callParameters(parameters: JSONRPCRequest["params"]): CallParameters {
  const { name, arguments: args, _meta }: Readonly<Record<string, unknown>> = parameters ?? {};
  return { name: typeof name === "string" ? name : "", arguments: args, _meta };
}
