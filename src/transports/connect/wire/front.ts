/**
 * One address that speaks HTTP/1.1 and, in clear text, HTTP/2: a connection's first bytes tell which.
 *
 * It bounds connections, calls in flight, headers, idleness and how long a connection may take to say anything. Limits
 * of the protocols themselves (streams, header pairs, resets in a row) are the parsers'. INVARIANT: closing takes no
 * more calls, aborts those in flight, lets them answer for a grace period, but for those whose requests never came
 * whole, and leaves no connection behind.
 */
import { createServer as createHttp1, type IncomingMessage, type ServerResponse } from "node:http";
import {
  createServer as createHttp2,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
} from "node:http2";
import { createServer, type Server, type Socket } from "node:net";
import { Code, ConnectError } from "@connectrpc/connect";
import { MIB } from "../../../base/bytes.ts";
import type { ConnectLimits } from "./limits.ts";
import { HTTP_HEADER_BYTES_MAX } from "./limits.ts";
import type { NodeRequest, NodeResponse } from "./respond.ts";

/** Bytes that a peer of HTTP/2 may send ahead of what was read: enough to keep a local connection busy. */
const HTTP_WINDOW_BYTES = MIB;
/** Mebibytes that one connection of HTTP/2 may make the library hold. */
const HTTP_SESSION_MEMORY_MIB = 32;

/** How connections of HTTP/2 begin; no request of HTTP/1.1 begins with its first three bytes. */
const HTTP2_PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
const TELLING_BYTES = 3;
/** Milliseconds between two looks for idle connections, at most. */
const SWEEP_MS_MAX = 5_000;
/**
 * Milliseconds in which a request that is not complete when the front closes may be answered: its call has not begun.
 */
const UNFINISHED_GRACE_MS = 500;

/** What a front asks of those who use it. */
export interface FrontHost {
  readonly limits: ConnectLimits;
  readonly nowMs: () => number;
  /** Serves one request; resolves when it is over. */
  readonly serve: (request: NodeRequest, response: NodeResponse, refusal: ConnectError | undefined) => Promise<void>;
  readonly onError: (error: unknown) => void;
}

interface Peer {
  readonly socket: Socket;
  session: ServerHttp2Session | undefined;
  calls: number;
  idleSinceMs: number;
}

/** One address. */
export class Front {
  readonly #host: FrontHost;
  readonly #server: Server;
  readonly #http1: ReturnType<typeof createHttp1>;
  readonly #http2: ReturnType<typeof createHttp2>;
  readonly #peers = new Map<Socket, Peer>();
  readonly #sessions = new WeakMap<ServerHttp2Session, Peer>();
  readonly #sweeper: NodeJS.Timeout;
  readonly #requests = new Set<NodeRequest>();
  #calls = 0;
  #closing = false;

  constructor(host: FrontHost) {
    this.#host = host;
    const { limits } = host;
    const serve = (request: NodeRequest, response: NodeResponse) => void this.#serve(request, response);
    this.#http1 = createHttp1(
      {
        maxHeaderSize: HTTP_HEADER_BYTES_MAX,
        headersTimeout: limits.headMs,
        requestTimeout: 0, // an upload may take long; what stalls is cut off by who reads it
        keepAliveTimeout: limits.idleMs,
        connectionsCheckingInterval: Math.min(SWEEP_MS_MAX, Math.max(50, limits.headMs / 4)),
      },
      (request: IncomingMessage, response: ServerResponse) => serve(request, response),
    );
    // its parser looks for slow headers only while its server listens, which ours does for it
    this.#http1.emit("listening");
    this.#http2 = createHttp2(
      {
        maxSessionMemory: HTTP_SESSION_MEMORY_MIB,
        settings: {
          enablePush: false,
          maxConcurrentStreams: limits.connectionCallsMax,
          maxHeaderListSize: HTTP_HEADER_BYTES_MAX,
          initialWindowSize: HTTP_WINDOW_BYTES,
        },
      },
      (request: Http2ServerRequest, response: Http2ServerResponse) => serve(request, response),
    );
    this.#http2.on("sessionError", () => undefined); // a peer broke the protocol; its session is gone
    this.#server = createServer((socket) => this.#admit(socket));
    this.#server.on("error", host.onError);
    this.#sweeper = setInterval(() => this.#sweep(), Math.min(SWEEP_MS_MAX, Math.max(10, limits.idleMs / 4)));
    this.#sweeper.unref();
  }

  /** What has to listen somewhere. */
  get server(): Server {
    return this.#server;
  }

  /** Ends the front; `abortCalls` is what tells the calls in flight. */
  async close(abortCalls: () => void): Promise<void> {
    this.#closing = true;
    clearInterval(this.#sweeper);
    const closed = new Promise<void>((done) => this.#server.close(() => done()));
    abortCalls();
    for (const peer of this.#peers.values()) {
      if (peer.session !== undefined && !peer.session.destroyed) peer.session.close();
      this.#letGo(peer);
    }
    const unfinished = setTimeout(
      () => this.#cutUnfinished(),
      Math.min(UNFINISHED_GRACE_MS, this.#host.limits.closeGraceMs),
    );
    // A connection goes once its calls are answered and the answers have left.
    const late = setTimeout(() => {
      for (const { socket } of this.#peers.values()) socket.destroy();
    }, this.#host.limits.closeGraceMs);
    await closed;
    clearTimeout(late);
    clearTimeout(unfinished);
    this.#http1.close();
    this.#http2.close();
  }

  /**
   * Ends the requests whose bodies are still to come, and what was answered and is still sent: whoever waits for a peer
   * waits too long.
   */
  #cutUnfinished(): void {
    for (const { calls, socket } of this.#peers.values()) if (calls === 0) socket.destroy();
    for (const request of this.#requests) {
      if (request.complete) continue;
      if ("stream" in request) request.stream.destroy();
      else request.socket.destroy();
    }
  }

  /** Ends a connection of HTTP/1.1 that has no call; one of HTTP/2 ends by itself when its session is closed. */
  #letGo(peer: Peer): void {
    if (peer.session === undefined && peer.calls === 0) peer.socket.destroySoon();
  }

  #admit(socket: Socket): void {
    if (this.#closing || this.#peers.size >= this.#host.limits.connectionsMax) {
      socket.destroy();
      return;
    }
    const peer: Peer = { socket, session: undefined, calls: 0, idleSinceMs: this.#host.nowMs() };
    this.#peers.set(socket, peer);
    socket.on("error", () => undefined); // the peer is gone; `close` follows
    socket.once("close", () => this.#peers.delete(socket));
    this.#tellApart(peer);
  }

  /** Waits for bytes that tell the version, puts them back, and hands the connection to that version's parser. */
  #tellApart(peer: Peer): void {
    const { socket } = peer;
    const late = setTimeout(() => socket.destroy(), this.#host.limits.headMs);
    let seen = Buffer.alloc(0);
    const stop = () => {
      clearTimeout(late);
      socket.off("readable", onReadable).off("close", stop).off("end", onEnd);
    };
    const onEnd = () => {
      stop();
      socket.destroy();
    };
    const onReadable = () => {
      const bytes: unknown = socket.read();
      if (!(bytes instanceof Buffer)) return;
      seen = Buffer.concat([seen, bytes]);
      if (seen.length < TELLING_BYTES && HTTP2_PREFACE.subarray(0, seen.length).equals(seen)) return;
      stop();
      socket.unshift(seen);
      if (HTTP2_PREFACE.subarray(0, TELLING_BYTES).equals(seen.subarray(0, TELLING_BYTES))) this.#beginHttp2(peer);
      else this.#http1.emit("connection", socket);
    };
    socket.on("readable", onReadable).once("close", stop).once("end", onEnd);
  }

  #beginHttp2(peer: Peer): void {
    const remember = (session: ServerHttp2Session) => {
      peer.session = session;
      this.#sessions.set(session, peer);
      session.setLocalWindowSize(HTTP_WINDOW_BYTES);
    };
    this.#http2.once("session", remember);
    this.#http2.emit("connection", peer.socket);
    this.#http2.off("session", remember);
  }

  async #serve(request: NodeRequest, response: NodeResponse): Promise<void> {
    const session = "stream" in request ? request.stream.session : undefined;
    const peer =
      session === undefined ? this.#peers.get(request.socket) : this.#sessions.get(session as ServerHttp2Session);
    if (peer === undefined) {
      response.destroy();
      return;
    }
    const refusal = this.#refusal(peer);
    peer.calls += 1;
    this.#calls += 1;
    this.#requests.add(request);
    try {
      await this.#host.serve(request, response, refusal);
    } catch (error) {
      this.#host.onError(error);
    } finally {
      peer.calls -= 1;
      peer.idleSinceMs = this.#host.nowMs();
      this.#calls -= 1;
      this.#requests.delete(request);
      if (this.#closing) this.#letGo(peer);
    }
  }

  #refusal(peer: Peer): ConnectError | undefined {
    const { callsMax, connectionCallsMax } = this.#host.limits;
    if (this.#closing) return new ConnectError("the kernel is shutting down", Code.Unavailable);
    if (peer.calls < connectionCallsMax && this.#calls < callsMax) return undefined;
    return new ConnectError("too many calls are in flight; wait for some of them to end", Code.ResourceExhausted);
  }

  #sweep(): void {
    const nowMs = this.#host.nowMs();
    for (const peer of this.#peers.values()) {
      if (peer.calls > 0 || nowMs - peer.idleSinceMs < this.#host.limits.idleMs) continue;
      if (peer.session !== undefined && !peer.session.destroyed) peer.session.close();
      peer.socket.destroySoon();
    }
  }
}
