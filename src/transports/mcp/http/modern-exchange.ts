/**
 * Carries one request of the modern era over one HTTP response.
 *
 * The answer is a JSON text, or the last event of a stream that begins with the first note, or after a while so that
 * nobody on the way takes the response for dead. INVARIANT: a peer that closes its response has cancelled its request.
 */
import type { JSONRPCMessage, RequestId } from "@modelcontextprotocol/server";
import type { PrintingTransport } from "../direct-calls.ts";
import {
  HEADER_MISMATCH,
  METHOD_NOT_FOUND,
  MISSING_CAPABILITY,
  printError,
  type RpcError,
  UNSUPPORTED_REVISION,
} from "../protocol/rpc-error.ts";
import type { Outlet } from "./outlet.ts";

/** Milliseconds without an answer after which a response becomes a stream, and between two signs of life on it. */
export const KEEP_ALIVE_MS = 10_000;

/** Statuses of errors that concern the request as a whole. */
const STATUS: Readonly<Record<number, number>> = {
  [METHOD_NOT_FOUND]: 404,
  [HEADER_MISMATCH]: 400,
  [MISSING_CAPABILITY]: 400,
  [UNSUPPORTED_REVISION]: 400,
};

/** The response to one request as the transport of calls. */
export class ModernExchange implements PrintingTransport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #outlet: Outlet;
  readonly #waking: NodeJS.Timeout;

  constructor(outlet: Outlet, keepAliveMs = KEEP_ALIVE_MS) {
    this.#outlet = outlet;
    this.#waking = setInterval(() => this.#wake(), keepAliveMs);
    this.#waking.unref();
    outlet.onGone = () => {
      clearInterval(this.#waking);
      this.onclose?.();
    };
  }

  /** There is nothing to start: the request is handed over with `deliver`. */
  start(): Promise<void> {
    return Promise.resolve();
  }

  /** Hands the request over. */
  deliver(message: JSONRPCMessage): void {
    this.onmessage?.(message);
  }

  /** Sends a message of the library. */
  send(message: JSONRPCMessage): Promise<void> {
    if ("method" in message) this.sendNote(JSON.stringify(message));
    else if (message.id !== undefined) this.sendPrinted(message.id, JSON.stringify(message));
    return Promise.resolve();
  }

  /** Sends the answer, printed already. */
  sendPrinted(_id: RequestId, answer: string): void {
    clearInterval(this.#waking);
    if (this.#outlet.isStreaming) {
      this.#outlet.event(answer);
      this.#outlet.end();
    } else this.#outlet.json(statusOf(answer), answer);
  }

  /** Refuses the request before anything of it is done. */
  sendRefused(id: RequestId, error: RpcError): void {
    clearInterval(this.#waking);
    this.#outlet.json(STATUS[error.code] ?? 400, printError(id, error));
  }

  /** Sends a note, printed already. */
  sendNote(line: string): void {
    this.#outlet.beginStream();
    this.#outlet.event(line);
  }

  /** Whether the peer reads more slowly than is written to it. */
  isBehind(): boolean {
    return this.#outlet.isBehind;
  }

  /** Ends the response. */
  close(): Promise<void> {
    clearInterval(this.#waking);
    this.#outlet.end();
    this.onclose?.();
    return Promise.resolve();
  }

  #wake(): void {
    this.#outlet.beginStream();
    this.#outlet.keepAlive();
  }
}

/** The status of an answer: what concerns the request as a whole has one of its own. */
function statusOf(answer: string): number {
  // Errors are short; what is longer is not looked through.
  if (answer.length > ERROR_CHARACTERS_MAX || !answer.includes('"error":')) return 200;
  const { error } = JSON.parse(answer) as { readonly error?: { readonly code?: unknown } };
  return typeof error?.code === "number" ? (STATUS[error.code] ?? 200) : 200;
}

/** Characters (UTF-16 code units) up to which an answer may be an error that concerns the request as a whole. */
const ERROR_CHARACTERS_MAX = 4096;
