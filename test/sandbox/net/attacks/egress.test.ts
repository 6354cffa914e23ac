/**
 * Ways to make a proxy reach what was not allowed: names that change what they stand for, requests that two programs
 * read differently, tunnels to one server that speak to another. Each control is a proxy that checks and then passes
 * bytes on as they came.
 */
import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { connect, createServer, type Server, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { connect as connectTls } from "node:tls";
import { afterEach, beforeEach, expect, test } from "vitest";
import { allowing, exchange, Internet, type OpenProxy, openProxy, PUBLIC_ADDRESS } from "../../../support/egress.ts";

let internet: Internet;
const closing: (() => unknown)[] = [];

beforeEach(() => {
  internet = new Internet();
});
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
  internet.close();
});

async function open(...hosts: readonly string[]): Promise<OpenProxy> {
  const proxy = await openProxy(internet, allowing(...hosts));
  closing.push(proxy.close);
  return proxy;
}

async function listening(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  closing.push(() => server.close());
  return (server.address() as { port: number }).port;
}

test("a name that stands for something else at the second look is connected to as it was checked", async () => {
  const answers = [[PUBLIC_ADDRESS], ["127.0.0.1"]];
  const lookUp = async () => answers.shift() ?? ["127.0.0.1"];
  await internet.http("a.example", 80, (_, response) => response.end("public"));
  internet.servers.set("127.0.0.1:80", internet.servers.get(`${PUBLIC_ADDRESS}:80`) ?? 0);

  // a proxy that checks one answer and connects by another
  const [checked] = await lookUp();
  const [reached = ""] = await lookUp();
  const control = internet.network.connect([reached], 80);
  control.destroy();
  expect({ checked, reached: internet.connected }).toEqual({ checked: PUBLIC_ADDRESS, reached: ["127.0.0.1:80"] });

  internet.connected.length = 0;
  answers.push([PUBLIC_ADDRESS], ["127.0.0.1"]);
  const proxy = await openProxy({ network: { ...internet.network, lookUp } }, allowing("a.example:80"));
  closing.push(proxy.close);
  const request = "GET http://a.example/ HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n";
  expect(await exchange(proxy.path, request)).toContain("public");
  expect(internet.connected).toEqual([`${PUBLIC_ADDRESS}:80`]);
  expect(await exchange(proxy.path, request)).toContain("HTTP/1.1 403");
  expect(internet.connected).toEqual([`${PUBLIC_ADDRESS}:80`]);
});

const SMUGGLED = "GET /smuggled HTTP/1.1\r\nHost: b.example\r\n\r\n";
/** Requests that hold another, or that name two hosts, by how. */
const TWO_WAYS: Readonly<Record<string, string>> = {
  lengthAndChunks: `POST http://a.example/ HTTP/1.1\r\nHost: a.example\r\nContent-Length: ${5 + SMUGGLED.length}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${SMUGGLED}`,
  chunksAndLength: `POST http://a.example/ HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\nContent-Length: ${5 + SMUGGLED.length}\r\n\r\n0\r\n\r\n${SMUGGLED}`,
  twoLengths: `POST http://a.example/ HTTP/1.1\r\nHost: a.example\r\nContent-Length: 0\r\nContent-Length: ${SMUGGLED.length}\r\n\r\n${SMUGGLED}`,
  blankBeforeColon: `POST http://a.example/ HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n${SMUGGLED}`,
  foldedHeader: `POST http://a.example/ HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n${SMUGGLED}`,
  bareLineFeeds: `GET http://a.example/ HTTP/1.1\nHost: a.example\n\n${SMUGGLED}`,
  oddEncoding: `POST http://a.example/ HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: identity, chunked\r\n\r\n0\r\n\r\n${SMUGGLED}`,
  otherHost: "GET http://a.example/ HTTP/1.1\r\nHost: b.example\r\n\r\n",
  otherPort: "GET http://a.example/ HTTP/1.1\r\nHost: a.example:8080\r\n\r\n",
  twoHosts: "GET http://a.example/ HTTP/1.1\r\nHost: a.example\r\nHost: b.example\r\n\r\n",
  userInAddress: "GET http://a.example@b.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n",
  backslashInAddress: "GET http://a.example\\@b.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n",
  encodedHost: "GET http://a%2eexample/ HTTP/1.1\r\nHost: a.example\r\n\r\n",
  oddAddress: "GET http://0x7f.1/ HTTP/1.1\r\nHost: 0x7f.1\r\n\r\n",
  fragment: "GET http://a.example#@b.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n",
  oldVersion: "GET http://a.example/\r\n\r\n",
  listedFraming:
    "POST http://a.example/ HTTP/1.1\r\nHost: a.example\r\nContent-Length: 4\r\nConnection: content-length\r\n\r\nbody",
  originForm: "GET / HTTP/1.1\r\nHost: a.example\r\n\r\n",
  tunnelWithBody: `CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\nContent-Length: 4\r\n\r\nbody`,
  tunnelToAnother: "CONNECT a.example:443 HTTP/1.1\r\nHost: b.example:443\r\n\r\n",
  tunnelByAddress: "CONNECT http://a.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n",
};

test("a request that can be read in two ways goes nowhere", async () => {
  const arrived: string[] = [];
  await internet.http("a.example", 80, (request, response) => {
    arrived.push(request.url ?? "");
    response.end();
  });
  const proxy = await open("a.example:80", "a.example:443", "a.example:8080", "b.example:80", "b.example:443");
  const answers: Record<string, number> = {};
  for (const [way, request] of Object.entries(TWO_WAYS)) {
    answers[way] = Number(/^HTTP\/1\.1 (\d+)/.exec(await exchange(proxy.path, request))?.[1]);
  }
  expect(answers).toEqual(Object.fromEntries(Object.keys(TWO_WAYS).map((way) => [way, 400])));
  expect({ arrived, connected: internet.connected }).toEqual({ arrived: [], connected: [] });
  expect(new Set(proxy.attempts().map(({ outcome, reason }) => `${outcome} ${reason}`))).toEqual(
    new Set(["refused malformed"]),
  );
  const plain =
    "POST http://a.example/plain HTTP/1.1\r\nHost: a.example\r\nContent-Length: 4\r\nConnection: close\r\n\r\nbody";
  expect(await exchange(proxy.path, plain)).toMatch(/^HTTP\/1\.1 200 /);
  expect(arrived).toEqual(["/plain"]);
});

test("control: behind a proxy that passes bytes on, servers find the second request or the other host", async () => {
  const arrived: string[] = [];
  const origin = createHttpServer({ insecureHTTPParser: true }, (request, response) => {
    arrived.push(`${request.headers.host} ${request.url}`);
    response.end();
  });
  origin.on("clientError", (_, socket) => socket.destroy());
  const port = await listening(origin);
  // judges the first line, and pipes
  const naive = createServer((client) => {
    client.once("data", (first: Buffer) => {
      if (
        !first.toString("latin1").startsWith("POST http://a.example/") &&
        !first.toString("latin1").startsWith("GET http://a.example/")
      )
        return;
      const upstream = connect(port, "127.0.0.1");
      for (const side of [client, upstream]) side.on("error", () => side.destroy());
      upstream.write(first.toString("latin1").replace("http://a.example", ""));
      client.pipe(upstream).pipe(client);
      setTimeout(() => upstream.end(), 100);
    });
  });
  const naivePort = await listening(naive);
  for (const way of ["lengthAndChunks", "otherHost"] as const) {
    const client = connect(naivePort, "127.0.0.1")
      .on("error", () => undefined)
      .resume();
    client.write(TWO_WAYS[way] ?? "");
    await once(client, "close");
  }
  expect(arrived).toEqual(["a.example /", "b.example /smuggled", "b.example /"]);
});

/** A tunnel to `authority`, and what Node's own TLS client does in it. */
async function speakTls(path: string, authority: string, servername: string): Promise<{ failure: string }> {
  const socket = connect({ path });
  socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`);
  await once(socket, "data");
  const client = connectTls({ socket: socket as Duplex as Socket, servername, rejectUnauthorized: false });
  const [error] = (await once(client, "error")) as [NodeJS.ErrnoException];
  socket.destroy();
  return { failure: error.code ?? error.message };
}

test("a tunnel to an allowed host does not speak to another behind the same address", async () => {
  const arrived: Buffer[] = [];
  await internet.tcp("a.example", 443, (socket) => {
    socket.on("data", (piece) => {
      arrived.push(piece);
      socket.end(Buffer.from([21, 3, 3, 0, 2, 2, 40])); // a server that wants none of it
    });
  });
  const proxy = await open("a.example:443");
  expect(await speakTls(proxy.path, "a.example:443", "b.example")).toEqual({
    failure: "ERR_SSL_TLSV1_UNRECOGNIZED_NAME",
  });
  expect(arrived).toEqual([]);
  // the control is the same way with the name that was allowed: the bytes go through as they are
  expect(await speakTls(proxy.path, "a.example:443", "A.example")).toEqual({
    failure: "ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE",
  });
  expect(Buffer.concat(arrived).includes("A.example")).toBe(true);
  await proxy.proxy.close();
  expect(
    proxy
      .attempts()
      .map(({ outcome, reason, serverName, bytesOut }) => ({ outcome, reason, serverName, isSent: bytesOut > 0 })),
  ).toEqual([
    { outcome: "refused", reason: "server_name", serverName: "b.example", isSent: false },
    { outcome: "allowed", reason: undefined, serverName: undefined, isSent: true },
  ]);
});

test("TLS that is cut so that its name cannot be read does not go through", async () => {
  const arrived: Buffer[] = [];
  await internet.tcp("a.example", 443, (socket) => socket.on("data", (piece) => arrived.push(piece)));
  const proxy = await open("a.example:443");
  const broken = Buffer.from([22, 3, 1, 0, 4, 1, 0xff, 0xff, 0xff]);
  const head = "CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n\r\n";
  expect(await exchange(proxy.path, Buffer.concat([Buffer.from(head), broken]))).toContain(
    "200 Connection established",
  );
  const dripped = connect({ path: proxy.path });
  dripped.on("error", () => undefined).resume();
  dripped.write(head);
  dripped.write(Buffer.from([22, 3, 1, 0x40, 0, 1, 0, 0x30, 0]));
  const timer = setInterval(() => dripped.write(Buffer.alloc(1)), 1);
  await new Promise((resolve) => dripped.once("close", resolve));
  clearInterval(timer);
  expect(arrived).toEqual([]);
  await proxy.proxy.close();
  expect(proxy.attempts().map(({ outcome, reason }) => [outcome, reason])).toEqual([
    ["refused", "server_name"],
    ["refused", "server_name"],
  ]);
});
