/**
 * What the terminating proxy costs: requests over one kept connection to a server that a secret is bound to, next to
 * the same requests through a plain tunnel of the same proxy; and the start of a command that has such secrets.
 */
import { once } from "node:events";
import { createServer, Agent as HttpsAgent, request } from "node:https";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { connect as tlsConnect } from "node:tls";
import type { BrokeredSecret } from "../../src/model/reach/secrets.ts";
import { networksOf } from "../../src/names/address-class.ts";
import { newAuthority } from "../../src/sandbox/net/broker/authority.ts";
import { SecretBroker } from "../../src/sandbox/net/broker/broker.ts";
import { AttemptLog } from "../../src/sandbox/net/gate/attempt.ts";
import { EgressProxy } from "../../src/sandbox/net/proxy/egress-proxy.ts";
import { Places } from "../../src/sandbox/net/proxy/places.ts";
import { interleave, type Row } from "../measure.ts";
import type { Effort } from "../options.ts";
import type { Playground } from "../playground.ts";

const BOUND = "bound.example";
const PLAIN = "plain.example";
const PLACEHOLDER = "sk-live-AbCdEfGhIjKlMnOpQrStUv12";
const ANSWER = "x".repeat(4096);
const PLACES = 512;

/** The figures. */
export async function measureProxy(playground: Playground, effort: Effort): Promise<readonly Row[]> {
  const outside = await newAuthority();
  const inside = await newAuthority();
  const servers = await Promise.all([BOUND, PLAIN].map(async (host) => serving(await outside.identityOf(host))));
  const ports = servers.map((server) => (server.address() as { port: number }).port);
  const addresses = ["93.184.216.34", "93.184.216.35"];
  const secret: BrokeredSecret = {
    name: "API_KEY",
    placeholder: PLACEHOLDER,
    value: "sk-live-4f9Qm2Zx8Lw1Rt6Yb3Nc7Vd0",
    bindings: [{ host: BOUND, port: 443, path: "/", place: { kind: "header", name: "authorization" } }],
  };
  const proxy = new EgressProxy({
    rules: { decide: () => ({ kind: "allow" }), blockedPorts: [] },
    network: {
      lookUp: async (name) => [addresses[name === BOUND ? 0 : 1] ?? ""],
      connect: ([address]) =>
        connect({ host: "127.0.0.1", port: ports[addresses.indexOf(address)] ?? 1, noDelay: true }),
      ownNetworks: () => networksOf([]),
      isOwnPort: () => false,
    },
    log: new AttemptLog(() => undefined),
    places: { clients: new Places(PLACES), upstreams: new Places(PLACES) },
    secrets: {
      broker: new SecretBroker([secret]),
      authority: async () => inside,
      authorities: outside.certificate,
    },
  });
  const path = join(playground.directory("net-proxy"), "proxy");
  await proxy.listen(path);
  const requests = effort.rounds === 1 ? 100 : 1000;
  const through = (host: string, ca: string) => async () => {
    const agent = await tunnelled(path, host, ca);
    const startedMs = performance.now();
    for (let count = 0; count < requests; count += 1) await ask(agent, host);
    const spent = (performance.now() - startedMs) / requests;
    agent.destroy();
    return spent;
  };
  const terminated = through(BOUND, inside.certificate);
  const plain = through(PLAIN, outside.certificate);
  try {
    await terminated();
    await plain();
    const one = {
      id: "net-terminated",
      what: "a request with a secret through the terminating proxy, kept alive",
      peer: "the same request through a plain tunnel",
      unit: "ms",
      better: "lower",
    } as const;
    return [await interleave(one, effort.rounds, terminated, plain)];
  } finally {
    await proxy.close();
    for (const server of servers) {
      server.close();
      server.closeAllConnections();
    }
  }
}

async function serving(identity: { readonly key: string; readonly cert: string }) {
  const server = createServer(identity, (_, response) => void response.end(ANSWER));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}

/** One kept connection through a tunnel of the proxy. */
async function tunnelled(path: string, host: string, ca: string): Promise<HttpsAgent> {
  const socket: Socket = connect({ path });
  socket.write(`CONNECT ${host}:443 HTTP/1.1\r\nHost: ${host}:443\r\n\r\n`);
  await once(socket, "data");
  const over = tlsConnect({ socket, servername: host, ca, ALPNProtocols: ["http/1.1"] });
  await once(over, "secureConnect");
  const agent = new HttpsAgent({ keepAlive: true, maxSockets: 1 });
  agent.createConnection = () => over;
  return agent;
}

async function ask(agent: HttpsAgent, host: string): Promise<void> {
  const headers = { host, authorization: `Bearer ${PLACEHOLDER}` };
  const made = request({ agent, host, path: "/v1", headers }).end();
  const [answer] = (await once(made, "response")) as [NodeJS.ReadableStream];
  let length = 0;
  for await (const piece of answer) length += piece.length;
  if (length !== ANSWER.length) throw new Error(`an answer of ${length} bytes`);
}
