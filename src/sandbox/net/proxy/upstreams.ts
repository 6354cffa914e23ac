/**
 * The connections that one command has to the outside: opened, counted, ended.
 *
 * INVARIANT: each ends at the latest with the command, and each has a bound in time, in silence, and with all others in
 * bytes.
 */
import type { Socket } from "node:net";
import { GIB, MIB } from "../../../base/bytes.ts";
import { type EgressRefusal, failed } from "../gate/admission.ts";
import type { EgressReason } from "../gate/attempt.ts";
import type { Connect } from "../gate/connection.ts";
import { secured } from "../gate/secure-way.ts";

/** Milliseconds without a byte in either direction after which a connection is closed. */
export const EGRESS_IDLE_MS = 120_000;
/** Milliseconds that any one connection may last: as long as the longest command. */
const EGRESS_TOTAL_MS = 3_600_000;
/** Bytes in both directions together that one command may move. */
const EGRESS_BYTES_MAX = 8 * GIB;
/** Milliseconds that a connection to a host may take to be made, all addresses together. */
const EGRESS_CONNECT_MS = 15_000;

/** Bounds of the connections. */
export interface UpstreamLimits {
  readonly connectMs: number;
  readonly idleMs: number;
  readonly totalMs: number;
  /** Of all connections in both directions together. */
  readonly bytesMax: number;
  /** Of all answers together. */
  readonly receivedBytesMax: number;
}

const LIMITS: UpstreamLimits = {
  connectMs: EGRESS_CONNECT_MS,
  idleMs: EGRESS_IDLE_MS,
  totalMs: EGRESS_TOTAL_MS,
  bytesMax: EGRESS_BYTES_MAX,
  receivedBytesMax: EGRESS_BYTES_MAX,
};

/** A connection to a host. */
export class Upstream {
  readonly socket: Socket;
  /** A socket forgets it when it closes. */
  #address: string | undefined;
  #cutBy: EgressReason | undefined;

  /** @param address of a connection that is made already */
  constructor(socket: Socket, address?: string) {
    this.socket = socket;
    this.#address = address;
    socket.once("connect", () => {
      this.#address = socket.remoteAddress;
    });
    // A closed socket still gives what it holds to whoever reads; Node's reader of answers takes that for a mistake,
    // and ends the process.
    socket.once("close", () => socket.removeAllListeners("data"));
  }

  /** For the record. */
  get detail(): { readonly address?: string } {
    return this.#address === undefined ? {} : { address: this.#address };
  }

  /** Why it was ended before it ended by itself. */
  get cutBy(): EgressReason | undefined {
    return this.#cutBy;
  }

  /** Ends it now. */
  cut(reason: EgressReason): void {
    if (this.socket.destroyed) return;
    this.#cutBy = reason;
    this.socket.destroy();
  }
}

/** Bytes of bodies that are held for one command because secrets go into them. */
const EGRESS_HELD_BYTES_MAX = 32 * MIB;

/** What is held of one body. */
export interface Held {
  /** Counts more; `false` where that would be too much. */
  readonly take: (bytes: number) => boolean;
  readonly free: () => void;
}

/** All connections of one command. */
export class Upstreams {
  readonly #connect: Connect;
  readonly #limits: UpstreamLimits;
  readonly #open = new Set<Upstream>();
  readonly #bytes = { sent: 0, received: 0 };
  #held = 0;
  #isClosed = false;

  constructor(connect: Connect, limits: Partial<UpstreamLimits> = {}) {
    this.#connect = connect;
    this.#limits = { ...LIMITS, ...limits };
  }

  /** Connects to one of the addresses of `host`. */
  async open(addresses: readonly [string, ...string[]], host: string, port: number): Promise<Upstream | EgressRefusal> {
    if (this.#isClosed) return failed("closed", "the command has ended");
    if (this.#isTooMuch)
      return failed("too_many_bytes", "the command has moved as many bytes as it may; split the work");
    const upstream = new Upstream(this.#connect(addresses, port));
    this.#keep(upstream);
    const isConnected = await connected(upstream, this.#limits.connectMs);
    if (isConnected) return upstream;
    const reason = upstream.cutBy ?? "no_connection";
    const what = reason === "timeout" ? "did not answer in time" : "takes no connection";
    return failed(reason, `\`${host}\` ${what} at port \`${port}\`; look at the port, or try again later`);
  }

  /** Counts what is held of one body, with all others. */
  held(): Held {
    let own = 0;
    return {
      take: (bytes) => {
        if (this.#held + bytes > EGRESS_HELD_BYTES_MAX) return false;
        own += bytes;
        this.#held += bytes;
        return true;
      },
      free: () => {
        this.#held -= own;
        own = 0;
      },
    };
  }

  /** Goes on over TLS, with the server that proves to be `host`. */
  async secure(upstream: Upstream, host: string, authorities: string | undefined): Promise<Upstream | EgressRefusal> {
    const { socket } = upstream;
    const timer = setTimeout(() => upstream.cut("timeout"), this.#limits.connectMs);
    const over = await secured(socket, host, authorities);
    clearTimeout(timer);
    if ("problem" in over) {
      const reason = upstream.cutBy ?? "certificate";
      const what =
        reason === "certificate" ? `did not prove to be that host (${over.problem})` : "did not answer in time";
      upstream.cut(reason);
      return failed(reason, `\`${host}\` ${what}; ask the operator to look at its certificate`);
    }
    socket.setTimeout(0); // what is said over it is watched there
    const secure = new Upstream(over, upstream.detail.address);
    this.#keep(secure);
    if (this.#isClosed) secure.cut("closed");
    return secure;
  }

  /** Counts what one of them moved; too much ends them all. */
  count(way: "sent" | "received", bytes: number): void {
    this.#bytes[way] += bytes;
    if (this.#isTooMuch) this.#cutAll("too_many_bytes");
  }

  get #isTooMuch(): boolean {
    const { sent, received } = this.#bytes;
    return sent + received > this.#limits.bytesMax || received > this.#limits.receivedBytesMax;
  }

  /** Ends all, and opens no further one. */
  close(): void {
    this.#isClosed = true;
    this.#cutAll("closed");
  }

  #keep(upstream: Upstream): void {
    const { socket } = upstream;
    this.#open.add(upstream);
    const total = setTimeout(() => upstream.cut("timeout"), this.#limits.totalMs).unref();
    socket.setTimeout(this.#limits.idleMs, () => upstream.cut("timeout"));
    socket.on("error", () => undefined); // it closes, and that is what is waited for
    socket.once("close", () => {
      clearTimeout(total);
      this.#open.delete(upstream);
    });
  }

  #cutAll(reason: EgressReason): void {
    for (const upstream of this.#open) upstream.cut(reason);
  }
}

function connected(upstream: Upstream, connectMs: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => upstream.cut("timeout"), connectMs);
  upstream.socket.once("connect", () => resolve(true));
  upstream.socket.once("close", () => resolve(false));
  return promise.finally(() => clearTimeout(timer));
}
