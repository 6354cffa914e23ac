/**
 * The way out of a sandbox with an internet of its own: names and public addresses that lead to servers of the test on
 * loopback. Only what is handed in knows them; the checks are the real ones.
 */
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { createServer as createHttpServer, type RequestListener } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { networksOf } from "../../src/names/address-class.ts";
import { EGRESS_KERNEL_CONNECTIONS_MAX } from "../../src/sandbox/net/egress.ts";
import { BLOCKED_PORTS, type DecideEgress, type EgressNetwork } from "../../src/sandbox/net/gate/admission.ts";
import { AttemptLog, type EgressAttempt } from "../../src/sandbox/net/gate/attempt.ts";
import {
  EGRESS_CONNECTIONS_MAX,
  EgressProxy,
  type EgressProxyParts,
} from "../../src/sandbox/net/proxy/egress-proxy.ts";
import { Places } from "../../src/sandbox/net/proxy/places.ts";

/** An address of the internet, of a documentation site; nothing is ever sent there. */
export const PUBLIC_ADDRESS = "93.184.216.34";

/** Names, and what stands at addresses and ports. */
export class Internet {
  readonly names = new Map<string, readonly string[]>();
  /** By `address:port`, the port on loopback. */
  readonly servers = new Map<string, number>();
  /** Where the kernel itself listens, as `address:port`. */
  readonly ownPorts = new Set<string>();
  /** Names that were looked up, in order. */
  readonly lookedUp: string[] = [];
  /** Addresses that were connected to, in order. */
  readonly connected: string[] = [];
  readonly #closing: (() => void)[] = [];

  /** How a proxy reaches it. */
  readonly network: EgressNetwork = {
    lookUp: async (name) => {
      this.lookedUp.push(name);
      return this.names.get(name) ?? [];
    },
    connect: (addresses, port) => {
      const [address] = addresses;
      this.connected.push(`${address}:${port}`);
      // port 1 of loopback takes no connection
      return connect({
        host: "127.0.0.1",
        port: this.servers.get(`${address}:${port}`) ?? 1,
        allowHalfOpen: true,
        noDelay: true,
      });
    },
    ownNetworks: () => networksOf([]),
    isOwnPort: (address, port) => this.ownPorts.has(`${address}:${port}`),
  };

  /** A server for `name` at `port` of a public address, by HTTP. */
  async http(name: string, port: number, listener: RequestListener): Promise<void> {
    await this.#listen(name, port, createHttpServer(listener));
  }

  /** A server for `name` at `port` of a public address, by HTTP over TLS. */
  async https(
    name: string,
    port: number,
    certificate: { readonly key: string; readonly cert: string },
    listener: RequestListener,
  ): Promise<void> {
    await this.#listen(name, port, createHttpsServer(certificate, listener));
  }

  /** A server for `name` at `port` of a public address. */
  async tcp(name: string, port: number, listener: (socket: Socket) => void): Promise<void> {
    await this.#listen(
      name,
      port,
      createServer({ allowHalfOpen: true }, (socket) => {
        socket.on("error", () => socket.destroy()); // the other side went away
        listener(socket);
      }),
    );
  }

  /** Ends all servers. */
  close(): void {
    for (const end of this.#closing.splice(0)) end();
  }

  async #listen(name: string, port: number, server: Server): Promise<void> {
    const sockets = new Set<Socket>();
    server.on("connection", (socket) => sockets.add(socket));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    this.names.set(name, [PUBLIC_ADDRESS]);
    this.servers.set(`${PUBLIC_ADDRESS}:${port}`, (server.address() as { port: number }).port);
    this.#closing.push(() => {
      server.close();
      for (const socket of sockets) socket.destroy();
    });
  }
}

/** A proxy that listens. */
export interface OpenProxy {
  readonly path: string;
  readonly proxy: EgressProxy;
  /** What was recorded so far, without what differs from run to run. */
  readonly attempts: () => readonly Omit<EgressAttempt, "durationMs">[];
  readonly close: () => Promise<void>;
}

/** Opens a proxy on `internet`. Bounds are the real ones unless `limits` says otherwise. */
export function openProxy(
  internet: Pick<Internet, "network">,
  decide: DecideEgress,
  limits: EgressProxyParts["limits"] = {},
): Promise<OpenProxy> {
  return openProxyWith(internet, { decide, limits });
}

/** The same, with secrets that requests are made with. */
export async function openProxyWith(
  internet: Pick<Internet, "network">,
  { decide, limits, secrets }: { readonly decide: DecideEgress } & Pick<EgressProxyParts, "limits" | "secrets">,
): Promise<OpenProxy> {
  const recorded: EgressAttempt[] = [];
  const clients = new Places(EGRESS_KERNEL_CONNECTIONS_MAX);
  const upstreams = new Places(EGRESS_CONNECTIONS_MAX);
  const proxy = new EgressProxy({
    rules: { decide, blockedPorts: BLOCKED_PORTS },
    network: internet.network,
    log: new AttemptLog((attempt) => recorded.push(attempt)),
    places: { clients, upstreams },
    ...(limits && { limits }),
    ...(secrets && { secrets }),
  });
  const directory = mkdtempSync(join(tmpdir(), "handrail-egress-"));
  chmodSync(directory, 0o711);
  const path = join(directory, "proxy");
  await proxy.listen(path);
  return {
    path,
    proxy,
    attempts: () => recorded.map(({ durationMs: _, ...attempt }) => attempt),
    close: async () => {
      await proxy.close();
      rmSync(directory, { recursive: true });
    },
  };
}

/** Allows the hosts of the list, as `host:port`. */
export function allowing(...hosts: readonly string[]): DecideEgress {
  return (host, port) =>
    hosts.includes(`${host}:${port}`)
      ? { kind: "allow" }
      : { kind: "deny", message: `\`${host}:${port}\` is none of the hosts of this call; name it there` };
}

/** Sends `bytes` and answers all that comes until the connection ends. */
export async function exchange(path: string, bytes: string | Buffer): Promise<string> {
  const socket = connect({ path, allowHalfOpen: true });
  socket.on("error", () => socket.destroy()); // what came until then is the answer
  socket.write(bytes);
  let answer = "";
  socket.on("data", (piece: Buffer) => {
    answer += piece.toString("latin1");
  });
  socket.on("end", () => socket.end());
  await once(socket, "close");
  return answer;
}
