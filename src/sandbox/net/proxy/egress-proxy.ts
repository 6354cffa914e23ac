/**
 * The way out of one sandbox: an HTTP proxy on a Unix socket, for plain requests and for tunnels.
 *
 * Decides nothing itself: every request, also the next on the same connection, goes through `admit`. It trusts nobody
 * inside. INVARIANTS: what cannot be read in one way only is answered with 400; what is not passed on is answered with
 * a sentence that says what to do; when `close` is settled, no connection is left and every attempt is recorded.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { assert } from "../../../base/errors.ts";
import type { SecretWay } from "../broker/secret-way.ts";
import { admit, type EgressNetwork, type EgressRefusal, type EgressRules, failed, refused } from "../gate/admission.ts";
import type { AttemptLog, EgressTotals } from "../gate/attempt.ts";
import type { SecureWay } from "../gate/secure-way.ts";
import { refusalOf } from "./brokered.ts";
import { type ClientExchange, EGRESS_HEAD_BYTES_MAX, forward } from "./forward.ts";
import { Places } from "./places.ts";
import {
  type ForwardTarget,
  forwardTarget,
  securedAuthority,
  type TunnelTarget,
  tunnelTarget,
} from "./proxy-request.ts";
import { terminate } from "./terminated.ts";
import { tunnel } from "./tunnel.ts";
import { EGRESS_IDLE_MS, type Upstream, type UpstreamLimits, Upstreams } from "./upstreams.ts";

/**
 * Connections that one command has open to the proxy at once: package managers open up to 64; each is also a process
 * inside.
 */
export const EGRESS_CONNECTIONS_MAX = 128;
/** Milliseconds that the head of a request may take. */
const EGRESS_HEAD_MS = 10_000;
/** Milliseconds that a request with its body may take to arrive. */
const EGRESS_REQUEST_MS = 600_000;

/** What a proxy is made of. */
export interface EgressProxyParts {
  readonly rules: EgressRules;
  readonly network: EgressNetwork;
  readonly log: AttemptLog;
  /** Secrets that requests are made with; none when absent. */
  readonly secrets?: SecretWay;
  /** Of the whole kernel: connections from sandboxes, and to the outside. */
  readonly places: { readonly clients: Places; readonly upstreams: Places };
  /** What is not said is as the limits say. */
  readonly limits?: Partial<UpstreamLimits & { readonly headMs: number }>;
}

/** The proxy of one command. */
export class EgressProxy {
  readonly #parts: EgressProxyParts;
  readonly #server: Server;
  readonly #upstreams: Upstreams;
  readonly #places: Places;
  readonly #clients = new Set<Socket>();
  readonly #running = new Set<Promise<void>>();
  readonly #closing = new AbortController();
  readonly #closed = Promise.withResolvers<EgressRefusal>();

  constructor(parts: EgressProxyParts) {
    const { network, places, limits = {} } = parts;
    this.#parts = parts;
    this.#places = new Places(EGRESS_CONNECTIONS_MAX, places.upstreams);
    this.#upstreams = new Upstreams(network.connect, limits);
    const headMs = limits.headMs ?? EGRESS_HEAD_MS;
    this.#server = createServer({
      insecureHTTPParser: false,
      maxHeaderSize: EGRESS_HEAD_BYTES_MAX,
      headersTimeout: headMs,
      requestTimeout: Math.max(headMs, EGRESS_REQUEST_MS),
      connectionsCheckingInterval: Math.min(headMs, 5000),
      keepAliveTimeout: EGRESS_IDLE_MS,
      noDelay: true,
    });
    this.#server.maxHeadersCount = 0; // more than are read are refused; cut off, one would be passed over
    this.#server.maxConnections = EGRESS_CONNECTIONS_MAX;
    this.#server.timeout = limits.idleMs ?? EGRESS_IDLE_MS;
    this.#server.on("connection", (socket: Socket) => this.#welcome(socket));
    this.#server.on("request", (request, response) => this.#run(this.#onRequest(request, response)));
    this.#server.on("connect", (request, client, head) => this.#run(this.#onConnect(request, client, head)));
    this.#server.on("clientError", (error, client) => this.#onUnreadable(error, client));
  }

  /** Listens at `path`, which must not exist. */
  async listen(path: string): Promise<void> {
    this.#server.listen(path);
    await once(this.#server, "listening");
  }

  /** Ends everything that is under way; the same again when it has ended. */
  async close(): Promise<EgressTotals> {
    this.#closing.abort();
    this.#closed.resolve(ENDED);
    this.#server.close();
    this.#upstreams.close();
    for (const client of this.#clients) client.destroy();
    await Promise.allSettled(this.#running);
    return this.#parts.log.totals;
  }

  #run(work: Promise<void>): void {
    this.#running.add(work);
    // whoever asked has been answered, or is gone: a mistake made here must not end the kernel
    const forget = () => this.#running.delete(work);
    work.then(forget, forget);
  }

  /** Each connection takes one of the kernel's places; there is no answer before a request was read. */
  #welcome(socket: Socket): void {
    const { clients } = this.#parts.places;
    if (this.#closing.signal.aborted || !clients.take()) {
      socket.destroy();
      return;
    }
    this.#clients.add(socket);
    socket.on("error", () => undefined); // it closes, and that is what is waited for
    socket.once("close", () => {
      this.#clients.delete(socket);
      clients.free();
    });
  }

  #exchange(request: IncomingMessage, response: ServerResponse): ClientExchange {
    const attempt = this.#parts.log.begin("request");
    const refuse = (refusal: EgressRefusal) => {
      attempt.end(refusal.outcome, refusal.reason, detailOf(refusal));
      if (response.headersSent || response.destroyed) return void response.destroy();
      const body = `${refusal.message}\n`;
      response.writeHead(refusal.status, { ...ANSWER_HEADERS, "content-length": Buffer.byteLength(body) }).end(body);
    };
    return { request, response, attempt, refuse };
  }

  async #onRequest(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const exchange = this.#exchange(request, response);
    const { refuse } = exchange;
    const target = forwardTarget(headOf(request));
    const { secure } = this.#parts.rules;
    if (secure !== undefined) return this.#onSecure(exchange, target, secure);
    await this.#pass(target, exchange, async (route) => {
      const carried = this.#plainSecret(request, route.target);
      if (carried === undefined) await forward(exchange, route, this.#upstreams);
      else refuse(carried);
    });
  }

  /** A request that is judged by itself, and made over TLS. */
  async #onSecure(exchange: ClientExchange, target: ForwardTarget | EgressRefusal, secure: SecureWay): Promise<void> {
    const { request, attempt, refuse } = exchange;
    if (target.kind === "refusal") return refuse(target);
    const { host, port, path } = target;
    const added = secure.admit({ method: request.method ?? "", host: host.host, port, path });
    if (added === undefined) {
      attempt.to(host.host, port);
      return refuse(notThis(secure));
    }
    const authority = securedAuthority(target);
    await this.#pass({ ...target, authority }, exchange, async ({ target: to, upstream }) => {
      const over = await this.#upstreams.secure(upstream, host.host, secure.authorities);
      if ("kind" in over) return refuse({ ...over, ...upstream.detail });
      try {
        await forward(exchange, { target: to, upstream: over, added }, this.#upstreams);
      } finally {
        over.cut("fault"); // nothing, where all went well
      }
    });
  }

  async #onConnect(request: IncomingMessage, client: Duplex, head: Buffer): Promise<void> {
    assert(client instanceof Socket, "connections come over a socket");
    client.setTimeout(0); // from here on both sides share the time of the way out
    const attempt = this.#parts.log.begin("tunnel");
    const refuse = (refusal: EgressRefusal) => {
      attempt.end(refusal.outcome, refusal.reason, detailOf(refusal));
      answerRaw(client, refusal);
    };
    const target = tunnelTarget(headOf(request));
    const { secure } = this.#parts.rules;
    if (secure !== undefined) {
      if (target.kind === "target") attempt.to(target.host.host, target.port);
      return refuse(target.kind === "refusal" ? target : notThis(secure));
    }
    const { secrets: way } = this.#parts;
    if (way === undefined || target.kind !== "target" || !way.broker.isBoundTo(target.host.host, target.port))
      return this.#pass(target, { attempt, refuse }, (route) =>
        tunnel({ client, head, attempt }, route, this.#upstreams),
      );
    await this.#pass(target, { attempt, refuse }, ({ target: to, upstream, again }) =>
      terminate(
        {
          ...{ client, head, target: to, upstream, again, way, attempt, refuse },
          log: this.#parts.log,
          exchange: (request, response) => this.#exchange(request, response),
          run: (work) => this.#run(work),
          headMs: this.#parts.limits?.headMs ?? EGRESS_HEAD_MS,
        },
        this.#upstreams,
      ),
    );
  }

  /** Why a plain request is not passed on that a secret stands in: everybody on its way could read it. */
  #plainSecret(request: IncomingMessage, { host, port, path }: ForwardTarget): EgressRefusal | undefined {
    const { secrets: way } = this.#parts;
    const { method = "", rawHeaders: headers } = request;
    if (way === undefined) return undefined;
    const planned = way.broker.plan({ method, host: host.host, port, path, headers }, host.host);
    if (planned.kind !== "request") return refusalOf(planned);
    return planned.used.length === 0 && planned.finish === undefined
      ? undefined
      : refused("secret_binding", `the secret \`${planned.used[0] ?? ""}\` leaves over https alone`);
  }

  /** Judges, connects, and hands over; a way that fails inside ends as refused. */
  async #pass<T extends ForwardTarget | TunnelTarget>(
    target: T | EgressRefusal,
    { attempt, refuse }: Pick<ClientExchange, "attempt" | "refuse">,
    handOver: (route: {
      readonly target: T;
      readonly upstream: Upstream;
      /** Connects once more to what was admitted. */
      readonly again: () => Promise<Upstream | EgressRefusal>;
    }) => Promise<void>,
  ): Promise<void> {
    if (target.kind === "refusal") return refuse(target);
    attempt.to(target.host.host, target.port);
    if (this.#parts.log.isExhausted || !this.#places.take()) return refuse(TOO_MANY);
    try {
      // a decision that does not end must not keep the command from ending
      const admitted = await Promise.race([admit(target, this.#parts, this.#closing.signal), this.#closed.promise]);
      if (admitted.kind === "refusal") return refuse(admitted);
      const again = () => this.#upstreams.open(admitted.addresses, target.host.host, target.port);
      const upstream = await again();
      if ("kind" in upstream) return refuse({ ...upstream, address: admitted.addresses[0] });
      try {
        await handOver({ target, upstream, again });
      } finally {
        upstream.cut("fault"); // nothing, where all went well
      }
    } catch {
      refuse(FAULT); // a mistake of the proxy itself, which is recorded as that
    } finally {
      this.#places.free();
    }
  }

  #onUnreadable(error: NodeJS.ErrnoException, client: Duplex): void {
    if (!client.writable || error.code === "ECONNRESET") {
      client.destroy();
      return;
    }
    const attempt = this.#parts.log.begin("request");
    const isLate = error.code === "ERR_HTTP_REQUEST_TIMEOUT";
    attempt.end("refused", isLate ? "timeout" : "malformed");
    answerRaw(client, isLate ? LATE : error.code === "HPE_HEADER_OVERFLOW" ? LARGE : UNREADABLE);
  }
}

function notThis({ message }: SecureWay): EgressRefusal {
  return refused("denied", message);
}

const ANSWER_HEADERS = { "content-type": "text/plain; charset=utf-8", connection: "close" } as const;

function headOf(request: IncomingMessage) {
  return {
    method: request.method ?? "",
    url: request.url ?? "",
    httpVersion: request.httpVersion,
    rawHeaders: request.rawHeaders,
  };
}

function detailOf({ address, secrets }: EgressRefusal): Pick<EgressRefusal, "address" | "secrets"> {
  return { ...(address !== undefined && { address }), ...(secrets && { secrets }) };
}

const REASONS: Readonly<Record<EgressRefusal["status"], string>> = {
  400: "Bad Request",
  403: "Forbidden",
  408: "Request Timeout",
  431: "Request Header Fields Too Large",
  502: "Bad Gateway",
  503: "Service Unavailable",
  504: "Gateway Timeout",
};

function answerRaw(client: Duplex, { status, message }: Pick<EgressRefusal, "status" | "message">): void {
  const headers = Object.entries({ ...ANSWER_HEADERS, "content-length": Buffer.byteLength(message) + 1 });
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  client.end(`HTTP/1.1 ${status} ${REASONS[status]}\r\n${lines}\r\n${message}\n`, () => client.destroy());
}

const TOO_MANY: EgressRefusal = {
  ...refused("too_many", "too many connections at once, or in all; open fewer"),
  status: 503,
};
const ENDED = failed("closed", "the command has ended");
const FAULT = failed("fault", "the proxy failed; tell the operator");
const UNREADABLE = {
  status: 400,
  message: "the request cannot be read, or could be read in two ways; send plain HTTP/1.1",
} as const;
const LATE = { status: 408, message: "the request took too long; send it at once" } as const;
const LARGE = { status: 431, message: "the headers of the request are too large; send fewer" } as const;
