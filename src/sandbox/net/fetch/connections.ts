/**
 * Connections of the kernel's own to web servers, each made to an address that the gate has checked.
 *
 * They are kept for the next request to the same server for some seconds. INVARIANT: no name is looked up but by the
 * gate, and a connection leads where the gate looked. Proxies that the environment names are not used.
 */
import type { Socket } from "node:net";
import { Agent, type buildConnector } from "undici";
import { canonicalHost } from "../../../names/host-name.ts";
import { admit, BLOCKED_PORTS, type EgressNetwork, type EgressRefusal } from "../gate/admission.ts";
import { secured } from "../gate/secure-way.ts";

/** Connections to one server at once. */
const CONNECTIONS_PER_SERVER = 16;
/** Milliseconds for which a connection without a request is kept. */
const KEPT_MS = 4000;
/** Milliseconds that looking a host up and connecting may take. */
const CONNECT_MS = 15_000;
/** Bytes of an answer's headers. */
const HEADERS_BYTES_MAX = 32_768;

/** How servers are reached. */
export interface ConnectionRules {
  readonly network: EgressNetwork;
  /** Whether the operator opened a server that is not of the public internet. */
  readonly isOpened: (host: string, port: number) => boolean;
  /** Authorities that are believed beside those of the machine, as PEM. */
  readonly authorities?: () => string | undefined;
  /** Ports that are closed for all. */
  readonly blockedPorts?: readonly number[];
}

/** Why no connection came about. */
export class NoConnection extends Error {
  readonly refusal: Pick<EgressRefusal, "outcome" | "reason" | "message" | "address">;

  constructor(refusal: NoConnection["refusal"]) {
    super(refusal.message);
    this.name = "NoConnection";
    this.refusal = refusal;
  }
}

/** Where requests are sent by; `close` ends all connections. */
export function webConnections(rules: ConnectionRules): Agent {
  const connect = connectorBy(rules);
  return new Agent({
    connect,
    connections: CONNECTIONS_PER_SERVER,
    pipelining: 1,
    keepAliveTimeout: KEPT_MS,
    keepAliveMaxTimeout: KEPT_MS,
    maxHeaderSize: HEADERS_BYTES_MAX,
    headersTimeout: 0, // a request has a time of its own
    bodyTimeout: 0,
    allowH2: false,
  });
}

function connectorBy(rules: ConnectionRules): buildConnector.connector {
  return ({ hostname, protocol, port }, take) => {
    const target = { name: hostname, port: Number(port || (protocol === "https:" ? 443 : 80)) };
    connected(rules, target, protocol === "https:").then(
      (socket) => take(null, socket as Parameters<typeof take>[1] & Socket),
      (error: unknown) => take(error instanceof Error ? error : new Error(String(error)), null),
    );
  };
}

async function connected(
  { network, isOpened, authorities, blockedPorts = BLOCKED_PORTS }: ConnectionRules,
  { name, port }: { readonly name: string; readonly port: number },
  isSecure: boolean,
): Promise<Socket> {
  const host = canonicalHost(name);
  if (host === undefined) throw failure("malformed", `\`${name}\` is no host`);
  const signal = AbortSignal.timeout(CONNECT_MS);
  // whoever sends the request has decided that the host may be reached
  const rules = { decide: () => ({ kind: "allow" }) as const, blockedPorts, isOpened: isOpened(host.host, port) };
  const admitted = await admit({ host, port }, { rules, network }, signal);
  if (admitted.kind === "refusal") throw new NoConnection(admitted);
  const socket = network.connect(admitted.addresses, port);
  await established(socket, signal, host.host);
  if (!isSecure) return socket;
  const over = await secured(socket, host.host, authorities?.());
  if (!("problem" in over)) return over;
  socket.destroy();
  throw failure(
    "certificate",
    `\`${host.host}\` did not prove who it is (${over.problem}); tell the operator if it has a certificate of its own authority`,
  );
}

function established(socket: Socket, signal: AbortSignal, host: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const end = (error?: NoConnection) => {
    signal.removeEventListener("abort", late);
    socket.off("error", broken);
    if (error === undefined) return resolve();
    socket.on("error", () => undefined); // it is over, whatever comes
    socket.destroy();
    reject(error);
  };
  const late = () => end(failure("timeout", `\`${host}\` did not answer in time; try again in a moment`));
  const broken = (error: Error & { readonly code?: string }) =>
    end(failure("no_connection", `\`${host}\` takes no connection (${error.code ?? "it was broken off"})`));
  socket.once("connect", () => end());
  socket.on("error", broken);
  signal.addEventListener("abort", late, { once: true });
  return promise;
}

function failure(reason: EgressRefusal["reason"], message: string): NoConnection {
  return new NoConnection({ outcome: "failed", reason, message });
}
