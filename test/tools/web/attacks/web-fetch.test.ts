// What servers, names and agents can make of `web_fetch`: ways inward, bombs, endless answers, headers, addresses with
// two meanings.
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { describe, expect, onTestFinished, test } from "vitest";
import { KNOWN, OTHER, webPlace } from "../../../support/web-place.ts";

const plain = (response: ServerResponse) => response.writeHead(200, { "content-type": "text/plain" });

describe("ways inward", () => {
  test.each([
    "http://127.0.0.1/",
    "http://localhost/",
    "http://10.0.0.1/",
    "http://169.254.169.254/latest/meta-data/",
    "http://metadata.google.internal/",
    "http://[::1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[64:ff9b::7f00:1]/",
    "http://100.64.0.1/",
  ])("%s is refused whatever a person would say", async (url) => {
    const { fetch, internet } = await webPlace();
    expect((await fetch(url)).why).toMatch(/NETWORK:web_fetch:(?:private|metadata)/);
    expect([internet.lookedUp, internet.connected]).toEqual([[], []]);
  });

  test.each([
    "http://0x7f.1/",
    "http://2130706433/",
    "http://0177.0.0.1/",
    "http://[fe80::1%25eth0]/",
    "http://127.1/",
  ])("%s could be read in two ways and is no address", async (url) => {
    const { fetch } = await webPlace();
    expect((await fetch(url)).why).toContain("tool_input_invalid");
  });

  test.each([
    "ftp://a.example/",
    "file:///etc/passwd",
    "http://user:pw@api.github.com/",
    "http://@api.github.com/",
    "//a.example/",
    "http://api.github.com\u200b.evil.example/",
  ])("%s is no address", async (url) => {
    const { fetch } = await webPlace();
    expect((await fetch(url)).why).toContain("tool_input_invalid");
  });

  test("ports of remote shells and mail are closed", async () => {
    const { fetch } = await webPlace();
    for (const port of [22, 23, 25, 3389]) expect((await fetch(`http://${KNOWN}:${port}/`)).why).toContain(":port");
  });

  test("a known name that leads inward is not connected to, also where one of its addresses is public", async () => {
    const { fetch, internet, kernel } = await webPlace({ [KNOWN]: (_, response) => void plain(response).end("ok") });
    const [address = ""] = internet.names.get(KNOWN) ?? [];
    for (const addresses of [["127.0.0.1"], [address, "10.1.2.3"], ["::1"], ["169.254.169.254"]]) {
      internet.names.set(KNOWN, addresses);
      expect((await fetch(`http://${KNOWN}/`)).why).toMatch(/PERMISSION_DENIED.*not public/);
    }
    expect(internet.connected).toEqual([]);
    expect(kernel.ledger.of("network_blocked")).toHaveLength(4);
    internet.names.set(KNOWN, [address]);
    expect((await fetch(`http://${KNOWN}/`)).data["content"]).toBe("ok"); // the control
  });

  test("a name that means something else the second time leads where it was looked up", async () => {
    const { fetch, internet } = await webPlace({ [KNOWN]: (_, response) => void plain(response).end("ok") });
    const { network } = internet;
    const looked = network.lookUp;
    Object.assign(network, {
      lookUp: async (name: string, signal: AbortSignal) => {
        const found = await looked(name, signal);
        internet.names.set(name, ["127.0.0.1"]);
        return found;
      },
    });
    expect((await fetch(`http://${KNOWN}/`)).data["content"]).toBe("ok");
    expect(internet.connected.every((one) => !one.startsWith("127."))).toBe(true);
  });

  test("proxies that the environment names are not asked", async () => {
    const proxies = ["http_proxy", "HTTP_PROXY", "https_proxy", "ALL_PROXY", "NODE_USE_ENV_PROXY"];
    const before = proxies.map((name) => process.env[name]);
    onTestFinished(() => {
      for (const [at, name] of proxies.entries())
        if (before[at] === undefined) delete process.env[name];
        else process.env[name] = before[at];
    });
    for (const name of proxies) process.env[name] = name === "NODE_USE_ENV_PROXY" ? "1" : "http://127.0.0.1:1";
    const { fetch } = await webPlace({ [KNOWN]: (_, response) => void plain(response).end("direct") });
    expect((await fetch(`http://${KNOWN}/`)).data["content"]).toBe("direct");
  });
});

test("a server of this machine is reached where the operator opened that very one, and never the kernel's own port", async () => {
  const server = createServer((_, response) => void plain(response).end("near"));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const { port } = server.address() as { port: number };
  const policies = `@id("t.web")\n@message("m")\n@waives("*")\npermit (principal, action == Handrail::Action::"web_fetch", resource is Handrail::Host);`;
  const { MACHINE_NETWORK } = await import("../../../../src/sandbox/net/egress.ts");
  const network = { ...MACHINE_NETWORK, isOwnPort: () => false }; // this process is kernel and server
  const host = "127.0.0.1";
  const opened = await webPlace({}, { policies, network, openedWebHosts: [{ host, port }] });
  expect((await opened.fetch(`http://${host}:${port}/`)).data["content"]).toBe("near");
  expect((await opened.fetch(`http://${host}:${port + 1}/`)).why).toContain("NETWORK:web_fetch:private");
  const closed = await webPlace({}, { policies, network });
  expect((await closed.fetch(`http://${host}:${port}/`)).why).toContain("NETWORK:web_fetch:private");
  const own = await webPlace({}, { policies, network: MACHINE_NETWORK, openedWebHosts: [{ host, port }] });
  expect((await own.fetch(`http://${host}:${port}/`)).why).toMatch(/PERMISSION_DENIED.*kernel itself/);
});

describe("answers", () => {
  test.each([
    ["gzip", gzipSync(Buffer.alloc(50_000_000))],
    ["br", brotliCompressSync(Buffer.alloc(50_000_000))],
  ])("a bomb of %s is not unpacked", async (packing, body) => {
    const { fetch } = await webPlace({
      [KNOWN]: (_, response) =>
        void response.writeHead(200, { "content-type": "text/plain", "content-encoding": packing }).end(body),
    });
    // one packs so well that the ratio tells, the other is cut off like any other body
    const { why, data } = await fetch(`http://${KNOWN}/`);
    expect(why === "success" ? String(data["preview"]) : why).toMatch(/IO_ERROR.*unpacks to more than|"cut":true/);
  });

  test.each(["compress", "gzip, gzip", "zstd"])("a packing that nobody asked for (%s) is refused", async (packing) => {
    const { fetch } = await webPlace({
      [KNOWN]: (_, response) =>
        void response.writeHead(200, { "content-type": "text/plain", "content-encoding": packing }).end("x"),
    });
    expect((await fetch(`http://${KNOWN}/`)).why).toMatch(/IO_ERROR.*packed/);
  });

  test("an endless body is read up to a bound, and the connection ended", async () => {
    let closed: Promise<unknown> | undefined;
    const { fetch } = await webPlace({
      [KNOWN]: (request, response) => {
        closed = new Promise((resolve) => request.socket.once("close", resolve));
        const more = () => {
          while (!response.destroyed && response.write("x".repeat(65_536)));
        };
        response.writeHead(200, { "content-type": "text/plain" }).on("drain", more);
        more();
      },
    });
    const { data } = await fetch(`http://${KNOWN}/`);
    expect(data["preview"]).toContain(`"bytes":${5 * 1024 * 1024},"cut":true`);
    await closed;
  });

  test("a body that trickles, and one that never begins, end with the call's time", async () => {
    const { fetch } = await webPlace({
      [KNOWN]: (request, response) => {
        if (request.url === "/never") return;
        response.writeHead(200, { "content-type": "text/plain" });
        const trickle = setInterval(() => response.write("x"), 20);
        response.on("close", () => clearInterval(trickle));
      },
    });
    for (const path of ["/trickle", "/never"])
      expect((await fetch(`http://${KNOWN}${path}`, { timeout_ms: 300 })).why).toContain('"TIMEOUT"');
  });

  test("a cancelled call ends its request", async () => {
    const cancel = new AbortController();
    let closed: Promise<unknown> | undefined;
    const { fetch } = await webPlace({
      [KNOWN]: (request) => {
        closed = new Promise((resolve) => request.socket.once("close", resolve));
        cancel.abort();
      },
    });
    expect((await fetch(`http://${KNOWN}/`, {}, { signal: cancel.signal })).why).toContain("CANCELLED");
    await closed;
  });

  test.each([
    ["two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"],
    ["a length and chunks", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"],
    ["garbage", "nonsense\r\n\r\n"],
    ["headers without end", `HTTP/1.1 200 OK\r\n${"A: b\r\n".repeat(20_000)}`],
    ["a body cut short", "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 50\r\n\r\nshort"],
  ])("an answer with %s is no answer", async (_, bytes) => {
    const { fetch, internet } = await webPlace();
    await internet.tcp(KNOWN, 80, (socket: Socket) => {
      socket.on("data", () => socket.end(bytes));
    });
    expect((await fetch(`http://${KNOWN}/`)).why).toContain("IO_ERROR");
  });

  test("a page that takes for ever to read ends its thread, and the next one is read", async () => {
    const deep = "<div>".repeat(200_000);
    const { fetch } = await webPlace({
      [KNOWN]: (request, response) =>
        void response
          .writeHead(200, { "content-type": "text/html" })
          .end(request.url === "/deep" ? deep : "<p>a page of few words</p>"),
    });
    const deepest = await fetch(`http://${KNOWN}/deep`, { timeout_ms: 5000 });
    expect(deepest.why).toMatch(/success|TIMEOUT|OUTPUT_LIMIT|IO_ERROR/);
    expect((await fetch(`http://${KNOWN}/`)).data["content"]).toBe("a page of few words");
  });
});

describe("what an agent gives", () => {
  test.each([
    { Host: "evil.example" },
    { "Content-Length": "3" },
    { "transfer-encoding": "chunked" },
    { Cookie: "a=1" },
    { "Proxy-Authorization": "x" },
    { "X-A": "a\r\nHost: evil.example" },
    { "X-A\r\nB": "a" },
    { "X-A": "\u2028" },
  ])("the headers %j are refused", async (headers) => {
    const { fetch } = await webPlace();
    expect((await fetch(`http://${KNOWN}/`, { headers })).why).toContain("tool_input_invalid");
  });

  test("a body goes with methods that have one alone", async () => {
    const { fetch } = await webPlace();
    expect((await fetch(`http://${KNOWN}/`, { body: "x" })).why).toContain("tool_input_invalid");
  });

  test("a lease that names hosts holds for each hop", async () => {
    const { fetch, internet, serve } = await webPlace(
      { [KNOWN]: (_, response) => void response.writeHead(302, { location: `http://${OTHER}/` }).end() },
      { scope: { hosts: [[KNOWN]] } },
    );
    await serve(OTHER, (_, response) => void plain(response).end("there"));
    expect((await fetch(`http://${KNOWN}/`)).why).toContain("LEASE");
    expect(internet.lookedUp).toEqual([KNOWN]);
  });

  test("what an answer holds of secrets is hidden", async () => {
    const token = `ghp_${"0123456789abcdefghijABCDEFGHIJ"}4Zzvpr`;
    const { fetch } = await webPlace({
      [KNOWN]: (_, response) => void plain(response).end(`password=Zq9-xw7Lm2p ${token}`),
    });
    expect(String((await fetch(`http://${KNOWN}/`)).data["content"])).not.toContain("Zq9-xw7Lm2p");
  });
});
