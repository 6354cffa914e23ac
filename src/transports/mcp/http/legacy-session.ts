/**
 * One legacy session over HTTP: what a client of revision 2025-11-25 or before has begun with `initialize`.
 *
 * Each POST has a stream of its own for its answers and what belongs to them. A GET opens the one stream for all else,
 * or takes a lost one up again.
 *
 * INVARIANTS: an answer goes to the POST that asked, whoever else listens. An id in use is not taken twice. What is
 * kept for a client that does not listen is bounded.
 */
import type { JSONRPCMessage, JSONRPCRequest, RequestId } from "@modelcontextprotocol/server";
import { CALLS_IN_FLIGHT_MAX } from "../../../base/limits.ts";
import { DirectCalls, type PrintingTransport } from "../direct-calls.ts";
import { LegacyEra } from "../legacy-era.ts";
import { type Classified, cancelledRequest } from "../protocol/json-rpc.ts";
import { BATCH_REVISION } from "../protocol/revisions.ts";
import { type HttpRefusal, refusal, SESSION_HEADER } from "./header-checks.ts";
import type { Outlet } from "./outlet.ts";
import { PostStream, STREAM_KEEP_ALIVE_MS } from "./post-stream.ts";
import type { Principal } from "./principals.ts";

/** Messages in one JSON-RPC batch (MCP 2025-03-26). */
const BATCH_MESSAGES_MAX = 256;
/** Notes that are kept for a client that has opened no stream for them. */
const KEPT_NOTES_MAX = 64;
/** Streams of one session: those of calls in flight, and some that were lost or have just ended. */
const STREAMS_MAX = 2 * CALLS_IN_FLIGHT_MAX;

/** A session that one client began. */
export class LegacySession {
  readonly id: string;
  readonly principal: Principal;
  lastUsedMs: number;
  readonly #calls: DirectCalls;
  readonly #era: LegacyEra;
  readonly #wire: SessionWire;
  #revision: string | undefined;
  #streams = 0;
  readonly #open = new Map<string, PostStream>();
  readonly #byRequest = new Map<RequestId, PostStream>();
  #listening: Outlet | undefined;
  #waking: NodeJS.Timeout | undefined;
  #notes: string[] = [];

  constructor(id: string, principal: Principal, nowMs: number) {
    this.id = id;
    this.principal = principal;
    this.lastUsedMs = nowMs;
    this.#wire = {
      start: () => Promise.resolve(),
      close: () => Promise.resolve(),
      send: async (message) => this.#send(message),
      setProtocolVersion: (version) => {
        this.#revision = version;
      },
      sendPrinted: (request, answer) => this.#answer(request, answer),
      sendNote: (line, about) => this.#note(line, about),
      isBehind: (about) => {
        const stream = about === undefined ? this.#listening : this.#byRequest.get(about);
        return stream?.isBehind === true;
      },
    };
    this.#calls = new DirectCalls(this.#wire, principal.options, principal.modern);
    this.#era = new LegacyEra(principal.source, this.#calls);
    this.#calls.onmessage = (message) => this.#era.take(message);
    this.#calls.onerror = principal.options.onError;
    void this.#calls.start();
  }

  /** Whether somebody waits for something here. */
  get isBusy(): boolean {
    return this.#byRequest.size > 0 || this.#listening !== undefined;
  }

  /** Whether a revision was agreed on. */
  get hasBegun(): boolean {
    return this.#revision !== undefined;
  }

  /** Takes what a POST brought. @returns why not, or `undefined` once it was taken */
  post(messages: readonly Classified[], isBatch: boolean, outlet: Outlet): HttpRefusal | undefined {
    const requests = messages.flatMap(({ kind, message }) => (kind === "request" ? [message as JSONRPCRequest] : []));
    const problem = this.#problem(messages, requests, isBatch);
    if (problem !== undefined) return problem;
    if (requests.length > 0) this.#openStream(requests, isBatch, outlet);
    for (const { message } of messages) this.#deliver(message);
    if (requests.length === 0) outlet.bare(202);
    return undefined;
  }

  /** Opens the stream for all that belongs to no request. @returns why not */
  listen(outlet: Outlet): HttpRefusal | undefined {
    if (this.#listening?.isOpen === true)
      return refusal(409, "the session has a stream of its own already; close it first");
    outlet.beginStream();
    this.#listening = outlet;
    this.#waking = setInterval(() => outlet.keepAlive(), STREAM_KEEP_ALIVE_MS);
    this.#waking.unref();
    outlet.onGone = () => this.#stopListening(outlet);
    for (const note of this.#notes.splice(0)) outlet.event(note);
    return undefined;
  }

  /** Takes a lost stream up again after the event `last`. @returns why not */
  resume(last: string, outlet: Outlet): HttpRefusal | undefined {
    const [, key = "", sequence = ""] = /^(\w+)-(\d{1,15})$/.exec(last) ?? [];
    const stream = this.#open.get(key);
    if (stream === undefined) return refusal(404, "no stream with that event is kept here (any more); ask again");
    stream.resume(outlet, Number(sequence));
    return undefined;
  }

  /** Ends the session, and the calls that run in it. */
  close(): void {
    for (const stream of this.#open.values()) stream.close();
    this.#open.clear();
    this.#byRequest.clear();
    const listening = this.#listening;
    if (listening !== undefined) this.#stopListening(listening);
    listening?.end();
    this.#wire.onclose?.();
    this.#era.close();
  }

  #stopListening(outlet: Outlet): void {
    if (this.#listening !== outlet) return;
    clearInterval(this.#waking);
    this.#listening = undefined;
  }

  #problem(
    messages: readonly Classified[],
    requests: readonly JSONRPCRequest[],
    isBatch: boolean,
  ): HttpRefusal | undefined {
    if (isBatch && this.#revision !== BATCH_REVISION)
      return refusal(400, `only revision ${BATCH_REVISION} has batches; send each message in a request of its own`);
    if (messages.length === 0) return refusal(400, "the batch is empty; put at least one message into it");
    if (messages.length > BATCH_MESSAGES_MAX)
      return refusal(400, `the batch has more than ${BATCH_MESSAGES_MAX} messages; send several`);
    if (isBatch && requests.some(({ method }) => method === "initialize"))
      return refusal(400, "`initialize` cannot stand in a batch; send it by itself");
    const ids = new Set(requests.map(({ id }) => id));
    if (ids.size < requests.length || requests.some(({ id }) => this.#byRequest.has(id)))
      return refusal(400, "the id of the request is in use by one that is not answered yet");
    return this.#byRequest.size + ids.size > CALLS_IN_FLIGHT_MAX || this.#open.size >= STREAMS_MAX
      ? refusal(429, "too many calls are in flight in this session; wait for some of them to end")
      : undefined;
  }

  #openStream(requests: readonly JSONRPCRequest[], isBatch: boolean, outlet: Outlet): void {
    this.#streams += 1;
    const isFirst = requests.some(({ method }) => method === "initialize");
    const stream = new PostStream(
      {
        cancel: (id) => this.#cancel(id),
        forget: ({ key }) => {
          this.#open.delete(key);
        },
      },
      {
        key: `s${this.#streams}`,
        ids: requests.map(({ id }) => id),
        isBatch,
        headers: isFirst ? { [SESSION_HEADER]: this.id } : {},
      },
      outlet,
    );
    this.#open.set(stream.key, stream);
    for (const { id } of requests) this.#byRequest.set(id, stream);
  }

  #deliver(message: JSONRPCMessage): void {
    this.#wire.onmessage?.(message);
    const cancelled = cancelledRequest(message);
    if (cancelled === undefined) return;
    this.#byRequest.get(cancelled)?.leave(cancelled); // the protocol does not answer it
    this.#byRequest.delete(cancelled);
  }

  #cancel(requestId: RequestId): void {
    this.#byRequest.delete(requestId);
    this.#wire.onmessage?.({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId } });
  }

  #send(message: JSONRPCMessage): void {
    if ("method" in message) this.#note(JSON.stringify(message), undefined);
    else if (message.id !== undefined) this.#answer(message.id, JSON.stringify(message));
  }

  #answer(id: RequestId, line: string): void {
    const stream = this.#byRequest.get(id);
    this.#byRequest.delete(id);
    stream?.answer(id, line);
  }

  #note(line: string, about: RequestId | undefined): void {
    const stream = about === undefined ? undefined : this.#byRequest.get(about);
    if (stream !== undefined) stream.note(line);
    else if (this.#listening?.isOpen === true) this.#listening.event(line);
    else if (this.#notes.length < KEPT_NOTES_MAX) this.#notes.push(line);
  }
}

/** What the session is for the calls made in it. */
interface SessionWire extends PrintingTransport {
  onclose?: () => void;
  onmessage?: (message: JSONRPCMessage) => void;
}
