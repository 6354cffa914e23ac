/**
 * Carries the messages of one upstream server that is reached by its address, over Streamable HTTP.
 *
 * The client library speaks; the requests are made by the kernel, through the gate for everything that leaves.
 *
 * INVARIANTS: nothing goes to another server than the one that the operator named. A server that says more than it may,
 * changes its session, leads elsewhere or ends an answer before it gave one is asked nothing more over this channel.
 */
import {
  isJSONRPCErrorResponse,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  SdkErrorCode,
  StreamableHTTPClientTransport,
  type TransportSendOptions,
} from "@modelcontextprotocol/client";
import { FailureWithoutEffect, ToolFailure } from "../../../model/outcome/failure.ts";
import { secretReference } from "../../../model/reach/secrets.ts";
import { sameServer, type WebAddress, webAddress } from "../../../names/web-address.ts";
import { UnreadableBody } from "../../../sandbox/net/fetch/body.ts";
import { SecretMisplaced } from "../../../sandbox/net/fetch/hop-secrets.ts";
import { ServerRequests } from "../../../sandbox/net/fetch/server-requests.ts";
import { visibleLine } from "../../../text/foreign-text.ts";
import type { UpstreamChannel } from "../talk/channel.ts";
import { MESSAGE_BYTES_MAX, SaidBounds } from "../talk/said-bounds.ts";

/** Streams of answers that broke off and are taken up again, for one question; and milliseconds between two of them. */
const RECONNECTIONS_MAX = 8;
const RECONNECT_MS = 500;
const RECONNECT_MS_MAX = 10_000;
/** Milliseconds for which the end of a session is waited for. */
const GOODBYE_MS = 2000;
/** Characters of a server's words. */
const WORDS_CHARACTERS_MAX = 300;

/** The options of the library's own channel, which say less of what may be absent. */
type SendOptions = Parameters<StreamableHTTPClientTransport["send"]>[1];

/** How such a server is reached. */
export interface HttpChannelParts
  extends Pick<ConstructorParameters<typeof ServerRequests>[0], "address" | "connections" | "broker" | "record"> {
  /** The secret that is its bearer token. */
  readonly bearer?: string | undefined;
}

/** The connection to one server, as the client library speaks over it. */
export class HttpChannel implements UpstreamChannel {
  readonly #address: WebAddress;
  readonly #requests: ServerRequests;
  readonly #transport: StreamableHTTPClientTransport;
  readonly #ended = Promise.withResolvers<void>();
  /** Questions that have no answer yet, by their ids. */
  readonly #open = new Set<string | number>();
  readonly endsWork = false;
  readonly hasPerRequestStream = true;
  readonly #said = new SaidBounds((why) => this.fail(why));
  #reconnections = 0;
  #session: string | undefined;
  #failure: string | undefined;
  onclose?: (() => void) | undefined;
  onmessage?: UpstreamChannel["onmessage"];
  onerror?: ((error: Error) => void) | undefined;

  constructor({ address, connections, broker, record, bearer }: HttpChannelParts) {
    this.#address = address;
    this.#requests = new ServerRequests({
      ...{ address, connections, broker, record },
      headers: bearer === undefined ? {} : { authorization: `Bearer ${secretReference(bearer)}` },
      onBytes: (count, openEvent) => this.#count(count, openEvent),
    });
    this.#transport = new StreamableHTTPClientTransport(new URL(address.url), {
      fetch: (to, init) => this.#fetch(to, init),
      onInsufficientScope: "throw",
      reconnectionScheduler: (again, delayMs) => this.#reconnect(again, delayMs),
    });
    this.#transport.onmessage = (message) => {
      if (isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message))
        if (message.id !== undefined) this.#open.delete(message.id);
      if (this.#failure === undefined) this.onmessage?.(message);
    };
    this.#transport.onerror = (error) => this.onerror?.(error);
  }

  /** Why it answers no more. */
  get failure(): string | undefined {
    return this.#failure;
  }

  /** Settled once no connection is left. */
  get ended(): Promise<void> {
    return this.#failure === undefined ? Promise.resolve() : this.#ended.promise;
  }

  get sessionId(): string | undefined {
    return this.#transport.sessionId;
  }

  setProtocolVersion(version: string): void {
    this.#transport.setProtocolVersion(version);
  }

  async start(): Promise<void> {
    await this.#transport.start();
  }

  async send(message: JSONRPCMessage, options: TransportSendOptions = {}): Promise<void> {
    if (this.#failure !== undefined) throw new Error(this.#failure);
    const id = isJSONRPCRequest(message) ? message.id : undefined;
    if (id !== undefined) this.#open.add(id);
    // what was cancelled need not be answered
    if ("method" in message && message.method === "notifications/cancelled")
      this.#open.delete(message.params?.["requestId"] as string | number);
    const onRequestStreamEnd = () => {
      options.onRequestStreamEnd?.();
      if (id !== undefined && this.#open.has(id) && options.requestSignal?.aborted !== true)
        this.fail("it ended its answer before it gave one");
    };
    try {
      await this.#transport.send(message, { ...(options as SendOptions), onRequestStreamEnd });
    } catch (error) {
      if (id !== undefined) this.#open.delete(id);
      if (error instanceof ToolFailure || options.requestSignal?.aborted === true) throw error;
      if (this.#failure === undefined && isNonsense(error)) this.fail("it said what no MCP server says");
      throw error;
    }
  }

  async close(): Promise<void> {
    if (this.#failure === undefined && this.#session !== undefined) await this.#goodbye();
    this.fail("it was ended");
    await this.#ended.promise;
  }

  /** What it said before counts no more; it may say as much for each open question. */
  reset(questions: number): void {
    this.#said.reset(questions);
    this.#reconnections = 0;
  }

  /** It said something that answers nothing. */
  stray(): void {
    this.#said.stray();
  }

  /** Leaves it; the first failure stays. */
  fail(why: string): void {
    if (this.#failure !== undefined) return;
    this.#failure = why;
    const left = () => this.#ended.resolve();
    this.#transport.close().finally(() => this.#requests.close().then(left, left));
    this.onclose?.();
  }

  /** Lets the server forget the session; nothing follows from its answer. */
  async #goodbye(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, GOODBYE_MS);
    this.#transport.terminateSession().then(resolve, () => resolve());
    await promise;
    clearTimeout(timer);
  }

  async #fetch(to: string | URL, init: RequestInit | undefined): Promise<Response> {
    if (this.#failure !== undefined) throw new Error(this.#failure);
    try {
      const answer = await this.#requests.fetch(to, init);
      const problem = this.#problemOf(answer, init?.method ?? "GET");
      if (problem !== undefined) this.fail(problem);
      return answer;
    } catch (error) {
      if (error instanceof SecretMisplaced)
        throw new FailureWithoutEffect("PERMISSION_DENIED", error.problem.message, "leave the secret out of the call");
      // a question that somebody takes back is no fault of the server's
      const why = error instanceof ToolFailure ? error.message : "it cannot be reached";
      if (init?.signal?.aborted !== true) this.fail(why);
      throw new Error(why, { cause: error });
    }
  }

  /** Why nothing more is asked of a server that answers so. */
  #problemOf({ status, headers }: Response, method: string): string | undefined {
    if (method === "DELETE") return undefined;
    const session = headers.get("mcp-session-id") ?? undefined;
    if (this.#session !== undefined && session !== undefined && session !== this.#session)
      return "it changed its session";
    if (status < 300) this.#session ??= session;
    if (status >= 300 && status < 400) return this.#leadsElsewhere(headers.get("location"));
    // one that sends nothing unasked says so, each in its own way
    if (method !== "POST") return undefined;
    if (status === 401 || status === 403)
      return `it answers ${status}: name the secret with its token by \`--bearer\`, or look at that secret`;
    if (status === 404) return this.#session === undefined ? "it answers 404" : "it knows its session no more";
    return status === 429 || status >= 500 ? `it answers ${status}` : undefined;
  }

  #leadsElsewhere(location: string | null): string | undefined {
    const to = webAddress(location ?? "", this.#address);
    if (!("problem" in to) && sameServer(to, this.#address)) return undefined;
    const where = visibleLine(location ?? "nowhere").slice(0, WORDS_CHARACTERS_MAX);
    return `it leads to another server (${where}), which is not followed; add the server by that address`;
  }

  #reconnect(again: () => void, delayMs: number): () => void {
    this.#reconnections += 1;
    if (this.#reconnections > RECONNECTIONS_MAX) {
      // what is open then has no other end than its own time
      if (this.#open.size > 0) this.fail("it breaks off every answer");
      return () => undefined;
    }
    const timer = setTimeout(again, Math.min(Math.max(delayMs, RECONNECT_MS), RECONNECT_MS_MAX));
    timer.unref();
    return () => clearTimeout(timer);
  }

  #count(bytes: number, openEvent: number): void {
    if (openEvent > MESSAGE_BYTES_MAX) this.fail(`it said more than ${MESSAGE_BYTES_MAX} bytes`);
    else if (!this.#said.isTooMuch(bytes)) return;
    throw new UnreadableBody("ratio", this.#failure ?? "");
  }
}

/** Whether the answer was none of MCP's: of another type, or no JSON-RPC. An HTTP error says so itself. */
function isNonsense(error: unknown): boolean {
  if (!(error instanceof Error)) return true;
  const code = (error as { readonly code?: unknown }).code;
  if (code === SdkErrorCode.ClientHttpUnexpectedContent) return true;
  return error instanceof SyntaxError || error.name === "ZodError";
}
