/**
 * Between the transport and the protocol library: tells the eras apart, and makes every call itself.
 *
 * A request that claims the modern era is answered here, from itself alone. A legacy one goes to the library, except for
 * `tools/call`: the library validates every message several times over, and the kernel validates every call anyway and
 * records what it refuses, so that all calls go to it directly, malformed ones above all. What a legacy call asks for
 * besides (a task) is optional and not offered.
 *
 * INVARIANTS: a request is answered once, a cancelled one not at all, and a client that is gone has its calls aborted; a
 * legacy request before `initialize` is refused, `ping` alone is not.
 */
import type { JSONRPCMessage, JSONRPCNotification, JSONRPCRequest, RequestId, Transport } from "@modelcontextprotocol/server";
import type { JsonObject } from "../../base/json.ts";
import { isJsonObject } from "../../base/json.ts";
import type { ProgressListener } from "../../model/progress.ts";
import type { CallParameters } from "./call-tool.ts";
import { cursorError, envelopeError, handshakeError, isProgressToken, legacyMetaError } from "./envelope.ts";
import { cancelledRequest } from "./json-rpc.ts";
import type { ModernEra } from "./modern.ts";
import { type CallResult, printAnswer } from "./print-result.ts";
import { progressNotes } from "./progress-notes.ts";
import { isModernOnly, META_CLIENT_CAPABILITIES, META_PROTOCOL_VERSION, MODERN_REVISION, modernMeta } from "./revisions.ts";
import { INTERNAL_ERROR, INVALID_PARAMS, printError, type RpcError } from "./rpc-error.ts";

/** A transport that also takes messages that are printed already, without the line's end. */
export interface PrintingTransport extends Transport {
  /** Sends the answer to the request `id`, printed as the pieces of one line. */
  readonly sendPrinted: (id: RequestId, answer: readonly string[]) => void;
  /** Sends a notification. */
  readonly sendNote: (line: string) => void;
  /** Whether the client reads more slowly than is written to it. */
  readonly isBehind: () => boolean;
}

/** Makes one call. */
export type CallHandler = (parameters: CallParameters, signal: AbortSignal, listener?: ProgressListener) => Promise<CallResult>;

/** How the answer to a call is printed in the era it was made in. */
type Printer = (id: RequestId, result: CallResult) => readonly string[];

/** A transport for the library that answers calls and modern requests itself. */
export class DirectCalls implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #inner: PrintingTransport;
  readonly #call: CallHandler;
  readonly #modern: ModernEra;
  readonly #running = new Map<RequestId, AbortController>();
  /** Whether the client asked for a legacy session; what it may ask before is little. */
  #initialized = false;

  constructor(inner: PrintingTransport, call: CallHandler, modern: ModernEra) {
    this.#inner = inner;
    this.#call = call;
    this.#modern = modern;
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

  /** Tells the transport below which legacy revision was agreed on. */
  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion?.(version);
  }

  #take(message: JSONRPCMessage): void {
    if (!("method" in message)) this.onmessage?.(message);
    else if (!("id" in message)) this.#notice(message);
    else {
      const meta = modernMeta(message.params);
      if (meta !== undefined && !asksForLegacy(message.method, meta)) this.#takeModern(message, meta);
      else this.#takeLegacy(message);
    }
  }

  #notice(message: JSONRPCNotification): void {
    const cancelled = cancelledRequest(message);
    if (cancelled !== undefined) this.#running.get(cancelled)?.abort();
    // The library has not heard of what is answered here, and would call a modern notification unknown.
    if (modernMeta(message.params) === undefined && !(cancelled !== undefined && this.#running.has(cancelled))) this.onmessage?.(message);
  }

  #takeModern(request: JSONRPCRequest, meta: JsonObject): void {
    const answer = this.#modern.answer(request, meta);
    switch (answer.kind) {
      case "call":
        this.#run(request, this.#printModern);
        return;
      case "refused":
        this.#refuse(request.id, answer.error);
        return;
      case "lines":
        for (const note of answer.notes) this.#inner.sendNote(note);
        this.#inner.sendPrinted(request.id, [answer.answer]);
    }
  }

  #takeLegacy(request: JSONRPCRequest): void {
    const error = this.#legacyError(request);
    if (error !== undefined) this.#refuse(request.id, error);
    else if (request.method === "tools/call") this.#run(request, printLegacy);
    else this.onmessage?.(request);
  }

  #legacyError({ method, params }: JSONRPCRequest): RpcError | undefined {
    if (isModernOnly(method) || !(this.#initialized || OPENING.has(method))) return noEra(method);
    if (method === "tools/call") return undefined; // the kernel says what is wrong with it, and records it
    const error = legacyMetaError(params) ?? cursorError(method, params) ?? (method === "initialize" ? handshakeError(params) : undefined);
    if (method === "initialize" && error === undefined) this.#initialized = true;
    return error;
  }

  #run({ id, params }: JSONRPCRequest, print: Printer): void {
    const call = new AbortController();
    this.#running.set(id, call);
    const parameters = callParameters(params);
    const notes = this.#notes(parameters._meta, call.signal);
    this.#call(parameters, call.signal, notes?.listener)
      .then((result) => print(id, result))
      .catch((error: unknown) => {
        this.onerror?.(error instanceof Error ? error : new Error(String(error)));
        return [printError(id, { code: INTERNAL_ERROR, message: "internal error" })];
      })
      .then((answer) => {
        notes?.end();
        // A client may use the id of a call that it cancelled again, before that one has ended.
        if (this.#running.get(id) === call) this.#running.delete(id);
        if (!call.signal.aborted) this.#inner.sendPrinted(id, answer);
      });
  }

  #notes(meta: unknown, signal: AbortSignal): ReturnType<typeof progressNotes> | undefined {
    const token = isJsonObject(meta) ? meta["progressToken"] : undefined;
    if (!isProgressToken(token)) return undefined;
    return progressNotes(token, signal, (line) => (this.#inner.isBehind() ? undefined : this.#inner.sendNote(line)));
  }

  readonly #printModern: Printer = (id, result) => {
    if (!result.isMalformed) return printAnswer(id, result, this.#modern.resultHead);
    return [printError(id, { code: INVALID_PARAMS, message: result.text, data: result.structuredContent })];
  };

  #refuse(id: RequestId, error: RpcError): void {
    this.#inner.sendPrinted(id, [printError(id, error)]);
  }
}

/** What a legacy client may ask before its handshake. */
const OPENING: ReadonlySet<string> = new Set(["initialize", "ping"]);

const printLegacy: Printer = (id, result) => printAnswer(id, result);

/** Whether an `initialize` is a legacy one after all: it is, unless its `_meta` asks for the modern era without a fault. */
function asksForLegacy(method: string, meta: JsonObject): boolean {
  return method === "initialize" && envelopeError(meta) !== undefined;
}

function noEra(method: string): RpcError {
  const modern = `carry \`${META_PROTOCOL_VERSION}\` (\`${MODERN_REVISION}\`) and \`${META_CLIENT_CAPABILITIES}\` in \`_meta\``;
  const message = isModernOnly(method) ? `\`${method}\` must ${modern}` : `begin with \`initialize\`, or let every request ${modern}`;
  return { code: INVALID_PARAMS, message };
}

/** The parameters as the kernel takes them, whatever they are. */
function callParameters(parameters: JSONRPCRequest["params"]): CallParameters {
  const { name, arguments: args, _meta }: Readonly<Record<string, unknown>> = parameters ?? {};
  return { name: typeof name === "string" ? name : "", arguments: args, _meta };
}
