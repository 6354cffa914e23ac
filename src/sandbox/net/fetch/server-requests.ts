/**
 * Sends the requests of a client library to one server, each over a connection that the gate has checked.
 *
 * The library gets a `fetch` of its own. INVARIANTS: nothing goes anywhere but to the origin that the operator named,
 * and no redirect is followed here. Secrets are put in behind the library, which never has them, and are taken out of
 * answers before it reads them. What is packed is not taken, and what is read is counted. Every request is recorded.
 */
import type { Agent, Dispatcher } from "undici";
import { sameServer, type WebAddress, webAddress } from "../../../names/web-address.ts";
import type { SecretBroker } from "../broker/broker.ts";
import { type Replacements, Scrubber } from "../broker/scrub.ts";
import { type Attempt, AttemptLog, type EgressAttempt } from "../gate/attempt.ts";
import { UnreadableBody } from "./body.ts";
import { type ConnectionRules, webConnections } from "./connections.ts";
import { type FilledHop, filled, replacementsOf } from "./hop-secrets.ts";
import { OpenEvent } from "./open-event.ts";
import { requestFailure } from "./request-failure.ts";

/** Milliseconds until an answer begins; what asks has a shorter time of its own. */
const ANSWER_BEGINS_MS = 150_000;
/** Headers of an answer that the library is shown. */
const SHOWN_HEADERS = ["content-type", "location", "mcp-session-id", "retry-after"];
/** Statuses of answers that have no body. */
const BODILESS: ReadonlySet<number> = new Set([204, 205, 304]);

/** How one server is spoken with. */
export interface ServerRequestParts {
  readonly address: WebAddress;
  readonly connections: ConnectionRules;
  /** Headers that every request gets, which may name secrets. */
  readonly headers: Readonly<Record<string, string>>;
  /** Has the values of secrets as they are now. */
  readonly broker: () => Promise<SecretBroker | undefined>;
  /** Called with each request when it has ended; must not throw. */
  readonly record: (attempt: EgressAttempt) => void;
  /**
   * Called with the bytes that came, and those of an event that has not ended, which the library holds until then;
   * throws when they are too many.
   */
  readonly onBytes: (count: number, openEvent: number) => void;
}

/** The requests to one server. */
export class ServerRequests {
  readonly #parts: ServerRequestParts;
  readonly #agent: Agent;

  constructor(parts: ServerRequestParts) {
    this.#parts = parts;
    this.#agent = webConnections(parts.connections);
  }

  /** Ends all connections. */
  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  /** As libraries call it. @throws ToolFailure, SecretMisplaced, or an error for what is none of this server's */
  readonly fetch = async (to: string | URL, init: RequestInit = {}): Promise<Response> => {
    const address = webAddress(String(to));
    const { method = "GET", headers, body, signal } = init;
    if ("problem" in address || !sameServer(address, this.#parts.address))
      throw new Error("a request to another server than the one that was named is not sent");
    if (body !== undefined && body !== null && typeof body !== "string") throw new Error("only texts are sent");
    const given = Object.fromEntries([...new Headers(headers)].filter(([name]) => name !== "authorization"));
    const broker = await this.#parts.broker();
    const hop = {
      ...{ method, address, headers: { ...given, ...this.#parts.headers } },
      ...(typeof body === "string" && { body }),
    };
    // each is recorded, however long the connection lasts
    const attempt = new AttemptLog(this.#parts.record).begin("request");
    attempt.to(address.host.host, address.port);
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), ANSWER_BEGINS_MS);
    const failed = (error: unknown) =>
      requestFailure(error, {
        ...{ attempt, host: address.host.host, isFirst: true, isLate: late.signal.aborted },
        isCancelled: signal?.aborted === true,
      });
    try {
      const sent = filled(hop, broker);
      const signals = [late.signal, ...(signal ? [signal] : [])];
      const answer = await this.#sent(address, { method, sent, signal: AbortSignal.any(signals) });
      const bytes = Buffer.byteLength(hop.body ?? "");
      return this.#response(answer, {
        ...{ attempt, sent: bytes, secrets: sent.used, replacements: replacementsOf(address, broker), failed },
      });
    } catch (error) {
      throw failed(error);
    } finally {
      clearTimeout(timer);
    }
  };

  async #sent(
    { scheme, host: { host }, port }: WebAddress,
    { method, sent, signal }: { readonly method: string; readonly sent: FilledHop; readonly signal: AbortSignal },
  ): Promise<Dispatcher.ResponseData> {
    const name = host.includes(":") ? `[${host}]` : host;
    return await this.#agent.request({
      origin: `${scheme}://${name}:${port}`,
      path: sent.path,
      method: method as Dispatcher.HttpMethod,
      headers: { ...sent.headers, "accept-encoding": "identity" },
      ...(sent.body !== undefined && { body: sent.body }),
      signal,
    });
  }

  #response({ statusCode, headers, body }: Dispatcher.ResponseData, taking: Taking): Response {
    body.on("error", () => undefined); // whoever reads is told
    const packing = one(headers["content-encoding"]) ?? "identity";
    if (packing !== "identity" || statusCode < 200 || statusCode > 599) {
      body.destroy();
      throw new UnreadableBody("packing", "the answer is packed in a way that was not asked for, or has no status");
    }
    const shown = SHOWN_HEADERS.flatMap((name) => {
      const value = one(headers[name]);
      return value === undefined ? [] : [[name, taking.replacements?.in(value) ?? value] as [string, string]];
    });
    const pieces = this.#pieces(body, (one(headers["content-type"]) ?? "").startsWith(EVENTS), taking);
    if (!BODILESS.has(statusCode))
      return new Response(ReadableStream.from(pieces), { status: statusCode, headers: shown });
    body.destroy();
    end(taking, 0);
    return new Response(null, { status: statusCode, headers: shown });
  }

  async *#pieces(body: Dispatcher.ResponseData["body"], isEvents: boolean, taking: Taking): AsyncGenerator<Uint8Array> {
    const { onBytes } = this.#parts;
    const scrubber = taking.replacements && new Scrubber(taking.replacements);
    const open = new OpenEvent();
    let received = 0;
    try {
      for await (const piece of body as AsyncIterable<Buffer>) {
        received += piece.length;
        onBytes(piece.length, isEvents ? open.after(piece) : 0);
        yield scrubber === undefined ? piece : scrubber.push(piece);
        // no value goes on behind the end of a line
        if (scrubber !== undefined && piece.at(-1) === LINE_FEED) yield scrubber.flush();
      }
      if (scrubber !== undefined) yield scrubber.flush();
    } catch (error) {
      taking.attempt.moved(taking.sent, received);
      throw taking.failed(error);
    } finally {
      body.destroy();
      end(taking, received);
    }
  }
}

/** What a body is read with. */
interface Taking {
  readonly attempt: Attempt;
  /** Bytes that were sent. */
  readonly sent: number;
  /** Names of secrets that went along. */
  readonly secrets: readonly string[];
  readonly replacements: Replacements | undefined;
  /** Says what went wrong, and ends the attempt by it. */
  readonly failed: (error: unknown) => unknown;
}

const EVENTS = "text/event-stream";
const LINE_FEED = 10;

function end({ attempt, sent, secrets }: Taking, received: number): void {
  attempt.moved(sent, received);
  attempt.end("allowed", undefined, secrets.length === 0 ? {} : { secrets });
}

function one(header: string | readonly string[] | undefined): string | undefined {
  return typeof header === "object" ? header[0] : header;
}
