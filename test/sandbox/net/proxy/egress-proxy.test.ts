/** The way out of a sandbox: what goes through, what is refused, and what is recorded of both. */

import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { allowing, exchange, Internet, type OpenProxy, openProxy, PUBLIC_ADDRESS } from "../../../support/egress.ts";
import { comesTrue } from "../../../support/waiting.ts";

let internet: Internet;
const open: OpenProxy[] = [];

beforeEach(() => {
  internet = new Internet();
});
afterEach(async () => {
  for (const proxy of open.splice(0)) await proxy.close();
  internet.close();
});

const start = async (...parameters: Parameters<typeof openProxy>): Promise<OpenProxy> => {
  const proxy = await openProxy(...parameters);
  open.push(proxy);
  return proxy;
};
const get = (url: string, host: string, more = "") =>
  `GET ${url} HTTP/1.1\r\nHost: ${host}\r\n${more}Connection: close\r\n\r\n`;
const statusOf = (answer: string) => Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]);
const bodyOf = (answer: string) => answer.slice(answer.indexOf("\r\n\r\n") + 4);
const moved = { bytesOut: expect.any(Number), bytesIn: expect.any(Number) };
const ESTABLISHED = "HTTP/1.1 200 Connection established\r\n\r\n";
const nothing = { bytesOut: 0, bytesIn: 0 };

/** A tunnel that stands, and the bytes that came through it. */
async function openTunnel(path: string, authority: string): Promise<{ socket: Socket; received: () => string }> {
  const socket = connect({ path, allowHalfOpen: true });
  socket.on("error", () => socket.destroy()); // its close is what is looked at
  socket.on("end", () => socket.end());
  let received = "";
  socket.on("data", (piece: Buffer) => {
    received += piece.toString("latin1");
  });
  socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`);
  await until(() => received.startsWith(ESTABLISHED));
  return { socket, received: () => received.slice(ESTABLISHED.length) };
}

test("a plain request goes to the host that was allowed, written anew, and its answer comes back", async () => {
  const seen: unknown[] = [];
  await internet.http("registry.example", 80, (request, response) => {
    let body = "";
    request.on("data", (piece) => {
      body += piece;
    });
    request.on("end", () => {
      seen.push({ method: request.method, url: request.url, headers: request.rawHeaders, body });
      response.writeHead(201, { "X-Kind": ["a", "b"], Connection: "X-Hop", "X-Hop": "1" }).end("made");
    });
  });
  const proxy = await start(internet, allowing("registry.example:80"));
  const head =
    "PUT http://Registry.example./a%20b?c=d HTTP/1.1\r\nHost: registry.EXAMPLE\r\nX-One: 1\r\nx-one: 2\r\nProxy-Authorization: x\r\n";
  const answer = await exchange(
    proxy.path,
    `${head}Connection: close, X-Gone\r\nX-Gone: 1\r\nUpgrade: websocket\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n`,
  );
  expect({
    status: statusOf(answer),
    isPassed: answer.includes("X-Kind: a\r\nX-Kind: b"),
    isHop: answer.includes("X-Hop"),
    body: bodyOf(answer),
  }).toEqual({
    status: 201,
    isPassed: true,
    isHop: false,
    body: "4\r\nmade\r\n0\r\n\r\n",
  });
  expect(seen).toEqual([
    {
      method: "PUT",
      url: "/a%20b?c=d",
      headers: [
        "Host",
        "registry.example",
        "X-One",
        "1",
        "x-one",
        "2",
        "Transfer-Encoding",
        "chunked",
        "Connection",
        "close",
      ],
      body: "body",
    },
  ]);
  expect(proxy.attempts()).toEqual([
    { host: "registry.example", port: 80, via: "request", outcome: "allowed", address: "127.0.0.1", ...moved },
  ]);
});

test("each request of a connection is judged, and one that is refused says what to do", async () => {
  await internet.http("a.example", 8080, (_, response) => response.end("a"));
  internet.names.set("b.example", [PUBLIC_ADDRESS]);
  const proxy = await start(internet, allowing("a.example:8080"));
  const first = "GET http://a.example:8080/ HTTP/1.1\r\nHost: a.example:8080\r\n\r\n";
  const answer = await exchange(proxy.path, first + get("http://b.example/", "b.example"));
  expect(answer).toContain("HTTP/1.1 200 OK");
  expect(answer).toContain("HTTP/1.1 403 Forbidden");
  expect(answer).toMatch(/`b\.example:80` is none of the hosts of this call; name it there\n$/);
  expect(internet.lookedUp).toEqual(["a.example"]); // a host that is refused is not even looked up
  expect(proxy.attempts().toSorted((a, b) => a.host.localeCompare(b.host))).toEqual([
    { host: "a.example", port: 8080, via: "request", outcome: "allowed", address: "127.0.0.1", ...moved },
    { host: "b.example", port: 80, via: "request", outcome: "refused", reason: "denied", ...nothing },
  ]);
});

test("a tunnel carries bytes both ways, each side ends by itself, and nobody is refused late", async () => {
  await internet.tcp("a.example", 443, (socket) => {
    socket.write("hello "); // a server that speaks first
    let got = "";
    socket.on("data", (piece: Buffer) => {
      got += piece;
    });
    socket.on("end", () => socket.end(got.toUpperCase()));
  });
  const proxy = await start(internet, allowing("a.example:443"));
  const { socket, received } = await openTunnel(proxy.path, "a.example:443");
  socket.end("from inside");
  await once(socket, "close");
  expect(received()).toBe("hello FROM INSIDE");
  await proxy.proxy.close();
  expect(proxy.attempts()).toEqual([
    {
      host: "a.example",
      port: 443,
      via: "tunnel",
      outcome: "allowed",
      address: "127.0.0.1",
      bytesOut: 11,
      bytesIn: 17,
    },
  ]);
});

test("refusals of every kind are answered and recorded, and nothing is connected to", async () => {
  const names = {
    "private.example": ["10.0.0.5"],
    "mixed.example": [PUBLIC_ADDRESS, "169.254.169.254"],
    "rebound.example": ["::ffff:127.0.0.1"],
  };
  for (const [name, addresses] of Object.entries(names)) internet.names.set(name, addresses);
  const proxy = await start(internet, (host) => {
    if (host === "undecided.example") throw new Error("the decision fails");
    return { kind: "allow" };
  });
  const authorities = [
    ...[
      "private.example:443",
      "mixed.example:443",
      "rebound.example:443",
      "unknown.example:443",
      "undecided.example:443",
      "private.example:22",
    ],
    ...[
      "127.0.0.1:443",
      "[::1]:443",
      "[64:ff9b::7f00:1]:443",
      "169.254.169.254:80",
      "localhost:443",
      "metadata.google.internal:80",
    ],
  ];
  const answers: unknown[] = [];
  for (const authority of authorities) {
    const answer = await exchange(proxy.path, `CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`);
    answers.push([authority, statusOf(answer), proxy.attempts().at(-1)?.reason, proxy.attempts().at(-1)?.address]);
    expect(bodyOf(answer)).toMatch(/^[^\n]{20,}\n$/);
    expect(answer).not.toContain("10.0.0.5"); // what a name stands for inside is not told
  }
  expect(answers).toEqual([
    ["private.example:443", 403, "address_private", "10.0.0.5"],
    ["mixed.example:443", 403, "address_metadata", "169.254.169.254"],
    ["rebound.example:443", 403, "address_embeds_ipv4", "::ffff:127.0.0.1"],
    ["unknown.example:443", 502, "unknown_host", undefined],
    ["undecided.example:443", 403, "undecided", undefined],
    ["private.example:22", 403, "blocked_port", undefined],
    ["127.0.0.1:443", 403, "address_loopback", "127.0.0.1"],
    ["[::1]:443", 403, "address_loopback", "::1"],
    ["[64:ff9b::7f00:1]:443", 403, "address_embeds_ipv4", "64:ff9b::7f00:1"],
    ["169.254.169.254:80", 403, "address_metadata", "169.254.169.254"],
    ["localhost:443", 403, "address_loopback", undefined],
    ["metadata.google.internal:80", 403, "address_metadata", undefined],
  ]);
  expect(internet.connected).toEqual([]);
});

test("hosts that take no connection, give no answer or break off are failures, with their sentence", async () => {
  internet.names.set("closed.example", [PUBLIC_ADDRESS]);
  await internet.tcp("silent.example", 81, (socket) => socket.once("data", () => socket.destroy()));
  await internet.tcp("garbled.example", 82, (socket) =>
    socket.end("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"),
  );
  await internet.tcp("odd.example", 83, (socket) =>
    socket.end("HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n"),
  );
  await internet.tcp("cut.example", 84, (socket) =>
    socket.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", () => socket.destroySoon()),
  );
  const proxy = await start(internet, () => ({ kind: "allow" }));
  const results: unknown[] = [];
  for (const authority of [
    "closed.example",
    "silent.example:81",
    "garbled.example:82",
    "odd.example:83",
    "cut.example:84",
  ]) {
    const answer = await exchange(proxy.path, get(`http://${authority}/`, authority));
    await until(() => proxy.attempts().length > results.length);
    const { outcome, reason } = proxy.attempts().at(-1) ?? {};
    results.push([authority, statusOf(answer), outcome, reason]);
  }
  expect(results).toEqual([
    ["closed.example", 502, "failed", "no_connection"],
    ["silent.example:81", 502, "failed", "no_answer"],
    ["garbled.example:82", 502, "failed", "no_answer"],
    ["odd.example:83", 502, "failed", "no_answer"],
    ["cut.example:84", 200, "allowed", "no_answer"],
  ]);
});

test("silence, slowness and too many bytes end a connection", async () => {
  await internet.tcp("silent.example", 443, () => undefined);
  await internet.tcp("loud.example", 444, (socket) => {
    const timer = setInterval(() => socket.write(Buffer.alloc(4096)), 5);
    socket.once("close", () => clearInterval(timer));
  });
  const proxy = await start(internet, () => ({ kind: "allow" }), { idleMs: 100, headMs: 100, bytesMax: 50_000 });
  const silent = await openTunnel(proxy.path, "silent.example:443");
  await once(silent.socket, "close");
  const loud = await openTunnel(proxy.path, "loud.example:444");
  await once(loud.socket, "close");
  const late = await exchange(proxy.path, "GET http://a.example/ HTTP/1.1\r\nHost: a.ex");
  const after = await exchange(proxy.path, "CONNECT silent.example:443 HTTP/1.1\r\nHost: silent.example:443\r\n\r\n");
  expect([late === "" || statusOf(late) === 408, statusOf(after)]).toEqual([true, 502]);
  expect(
    proxy
      .attempts()
      .filter(({ host }) => host !== "")
      .map(({ host, outcome, reason }) => [host, outcome, reason]),
  ).toEqual([
    ["silent.example", "allowed", "timeout"],
    ["loud.example", "allowed", "too_many_bytes"],
    ["silent.example", "failed", "too_many_bytes"],
  ]);
});

test("a side that does not read stops the other, in both directions", async () => {
  const bytesMax = 64_000_000;
  const flood = (socket: Socket): (() => number) => {
    let sent = 0;
    const write = () => {
      for (let goesOn = true; goesOn && sent < bytesMax; sent += 65_536) goesOn = socket.write(Buffer.alloc(65_536));
    };
    socket.on("drain", write);
    write();
    return () => sent;
  };
  let sentIn: (() => number) | undefined;
  await internet.tcp("flood.example", 443, (socket) => {
    sentIn = flood(socket);
  });
  await internet.tcp("deaf.example", 444, (socket) => socket.pause());
  const proxy = await start(internet, () => ({ kind: "allow" }));
  const slow = await openTunnel(proxy.path, "flood.example:443");
  slow.socket.pause();
  const sentOut = flood((await openTunnel(proxy.path, "deaf.example:444")).socket);
  await until(() => (sentIn?.() ?? 0) > 0 && sentOut() > 0);
  await sleep(500);
  const sent = [sentIn?.() ?? 0, sentOut()];
  expect(sent.map((bytes) => bytes > 0 && bytes < bytesMax / 2)).toEqual([true, true]);
});

test("more requests at once than there are places are refused, also on one connection", async () => {
  await internet.tcp("hang.example", 80, () => undefined);
  const proxy = await start(internet, () => ({ kind: "allow" }));
  const socket = connect(proxy.path);
  socket.write("GET http://hang.example/ HTTP/1.1\r\nHost: hang.example\r\n\r\n".repeat(200));
  await until(() => proxy.attempts().length >= 72);
  expect(new Set(proxy.attempts().map(({ reason }) => reason))).toEqual(new Set(["too_many"]));
  expect(internet.connected.length).toBeLessThanOrEqual(128);
  socket.destroy();
});

test("a client that goes away, and a decision that never ends, keep nothing open", async () => {
  await internet.tcp("slow.example", 443, () => undefined);
  const waiting: (() => void)[] = [];
  const proxy = await start(internet, async (host) => {
    if (host === "never.example") await new Promise(() => undefined);
    if (host === "late.example") await new Promise<void>((resolve) => waiting.push(resolve));
    return { kind: "allow" };
  });
  internet.names.set("late.example", [PUBLIC_ADDRESS]);
  for (const head of [
    "CONNECT late.example:443 HTTP/1.1\r\nHost: late.example:443",
    "GET http://late.example:443/ HTTP/1.1\r\nHost: late.example:443",
  ]) {
    const socket = connect(proxy.path);
    socket.write(`${head}\r\n\r\n`);
    await until(() => waiting.length > 0);
    socket.destroy();
    await sleep(20);
    waiting.pop()?.();
  }
  await until(() => proxy.attempts().length === 2);
  void exchange(proxy.path, get("http://never.example/", "never.example"));
  await sleep(50);
  await proxy.proxy.close();
  expect(proxy.attempts().map(({ host, reason }) => [host, reason])).toEqual([
    ["late.example", undefined],
    ["late.example", "closed"],
    ["never.example", "closed"],
  ]);
});

test("closing ends what is under way and has every attempt recorded", async () => {
  await internet.tcp("hang.example", 443, () => undefined);
  const proxy = await start(internet, () => ({ kind: "allow" }));
  const { socket } = await openTunnel(proxy.path, "hang.example:443");
  const request = exchange(proxy.path, get("http://hang.example:443/", "hang.example:443"));
  await until(() => internet.connected.length === 2);
  const closed = once(socket, "close");
  const totals = await proxy.proxy.close();
  await Promise.all([closed, request]);
  expect(totals).toEqual({
    allowed: 1,
    refused: 0,
    failed: 1,
    unreported: 0,
    bytesOut: expect.any(Number),
    bytesIn: 0,
  });
  expect(
    proxy
      .attempts()
      .map(({ via, outcome, reason }) => [via, outcome, reason])
      .toSorted(),
  ).toEqual([
    ["request", "failed", "closed"],
    ["tunnel", "allowed", undefined],
  ]);
});

async function until(isSo: () => boolean): Promise<void> {
  expect(await comesTrue(isSo)).toBe(true);
}
