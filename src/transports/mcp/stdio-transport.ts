/**
 * JSON-RPC messages over standard input and output, one per line.
 *
 * Trusts nothing about the peer: a line is bounded before it is kept, nesting is bounded by the parser's caller, and
 * when the peer reads slowly or has too many calls in flight, input is not read either. Answers of one tick leave in one
 * write. When the input ends, calls in flight have a grace period to be answered. INVARIANT: what is no message never
 * reaches the protocol layer, which would neither answer nor forget it; a cancelled request is no longer waited for.
 */
import type { Readable, Writable } from "node:stream";
import type { JSONRPCMessage, RequestId, Transport } from "@modelcontextprotocol/server";
import { textOf } from "../../base/bytes.ts";
import { isJsonObject } from "../../base/json.ts";
import { type ParsedJson, parseJson } from "../../base/json-parse.ts";
import { CALLS_IN_FLIGHT_MAX, CANCEL_GRACE_MS, LINE_BYTES_MAX } from "../../base/limits.ts";
import { cancelledRequest, classify, isRequestId } from "./json-rpc.ts";

/** A transport of the MCP library over a pair of streams. */
export class LineTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #input: Readable;
  readonly #output: Writable;
  #pieces: Buffer[] = [];
  #pendingBytes = 0;
  #outgoing = "";
  #closed = false;
  #ended = false;
  #blocked = false;
  /** Ids of requests that will be answered. */
  readonly #inFlight = new Set<RequestId>();
  #farewell: NodeJS.Timeout | undefined;

  constructor(input: Readable, output: Writable) {
    this.#input = input;
    this.#output = output;
  }

  /** Starts reading. Ends when the input ends: a client that closes its side is gone. */
  start(): Promise<void> {
    this.#input.on("data", (chunk: Buffer) => this.#take(chunk));
    this.#input.on("end", () => this.#end());
    this.#input.on("close", () => (this.#ended ? undefined : void this.close()));
    this.#input.on("error", (error) => this.onerror?.(error));
    this.#output.on("error", () => void this.close());
    this.#output.on("drain", () => this.#unblock());
    return Promise.resolve();
  }

  /** Queues one message; what one tick queues leaves together. */
  send(message: JSONRPCMessage): Promise<void> {
    if (this.#closed) return Promise.resolve();
    this.#queue(message);
    if (!("method" in message) && message.id !== undefined) this.#settled(message.id);
    return Promise.resolve();
  }

  /** Queues the answer to the request `id`, printed already. */
  sendPrinted(id: RequestId, answer: string): void {
    if (this.#closed) return;
    this.#queueLine(answer);
    this.#settled(id);
  }

  /** Stops reading and tells the protocol that the peer is gone. */
  close(): Promise<void> {
    if (this.#closed) return Promise.resolve();
    this.#flush();
    this.#closed = true;
    clearTimeout(this.#farewell);
    this.#input.pause();
    this.onclose?.();
    return Promise.resolve();
  }

  #queue(message: object): void {
    this.#queueLine(JSON.stringify(message));
  }

  #queueLine(line: string): void {
    if (this.#outgoing === "") setImmediate(() => this.#flush());
    this.#outgoing += `${line}\n`;
  }

  #flush(): void {
    const text = this.#outgoing;
    this.#outgoing = "";
    if (text === "" || this.#closed || this.#output.write(text)) return;
    this.#blocked = true;
    this.#input.pause();
  }

  /** A request was answered, or never will be. */
  #settled(id: RequestId): void {
    if (!this.#inFlight.delete(id)) return;
    if (this.#ended && this.#inFlight.size === 0) void this.close();
    else if (!this.#blocked && this.#inFlight.size < CALLS_IN_FLIGHT_MAX) this.#input.resume();
  }

  #unblock(): void {
    this.#blocked = false;
    if (!this.#closed && this.#inFlight.size < CALLS_IN_FLIGHT_MAX) this.#input.resume();
  }

  /** The client said its last word; what it asked for before is still answered, for a while. */
  #end(): void {
    this.#ended = true;
    if (this.#inFlight.size === 0) void this.close();
    else this.#farewell = setTimeout(() => void this.close(), CANCEL_GRACE_MS);
  }

  #take(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      this.#line(this.#joined(chunk.subarray(start, end)));
      start = end + 1;
    }
    if (start < chunk.length) this.#keep(chunk.subarray(start));
  }

  /** The whole line, or `undefined` when it is not UTF-8: repaired text would no longer be what the client sent. */
  #joined(last: Buffer): string | undefined {
    if (this.#pieces.length === 0) return textOf(last);
    const whole = Buffer.concat([...this.#pieces, last]);
    this.#pieces = [];
    this.#pendingBytes = 0;
    return textOf(whole);
  }

  #keep(piece: Buffer): void {
    this.#pendingBytes += piece.length;
    if (this.#pendingBytes > LINE_BYTES_MAX) {
      this.onerror?.(new Error(`a message is longer than ${LINE_BYTES_MAX} bytes; the connection is closed`));
      void this.close();
      return;
    }
    this.#pieces.push(piece);
  }

  #line(text: string | undefined): void {
    if (text?.trim() === "") return;
    const parsed: ParsedJson = text === undefined ? { ok: false, problem: "it is not UTF-8" } : parseJson(text);
    if (parsed.ok) {
      this.#message(parsed.value);
      return;
    }
    this.onerror?.(new Error(`a line was refused: ${parsed.problem}`));
    this.#refuse(null, -32700, `the line is refused: ${parsed.problem}`);
  }

  #message(value: unknown): void {
    const classified = classify(value);
    if (classified === undefined) {
      this.#refuse(usableId(value), -32600, "the line is not a JSON-RPC 2.0 message");
      return;
    }
    const { kind, message } = classified;
    if (kind === "request") {
      if (this.#inFlight.has(message.id)) {
        this.#refuse(null, -32600, "the id of the request is in use by one that is not answered yet");
        return;
      }
      this.#inFlight.add(message.id);
    }
    if (this.#inFlight.size >= CALLS_IN_FLIGHT_MAX) this.#input.pause();
    this.onmessage?.(message);
    const cancelled = kind === "notification" ? cancelledRequest(message) : undefined;
    if (cancelled !== undefined) this.#settled(cancelled); // the protocol does not answer it
  }

  #refuse(id: RequestId | null, code: number, message: string): void {
    this.#queue({ jsonrpc: "2.0", id, error: { code, message } });
  }
}

/** The id of something that is no message, to answer it by; `null` when it has none or one that is in doubt. */
function usableId(value: unknown): RequestId | null {
  if (!isJsonObject(value) || typeof value["method"] !== "string") return null;
  return isRequestId(value["id"]) ? value["id"] : null;
}
