// `web_fetch` against real servers: pages as a person reads them, statuses, encodings, and what is recorded.
import type { RequestListener } from "node:http";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { KNOWN, webPlace } from "../../support/web-place.ts";

const PAGE = `<!doctype html><html><head><title>On  bridges</title><script>alert(1)</script></head><body><nav><a href="/x">menu</a></nav>
<article><h1>On bridges</h1><p>A bridge <b>spans</b> a river, and <a href="/rivers">rivers</a> are many. ${"It is long. ".repeat(40)}</p>
<ul><li>wood</li><li>stone</li></ul><pre><code>build()</code></pre></article><footer>imprint</footer></body></html>`;
const page = (type = "text/html; charset=utf-8", body: string | Buffer = PAGE) =>
  ((_request, response) => response.writeHead(200, { "content-type": type }).end(body)) satisfies RequestListener;

describe("a page", () => {
  test("comes as Markdown of its content, with absolute links and its title", async () => {
    const { fetch } = await webPlace({ [KNOWN]: page() });
    const { data } = await fetch(`http://${KNOWN}/a`);
    expect(data).toMatchObject({ success: true, status: 200, content_type: "text/html", title: "On bridges" });
    expect(data["content"]).toContain("**spans**");
    expect(data["content"]).toContain(`[rivers](http://${KNOWN}/rivers)`);
    expect(data["content"]).toMatch(/- +wood\n- +stone/);
    expect(data["content"]).not.toMatch(/alert|menu|imprint|<p>/);
  });

  test("comes as text, or as it is", async () => {
    const { fetch } = await webPlace({ [KNOWN]: page() });
    const text = String((await fetch(`http://${KNOWN}/`, { format: "text" })).data["content"]);
    expect(text).toContain("A bridge spans a river, and rivers are many.");
    expect(text).not.toMatch(/[*[\]]|alert/);
    expect((await fetch(`http://${KNOWN}/`, { format: "raw" })).data["content"]).toBe(PAGE);
  });

  test.each([
    ["text/html; charset=ISO-8859-1", Buffer.from("<p>caf\xe9 and more text</p>", "latin1")],
    ["text/html", Buffer.from('<meta charset="windows-1252"><p>caf\xe9 and more text</p>', "latin1")],
    ["text/html", Buffer.from("\ufeff<p>café and more text</p>", "utf16le")],
    ["text/plain; charset=shift_jis", Buffer.from([0x63, 0x61, 0x66, 0xc3, 0x83])],
    ["text/plain", Buffer.from("café and more text")],
  ])("is read by the encoding of %s", async (type, body) => {
    const { fetch } = await webPlace({ [KNOWN]: page(type, body) });
    expect(String((await fetch(`http://${KNOWN}/`)).data["content"])).toMatch(/^caf(?:é|ﾃ)/);
  });
});

test("JSON comes as it is, packed or not, and its answer is labelled untrusted", async () => {
  const json = JSON.stringify({ one: [1, 2] });
  const { fetch } = await webPlace({
    [KNOWN]: (request, response) => {
      expect(request.headers).toMatchObject({ "user-agent": "handrail", accept: "application/json" });
      response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" }).end(gzipSync(json));
    },
  });
  const { data, outcome } = await fetch(`http://${KNOWN}/`, { headers: { accept: "application/json" } });
  expect(data).toEqual({
    success: true,
    url: `http://${KNOWN}/`,
    status: 200,
    content_type: "application/json",
    content: json,
    bytes: json.length,
  });
  expect(outcome["label"]).toMatchObject({ trustLevel: "untrusted" });
});

test("another status is no success, and its body is told", async () => {
  const { fetch } = await webPlace({
    [KNOWN]: (_, response) =>
      response.writeHead(429, { "content-type": "text/plain", "retry-after": "7" }).end("slow down"),
  });
  expect((await fetch(`http://${KNOWN}/x?y=1`)).data).toMatchObject({
    success: false,
    error: "HTTP 429",
    status: 429,
    content: "slow down",
    retry_after_ms: 7000,
  });
});

test("a small body that is no text comes as base64, a large one is told apart, HEAD has none", async () => {
  const image = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1, 2, 255]);
  const { fetch } = await webPlace({
    [KNOWN]: (request, response) =>
      response
        .writeHead(200, { "content-type": "image/png" })
        .end(request.url === "/large" ? Buffer.alloc(100_000) : image),
  });
  expect((await fetch(`http://${KNOWN}/`)).data).toMatchObject({ content_base64: image.toString("base64"), bytes: 8 });
  expect((await fetch(`http://${KNOWN}/large`)).why).toContain("BINARY_FILE");
  expect((await fetch(`http://${KNOWN}/large`, { method: "HEAD" })).data).toMatchObject({ status: 200, bytes: 0 });
});

test("what a method may change is asked about, and a host that nobody knows", async () => {
  const got: string[] = [];
  const serve = ((request, response) => {
    got.push(`${request.method} ${request.url}`);
    response.end("ok");
  }) satisfies RequestListener;
  const { fetch } = await webPlace({ [KNOWN]: serve, "elsewhere.example": serve });
  for (const method of ["POST", "PUT", "PATCH", "DELETE"])
    expect((await fetch(`http://${KNOWN}/${method}`, { method })).why).toContain("CAPABILITY:web_fetch:method");
  expect((await fetch("http://elsewhere.example/")).why).toContain("CAPABILITY:web_fetch:host");
  expect((await fetch("http://github.com/")).why).toContain("CAPABILITY:web_fetch:host"); // the apex is not below it
  expect(got).toEqual([]);
  const waived = await webPlace(
    { "elsewhere.example": serve },
    {
      policies: `@id("t.web")\n@message("m")\n@waives("*")\npermit (principal, action == Handrail::Action::"web_fetch", resource is Handrail::Host);`,
    },
  );
  const { data } = await waived.fetch("http://elsewhere.example/p", { method: "POST", body: "x=1" });
  expect([data["content"], got]).toEqual(["ok", ["POST /p"]]);
});

test("of a request that changes something and has no answer nobody says that it changed nothing", async () => {
  const policies = `@id("t.web")\n@message("m")\n@waives("*")\npermit (principal, action == Handrail::Action::"web_fetch", resource is Handrail::Host);`;
  let asked = 0;
  const { fetch } = await webPlace(
    {
      [KNOWN]: (request, response) => {
        asked += 1;
        if (request.url === "/on") response.writeHead(303, { location: "http://127.0.0.1/" }).end();
        else request.socket.destroy();
      },
    },
    { policies },
  );
  for (const path of ["/", "/on"]) {
    const { why } = await fetch(`http://${KNOWN}${path}`, { method: "POST", body: "x" });
    expect(why).toContain("OUTCOME_UNKNOWN");
  }
  expect(asked).toBe(2); // and it is not sent twice
  expect((await fetch("http://127.0.0.1/", { method: "POST" })).why).toContain("NETWORK:web_fetch:private");
  expect((await fetch(`http://${KNOWN}/`)).why).toContain("IO_ERROR"); // a read changed nothing
});

test("a request that reached nobody leaves no mark on who asked, and says once what to do", async () => {
  const { fetch, kernel, serve } = await webPlace();
  const marks = async () => (await kernel.marks.listMarks({})).map(({ mark }) => mark.trustLevel);
  const { outcome } = await fetch(`http://${KNOWN}/`);
  expect(outcome).toMatchObject({
    code: "IO_ERROR",
    message: `no address is known for \`${KNOWN}\``,
    suggestion: "look at how it is written, or try again in a moment",
  });
  expect(await marks()).not.toContain("untrusted");
  await serve(KNOWN, (_, response) => response.destroy());
  expect((await fetch(`http://${KNOWN}/`)).why).toContain("broke off");
  expect(await marks()).toContain("untrusted"); // whoever broke off may have said something
});

test("connections are kept for the next request, and an idle one that the server closed is no failure", async () => {
  const sockets = new Set<unknown>();
  const { fetch, internet } = await webPlace({
    [KNOWN]: (request, response) => {
      sockets.add(request.socket);
      if (request.url === "/close") setTimeout(() => request.socket.destroy(), 20);
      response.end("ok");
    },
  });
  for (const path of [..."/".repeat(8), "/close"])
    expect((await fetch(`http://${KNOWN}${path}`)).data["content"]).toBe("ok");
  // a second one where the first was not free yet
  expect(sockets.size).toBeLessThanOrEqual(2);
  expect(internet.lookedUp.length).toBe(sockets.size);
  await new Promise((resolve) => setTimeout(resolve, 60));
  expect((await fetch(`http://${KNOWN}/`)).data["content"]).toBe("ok");
});
