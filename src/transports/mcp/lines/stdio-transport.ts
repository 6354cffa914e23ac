/**
 * JSON-RPC messages over standard input and output, one per line.
 *
 * Trusts nothing about the peer: a line is bounded before it is kept, nesting is bounded by the parser's caller, and
 * when the peer reads slowly or has too many calls in flight, input is not read either. Answers of one tick leave in
 * one write. When the input ends, calls in flight have a grace period to be answered. INVARIANT: what is no message
 * never reaches the protocol layer, which would neither answer nor forget it; a cancelled request is no longer waited
 * for.
 */
import type { Readable, Writable } from "node:stream";
import type { JSONRPCMessage, JSONRPCRequest, RequestId, Transport } from "@modelcontextprotocol/server";
import { textOf } from "../../../base/bytes.ts";
import { isJsonObject } from "../../../base/json.ts";
import { type ParsedJson, parseJson } from "../../../base/json-parse.ts";
import { CALLS_IN_FLIGHT_MAX, CANCEL_GRACE_MS, LINE_BYTES_MAX, MESSAGES_PER_TURN_MAX } from "../../../base/limits.ts";
import { cancelledRequest, classify, isRequestId } from "../protocol/json-rpc.ts";
import { BATCH_REVISION } from "../protocol/revisions.ts";
import { INVALID_REQUEST, PARSE_ERROR, printError } from "../protocol/rpc-error.ts";
import { Batch } from "./batch.ts";

/** Messages in one JSON-RPC batch (MCP 2025-03-26): as many as may be in flight. */
export const BATCH_MESSAGES_MAX = 256;

/** A transport of the MCP library over a pair of streams. */
export class LineTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #input: Readable;
  readonly #output: Writable;
  #pieces: Buffer[] = [];
  #pendingBytes = 0;
  /** What came with lines that were handled, and is not handled yet; input is paused while there is something. */
  #rest: Buffer | undefined;
  /** Lines are being handled, or will be in the next turn. */
  #taking = false;
  /** Lines of this turn are on their way, and leave together at its end. */
  #corked = false;
  /** The stream has taken as much as it wants, until it drains. */
  #full = false;
  #closed = false;
  #ended = false;
  #blocked = false;
  /** Ids of requests that will be answered. */
  readonly #inFlight = new Set<RequestId>();
  /** The batch of each request in flight that came in one. */
  readonly #batches = new Map<RequestId, Batch>();
  /** The legacy revision that was agreed on. */
  #revision: string | undefined;
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
    const answered = "method" in message ? undefined : message.id;
    if (answered === undefined) this.#queueLine(JSON.stringify(message));
    else this.sendPrinted(answered, JSON.stringify(message));
    return Promise.resolve();
  }

  /** Queues the answer to the request `id`, printed already. */
  sendPrinted(id: RequestId, answer: string): void {
    if (this.#closed) return;
    const batch = this.#batches.size === 0 ? undefined : this.#batches.get(id);
    if (batch === undefined) this.#queueLine(answer);
    else batch.add(answer);
    this.#settled(id);
  }

  /** Queues a notification, printed already. */
  sendNote(line: string): void {
    if (!this.#closed) this.#queueLine(line);
  }

  /** Whether the client reads more slowly than is written to it. */
  isBehind(): boolean {
    return this.#blocked;
  }

  /** Takes note of the legacy revision that was agreed on: one of them has batches. */
  setProtocolVersion(version: string): void {
    this.#revision = version;
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

  #queueLine(line: string): void {
    if (!this.#corked) {
      this.#corked = true;
      this.#output.cork();
      setImmediate(() => this.#flush());
    }
    // Bytes of each line: a text of all lines would be copied into a block of its own that is new each time.
    if (!this.#output.write(Buffer.from(`${line}\n`))) this.#full = true;
  }

  #flush(): void {
    if (!this.#corked) return;
    this.#corked = false;
    this.#output.uncork();
    if (this.#closed || !this.#full) return;
    this.#blocked = true;
    this.#input.pause();
  }

  /** A request was answered, or never will be. */
  #settled(id: RequestId): void {
    if (!this.#inFlight.delete(id)) return;
    if (this.#batches.size > 0) this.#leaveBatch(id);
    if (this.#ended && !this.#taking && this.#rest === undefined && this.#inFlight.size === 0) void this.close();
    else this.#resume();
  }

  #leaveBatch(id: RequestId): void {
    const batch = this.#batches.get(id);
    this.#batches.delete(id);
    batch?.settle();
  }

  #unblock(): void {
    this.#blocked = false;
    this.#full = false;
    this.#resume();
  }

  /** The client said its last word; what it asked for before is still answered, for a while. */
  #end(): void {
    this.#ended = true;
    if (this.#rest === undefined && this.#inFlight.size === 0) void this.close();
    else this.#awaitAnswers();
  }

  /** Lines that came before the end and wait for room have the same grace, anew whenever one of them is handled. */
  #awaitAnswers(): void {
    clearTimeout(this.#farewell);
    if (this.#closed) return;
    this.#farewell = setTimeout(() => void this.close(), CANCEL_GRACE_MS);
  }

  /** Handles lines while there is room for their calls, a few per turn; keeps what is left. */
  #take(chunk: Buffer): void {
    this.#taking = true;
    this.#rest = undefined;
    let start = 0;
    for (let lines = 0; lines < MESSAGES_PER_TURN_MAX && !this.#isFull(); lines += 1) {
      const end = chunk.indexOf(10, start);
      if (end === -1) {
        if (start < chunk.length) this.#keep(chunk.subarray(start));
        this.#taking = false;
        if (this.#ended) this.#end();
        else this.#resume();
        return;
      }
      this.#line(this.#joined(chunk.subarray(start, end)));
      start = end + 1;
    }
    this.#taking = false;
    if (this.#closed) return;
    this.#rest = chunk.subarray(start);
    this.#input.pause();
    if (this.#ended) this.#awaitAnswers();
    this.#resume();
  }

  /** Goes on with what is left, or reads on. */
  #resume(): void {
    if (this.#closed || this.#taking || this.#isFull()) return;
    if (this.#rest === undefined) {
      this.#input.resume();
      return;
    }
    // The answers of the lines before leave before the next are looked at, so that client and kernel work at the same
    // time.
    this.#taking = true;
    setImmediate(() => {
      this.#taking = false;
      if (this.#closed || this.#rest === undefined) return;
      if (!this.#isFull()) this.#take(this.#rest);
    });
  }

  /** Whether further calls have to wait; a batch that begins while there is room is handled whole. */
  #isFull(): boolean {
    return this.#blocked || this.#inFlight.size >= CALLS_IN_FLIGHT_MAX;
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
      const problem = `a message is longer than ${LINE_BYTES_MAX} bytes; the connection is closed`;
      this.onerror?.(new Error(problem));
      this.#refuse(null, { code: INVALID_REQUEST, message: problem });
      void this.close();
      return;
    }
    this.#pieces.push(piece);
  }

  #line(text: string | undefined): void {
    if (text?.trim() === "") return;
    const parsed: ParsedJson = text === undefined ? { ok: false, problem: "it is not UTF-8" } : parseJson(text);
    if (!parsed.ok) {
      this.onerror?.(new Error(`a line was refused: ${parsed.problem}`));
      const message = `the line is refused: ${parsed.problem}`;
      const id = text === undefined ? undefined : readableId(text);
      this.#refuse(id ?? null, { code: id === undefined ? PARSE_ERROR : INVALID_REQUEST, message });
    } else if (Array.isArray(parsed.value)) this.#batch(parsed.value);
    else this.#message(parsed.value);
  }

  #batch(messages: readonly unknown[]): void {
    const problem = this.#batchProblem(messages);
    if (problem !== undefined) {
      this.#refuse(null, { code: INVALID_REQUEST, message: problem });
      return;
    }
    const batch = new Batch((line) => this.#queueLine(line));
    for (const message of messages) this.#message(message, batch);
    batch.settle();
  }

  #batchProblem(messages: readonly unknown[]): string | undefined {
    if (this.#revision !== BATCH_REVISION)
      return `only revision ${BATCH_REVISION} has batches; send each message in a line of its own`;
    if (messages.length === 0) return "the batch is empty; put at least one message into it";
    return messages.length > BATCH_MESSAGES_MAX
      ? `the batch has more than ${BATCH_MESSAGES_MAX} messages; send several`
      : undefined;
  }

  #message(value: unknown, batch?: Batch): void {
    const classified = classify(value);
    if (classified === undefined) {
      const message = "the line is not a JSON-RPC 2.0 message";
      this.#refuse(this.#usableId(value), { code: INVALID_REQUEST, message }, batch);
      return;
    }
    const { kind, message } = classified;
    if (kind === "request") {
      const problem = this.#requestProblem(message, batch);
      if (problem !== undefined) {
        this.#refuse(null, { code: INVALID_REQUEST, message: problem }, batch);
        return;
      }
      this.#inFlight.add(message.id);
      if (batch !== undefined) {
        batch.expect();
        this.#batches.set(message.id, batch);
      }
    }
    this.onmessage?.(message);
    const cancelled = kind === "notification" ? cancelledRequest(message) : undefined;
    if (cancelled !== undefined) this.#settled(cancelled); // the protocol does not answer it
  }

  #requestProblem({ id, method }: JSONRPCRequest, batch: Batch | undefined): string | undefined {
    if (this.#inFlight.has(id)) return "the id of the request is in use by one that is not answered yet";
    return batch !== undefined && method === "initialize"
      ? "`initialize` cannot stand in a batch; send it in a line of its own"
      : undefined;
  }

  #refuse(id: RequestId | null, error: Parameters<typeof printError>[1], batch?: Batch): void {
    const answer = printError(id, error);
    if (batch === undefined) this.#queueLine(answer);
    else batch.add(answer);
  }

  /**
   * The id of something that is no message, to answer it by; `null` when it has none, or one of which it is in doubt
   * who asked.
   */
  #usableId(value: unknown): RequestId | null {
    if (!isJsonObject(value) || typeof value["method"] !== "string") return null;
    const { id } = value;
    return isRequestId(id) && !this.#inFlight.has(id) ? id : null;
  }
}

/** Characters of a refused line that are read again, for its id. */
const READ_AGAIN_MAX = 1_048_576;

/** The id of a request that is JSON and is refused all the same: whoever waits for it is to hear of it. */
function readableId(text: string): string | number | undefined {
  if (text.length > READ_AGAIN_MAX) return undefined;
  try {
    const { id } = JSON.parse(text) as { readonly id?: unknown };
    return typeof id === "string" || typeof id === "number" ? id : undefined;
  } catch {
    return undefined; // it is no JSON
  }
}
