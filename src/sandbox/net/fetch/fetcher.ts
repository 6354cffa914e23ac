/**
 * Fetches from web servers for tools: each hop is judged, connected to where the gate looked, and recorded.
 *
 * It follows redirects itself, keeps no cookies, and takes nothing that a call gave for one server to another one.
 *
 * INVARIANTS: a host is judged before it is looked up, the first as well as those that answers lead on to. Every
 * attempt is recorded once. What is held is bounded by what was asked for.
 */
import type { Agent, Dispatcher } from "undici";
import { FailureWithoutEffect, ToolFailure } from "../../../model/outcome/failure.ts";
import type { WebAnswer, WebMethod, WebRequest } from "../../../model/reach/web.ts";
import { type WebAddress, webAddress } from "../../../names/web-address.ts";
import type { SecretBroker } from "../broker/broker.ts";
import type { Replacements } from "../broker/scrub.ts";
import { type Attempt, AttemptLog, type EgressAttempt } from "../gate/attempt.ts";
import { type ReadBody, readBody } from "./body.ts";
import { type ConnectionRules, webConnections } from "./connections.ts";
import { type FilledHop, filled, replacementsOf, withoutSecrets } from "./hop-secrets.ts";
import { ACCEPTED_PACKINGS } from "./packings.ts";
import { PageReader } from "./page-thread.ts";
import { requestFailure } from "./request-failure.ts";
import { waitOf } from "./retry-after.ts";
import { contentTypeOf, isPage, textOfBody } from "./text.ts";

/** Redirects that one call follows. */
const REDIRECTS_MAX = 5;

/** What a call says of its requests. */
export interface FetchRules {
  /** Throws where the call may not reach the server. Asked before each hop. */
  readonly judge: (address: WebAddress) => Promise<void>;
  /** Called with each attempt when it has ended; must not throw. */
  readonly record: (attempt: EgressAttempt) => void;
  /** Secrets that the requests are made with. */
  readonly broker?: SecretBroker | undefined;
  readonly signal: AbortSignal;
}

/** One request on its way. */
interface Hop extends Pick<WebRequest, "headers"> {
  readonly method: WebMethod;
  readonly address: WebAddress;
  readonly body?: string;
}

/** The web, for one kernel. */
export class WebFetcher {
  readonly #agent: Agent;
  readonly #pages = new PageReader();

  constructor(rules: ConnectionRules) {
    this.#agent = webConnections(rules);
  }

  /** Ends all connections. */
  async close(): Promise<void> {
    await Promise.all([this.#agent.destroy(), this.#pages.close()]);
  }

  /** Sends `request`, and follows where its answer leads. @throws ToolFailure; whatever `judge` throws */
  async fetch(request: WebRequest, rules: FetchRules): Promise<WebAnswer> {
    const late = AbortSignal.timeout(request.timeoutMs);
    const signal = AbortSignal.any([rules.signal, late]);
    const log = new AttemptLog(rules.record);
    const redirects: string[] = [];
    let hop: Hop = { ...request, address: requireAddress(request.url) };
    for (;;) {
      await rules.judge(hop.address);
      const attempt = log.begin("request");
      attempt.to(hop.address.host.host, hop.address.port);
      const got = await this.#once(hop, {
        attempt,
        bytesMax: request.bytesMax,
        signal,
        broker: rules.broker,
      }).catch((error: unknown) => {
        throw requestFailure(error, {
          attempt,
          host: hop.address.host.host,
          isFirst: redirects.length === 0,
          isLate: late.aborted,
          isCancelled: rules.signal.aborted,
        });
      });
      if (got.next === undefined)
        return await this.#answer(request, { ...got, redirects, address: hop.address, signal });
      redirects.push(hop.address.url);
      if (redirects.length > REDIRECTS_MAX)
        throw new ToolFailure(
          "IO_ERROR",
          `the answer led on more than ${REDIRECTS_MAX} times`,
          "fetch the last address",
        );
      hop = nextHop(hop, got.status, got.next);
    }
  }

  async #once(
    hop: Hop,
    {
      attempt,
      bytesMax,
      signal,
      broker,
    }: {
      readonly attempt: Attempt;
      readonly bytesMax: number;
      readonly signal: AbortSignal;
      readonly broker: SecretBroker | undefined;
    },
  ): Promise<Got> {
    const sent = filled(hop, broker);
    const response = await this.#sent(hop, sent, signal);
    const replacements = replacementsOf(hop.address, broker);
    const status = response.statusCode;
    const headers = headersWithout(response.headers, replacements);
    const next = REDIRECTING.has(status) ? one(headers["location"]) : undefined;
    const body = await readBody(
      response.body,
      next === undefined ? (one(headers["content-encoding"]) ?? "") : "",
      next === undefined ? bytesMax : 0,
    );
    attempt.moved(Buffer.byteLength(hop.body ?? ""), body.received);
    attempt.end("allowed", undefined, sent.used.length === 0 ? {} : { secrets: sent.used });
    const bytes = withoutSecrets(body, replacements);
    return { status, headers, body: { ...body, bytes }, ...(next !== undefined && { next }) };
  }

  async #sent(
    { address, method }: Hop,
    { path, headers, body }: FilledHop,
    signal: AbortSignal,
  ): Promise<Dispatcher.ResponseData> {
    const { scheme, host, port } = address;
    const name = host.host.includes(":") ? `[${host.host}]` : host.host;
    const send = () =>
      this.#agent.request({
        origin: `${scheme}://${name}:${port}`,
        path,
        method,
        headers: { accept: "*/*", "user-agent": "handrail", ...headers, "accept-encoding": ACCEPTED_PACKINGS },
        ...(body !== undefined && { body }),
        signal,
      });
    try {
      return await send();
    } catch (error) {
      // a kept connection that the server has closed meanwhile
      if (!isBrokenOff(error) || (method !== "GET" && method !== "HEAD")) throw error;
      return await send();
    }
  }

  async #answer(
    { format }: WebRequest,
    { status, headers, body, redirects, address, signal }: Got & Arrived,
  ): Promise<WebAnswer> {
    const type = contentTypeOf(headers["content-type"]);
    const found = textOfBody(body.bytes, type);
    const page =
      found !== undefined && format !== "raw" && isPage(type.type)
        ? await this.#pages.read({ html: found.text, url: address.url, format }, signal)
        : undefined;
    const retryAfterMs = waitOf(one(headers["retry-after"]));
    return {
      url: address.url,
      status,
      contentType: type.type,
      ...(found && { charset: found.charset }),
      ...(page?.title !== undefined && { title: page.title }),
      content: page?.text ?? found?.text ?? body.bytes,
      bytes: body.bytes.length,
      isCut: body.isCut,
      redirects,
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    };
  }
}

/** What an answer says of itself, and where it leads, without values of secrets. */
function headersWithout(headers: Headers, replacements: Replacements | undefined): Headers {
  if (replacements === undefined) return headers;
  const plain = (value: Headers[string]) =>
    typeof value === "string" ? replacements.in(value) : value?.map((one) => replacements.in(one));
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, plain(value)]));
}

type Headers = Dispatcher.ResponseData["headers"];

/** What one hop brought. */
interface Got {
  readonly status: number;
  readonly headers: Headers;
  readonly body: ReadBody;
  /** Where the answer leads on to. */
  readonly next?: string;
}

interface Arrived {
  readonly address: WebAddress;
  readonly redirects: readonly string[];
  readonly signal: AbortSignal;
}

const REDIRECTING: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** What of a call's headers says nothing of who asks. */
const HARMLESS_HEADERS: ReadonlySet<string> = new Set(["accept", "accept-language", "user-agent"]);

/** The request that an answer leads on to. @throws ToolFailure where it may not be followed */
function nextHop(hop: Hop, status: number, location: string): Hop {
  const address = webAddress(location, hop.address);
  if ("problem" in address)
    throw notFollowed(`the answer leads to an address that is not followed: ${address.problem}`);
  if (hop.address.scheme === "https" && address.scheme === "http")
    throw notFollowed("the answer leads from `https` to `http`, where everybody could read and change it");
  const isSame = address.host.host === hop.address.host.host && address.port === hop.address.port;
  const headers = isSame
    ? hop.headers
    : Object.fromEntries(Object.entries(hop.headers).filter(([name]) => HARMLESS_HEADERS.has(name.toLowerCase())));
  const keepsMethod = status === 307 || status === 308 || hop.method === "GET" || hop.method === "HEAD";
  if (!keepsMethod) return { method: "GET", address, headers: withoutBody(headers) };
  if (!isSame && hop.method !== "GET" && hop.method !== "HEAD")
    throw notFollowed("the answer leads the request and what it carries to another server");
  return { method: hop.method, address, headers, ...(hop.body !== undefined && { body: hop.body }) };
}

function withoutBody(headers: WebRequest["headers"]): WebRequest["headers"] {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !name.toLowerCase().startsWith("content-")));
}

function notFollowed(message: string): ToolFailure {
  return new ToolFailure("IO_ERROR", message, "fetch the address that it should lead to, if you know it");
}

function requireAddress(url: string): WebAddress {
  const address = webAddress(url);
  if (!("problem" in address)) return address;
  throw new FailureWithoutEffect("IO_ERROR", `the address cannot be used: ${address.problem}`, "give another address");
}

function one(header: string | readonly string[] | undefined): string | undefined {
  return typeof header === "object" ? header[0] : header;
}

function isBrokenOff(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "UND_ERR_SOCKET";
}
