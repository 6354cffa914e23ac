/**
 * Ends the TLS of tunnels to servers that a secret is bound to.
 *
 * The kernel makes each request in such a tunnel itself.
 *
 * INVARIANTS: the server has proved who it is before the client hears of a tunnel. Whom the client names in TLS and in
 * each request is the server that the tunnel was opened for. The connection to the server serves this client alone.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { Socket } from "node:net";
import type { Client } from "undici";
import { canonicalHost } from "../../../names/host-name.ts";
import type { SecretWay } from "../broker/secret-way.ts";
import { type EgressRefusal, failed } from "../gate/admission.ts";
import type { Attempt, AttemptLog } from "../gate/attempt.ts";
import { passBrokered } from "./brokered.ts";
import { type ClientExchange, EGRESS_HEAD_BYTES_MAX } from "./forward.ts";
import { type RequestHead, securedTarget, type TunnelTarget } from "./proxy-request.ts";
import { ESTABLISHED } from "./tunnel.ts";
import { EGRESS_IDLE_MS, type Upstream, type Upstreams } from "./upstreams.ts";

/** A client that asked for a tunnel, and what its end is made of. */
export interface TerminatedTunnel {
  readonly client: Socket;
  readonly head: Buffer;
  readonly target: TunnelTarget;
  readonly upstream: Upstream;
  /** Connects again, where the server has ended the connection. */
  readonly again: () => Promise<Upstream | EgressRefusal>;
  readonly way: SecretWay;
  readonly log: AttemptLog;
  /** Of the tunnel itself; ends only where none comes about. */
  readonly attempt: Attempt;
  readonly refuse: (refusal: EgressRefusal) => void;
  /** Begins an exchange with the client. */
  readonly exchange: (request: IncomingMessage, response: ServerResponse) => ClientExchange;
  /** Keeps the command from ending before it has ended. */
  readonly run: (work: Promise<void>) => void;
  readonly headMs: number;
}

/** Ends with the client's connection. */
export async function terminate(tunnel: TerminatedTunnel, upstreams: Upstreams): Promise<void> {
  const { client, head, target, upstream, way, attempt, refuse } = tunnel;
  const secure = await upstreams.secure(upstream, target.host.host, way.authorities);
  if ("kind" in secure) return refuse({ ...secure, ...upstream.detail });
  const { promise: closed, resolve: close } = Promise.withResolvers<void>();
  client.once("close", close);
  const connections = new Connections(tunnel, upstreams, secure);
  try {
    const server = await inside(tunnel, upstreams, connections);
    let hasAsked = false;
    server.once("request", () => {
      hasAsked = true;
    });
    // whose end the socket beneath is not told of
    server.once("secureConnection", (over) => over.once("close", close));
    server.once("tlsClientError", close);
    client.write(ESTABLISHED);
    if (head.length > 0) client.unshift(head);
    server.emit("connection", client);
    if (!client.closed) await closed;
    client.destroy();
    server.close();
    // a client that believes the server itself alone ends the connection before its first request
    if (!hasAsked) attempt.end("failed", "client_certificate", secure.detail);
  } finally {
    await connections.close();
  }
}

/** The server that the client speaks to. */
async function inside(tunnel: TerminatedTunnel, upstreams: Upstreams, connections: Connections): Promise<Server> {
  const { target, way, exchange, run, headMs } = tunnel;
  const server = createServer({
    ...(await (await way.authority()).identityOf(target.host.host)),
    minVersion: "TLSv1.2",
    ALPNProtocols: ["http/1.1"],
    SNICallback: (name, take) =>
      canonicalHost(name)?.host === target.host.host ? take(null) : take(new Error("another server is named")),
    insecureHTTPParser: false,
    maxHeaderSize: EGRESS_HEAD_BYTES_MAX,
    handshakeTimeout: headMs,
    headersTimeout: headMs,
    connectionsCheckingInterval: Math.min(headMs, 5000),
    keepAliveTimeout: EGRESS_IDLE_MS,
  });
  server.maxHeadersCount = 0;
  server.timeout = EGRESS_IDLE_MS;
  const answer = async (request: IncomingMessage, begun: ClientExchange) => {
    begun.attempt.to(target.host.host, target.port);
    if (tunnel.log.isExhausted) return begun.refuse(TOO_MANY);
    const to = securedTarget(headOf(request), target);
    if (to.kind === "refusal") return begun.refuse(to);
    const { detail } = connections;
    const route = { target: to, broker: way.broker, client: await connections.client(), detail };
    await passBrokered(begun, route, upstreams);
  };
  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    const begun = exchange(request, response);
    run(answer(request, begun).catch(() => begun.refuse(FAULT))); // recorded as a mistake of the proxy itself
  });
  // Both would leave HTTP, which is all that is looked through.
  for (const event of ["upgrade", "connect"] as const)
    server.on(event, (_: IncomingMessage, socket: Socket) => {
      const upgrade = tunnel.log.begin("request");
      upgrade.to(target.host.host, target.port);
      upgrade.end("refused", "malformed");
      socket.end(NO_UPGRADE);
    });
  server.on("clientError", (_, socket) => socket.end(UNREADABLE));
  return server;
}

const answerOf = (status: string, message: string) =>
  `HTTP/1.1 ${status}\r\ncontent-type: text/plain; charset=utf-8\r\nconnection: close\r\ncontent-length: ${message.length + 1}\r\n\r\n${message}\n`;
const UNREADABLE = answerOf(
  "400 Bad Request",
  "the request cannot be read, or could be read in two ways; send plain HTTP/1.1",
);
const NO_UPGRADE = answerOf(
  "501 Not Implemented",
  "a server that a secret is bound to is reached by plain HTTP requests alone; there are no WebSockets",
);
const FAULT = failed("fault", "the proxy failed; tell the operator");
const TOO_MANY: EgressRefusal = {
  kind: "refusal",
  outcome: "refused",
  status: 503,
  reason: "too_many",
  message: "too many requests in all; send fewer",
};

/** The connection to the server, made again when the server has ended it. */
class Connections {
  readonly #tunnel: TerminatedTunnel;
  readonly #upstreams: Upstreams;
  #next: Upstream | undefined;
  #last: Upstream;
  #client: Client | undefined;

  constructor(tunnel: TerminatedTunnel, upstreams: Upstreams, first: Upstream) {
    this.#tunnel = tunnel;
    this.#upstreams = upstreams;
    this.#next = first;
    this.#last = first;
  }

  get detail(): { readonly address?: string } {
    return this.#last.detail;
  }

  async client(): Promise<Client> {
    if (this.#client !== undefined) return this.#client;
    const { Client: Opened } = await import("undici");
    const { host, port } = this.#tunnel.target;
    const name = host.host.includes(":") ? `[${host.host}]` : host.host;
    this.#client ??= new Opened(`https://${name}:${port}`, {
      connect: (_, take) => {
        this.#connected().then(
          ({ socket }) => take(null, socket as Parameters<typeof take>[1] & Socket),
          (error: unknown) => take(error instanceof Error ? error : new Error(String(error)), null),
        );
      },
      pipelining: 1,
      keepAliveTimeout: EGRESS_IDLE_MS,
      keepAliveMaxTimeout: EGRESS_IDLE_MS,
      maxHeaderSize: EGRESS_HEAD_BYTES_MAX,
      headersTimeout: 0, // connections have bounds of their own
      bodyTimeout: 0,
      allowH2: false,
    });
    return this.#client;
  }

  async close(): Promise<void> {
    await this.#client?.destroy();
    this.#last.cut("fault"); // nothing, where all went well
  }

  async #connected(): Promise<Upstream> {
    const first = this.#next;
    this.#next = undefined;
    if (first !== undefined && !first.socket.destroyed) return first;
    const { again, target, way } = this.#tunnel;
    const upstream = await again();
    if ("kind" in upstream) throw new Error(upstream.message);
    const secure = await this.#upstreams.secure(upstream, target.host.host, way.authorities);
    if ("kind" in secure) throw new Error(secure.message);
    this.#last = secure;
    return secure;
  }
}

function headOf(request: IncomingMessage): RequestHead {
  const { method = "", url = "", httpVersion, rawHeaders } = request;
  return { method, url, httpVersion, rawHeaders };
}
