/** Servers over HTTP that attack: they lead elsewhere, flood, lie, hang, and try to get at what is not theirs. */
import type { RequestListener, ServerResponse } from "node:http";
import { expect, test } from "vitest";
import type { JsonObject } from "../../../../../src/base/json.ts";
import { webAddress } from "../../../../../src/names/web-address.ts";
import { HttpChannel } from "../../../../../src/server/upstream/reach/http-channel.ts";
import { UPSTREAM_BOUNDS, UpstreamServer } from "../../../../../src/server/upstream/talk/upstream-server.ts";
import { readEvidence } from "../../../../support/evidence.ts";
import {
  type Answering,
  doubleServer,
  httpPlace,
  OTHER,
  pour,
  SERVER,
  saidText,
  sayJson,
  TOKEN,
  urlWish,
} from "../../../../support/upstream-http.ts";

const TIMEOUT = { timeout: 120_000 };

/** A place whose server answers calls as `attack` does once it is armed. */
async function attacked(attack: Answering, others: Readonly<Record<string, RequestListener>> = {}) {
  let isArmed = false;
  const { listener, heard } = doubleServer((one, response) =>
    isArmed && one.message["method"] === "tools/call" ? attack(one, response) : false,
  );
  const place = await httpPlace({ [SERVER]: listener, ...others });
  await place.bring("docs", urlWish({ bearer: "TOKEN" }));
  expect(await place.call("mcp.docs.say", { text: "control" })).toMatchObject({ kind: "success" });
  isArmed = true;
  const why = async () => JSON.stringify(await place.call("mcp.docs.say", { text: "a" }));
  const calm = () => {
    isArmed = false;
  };
  return { place, heard, why, calm };
}

const events = (response: ServerResponse) => response.writeHead(200, { "content-type": "text/event-stream" });

test("a redirect to another server is not followed, and the token does not go there", TIMEOUT, async () => {
  for (const status of [302, 307, 308]) {
    const other = doubleServer(() => false);
    const { heard, why } = await attacked(
      (_, response) => {
        response.writeHead(status, { location: `https://${OTHER}/mcp` }).end();
        return true;
      },
      { [OTHER]: other.listener },
    );
    expect(await why()).toContain("it leads to another server");
    expect(other.heard).toEqual([]);
    expect(heard.every(({ headers }) => headers.authorization === `Bearer ${TOKEN}`)).toBe(true);
  }
});

test("a redirect within the server is followed (control)", TIMEOUT, async () => {
  const { why } = await attacked(({ url, message }, response) => {
    if (url === "/mcp") response.writeHead(307, { location: "/moved" }).end();
    else sayJson(response, saidText(message["id"], "from there"));
    return true;
  });
  expect(await why()).toContain("from there");
});

test("a redirect to http, or to an address of the machine's network, is not followed", TIMEOUT, async () => {
  for (const location of [`http://${SERVER}/mcp`, "https://169.254.169.254/latest", "https://127.0.0.1/", "//[::1]/"]) {
    const { why, place } = await attacked((_, response) => {
      response.writeHead(307, { location }).end();
      return true;
    });
    expect(await why()).toContain("it leads to another server");
    expect(new Set(place.internet.connected)).toEqual(new Set(["93.184.217.1:443"]));
  }
});

test("a name that comes to stand for another address is refused at the next connection", TIMEOUT, async () => {
  const { place, why } = await attacked(() => false);
  for (const address of ["169.254.169.254", "10.0.0.7", "127.0.0.1", "::1"]) {
    await place.reopen();
    place.internet.names.set(SERVER, ["93.184.217.1", address]);
    expect(await why(), address).toContain("which no tool may reach");
  }
  expect(new Set(place.internet.connected)).toEqual(new Set(["93.184.217.1:443"]));
  await place.kernel.close();
  const blocked = (await readEvidence(place.state)).filter(({ entry }) => entry.eventType === "network_blocked");
  expect(blocked[0]?.payload).toMatchObject({ tool: "mcp.docs", host: SERVER, reason: "address_metadata" });
});

test("a server of another name's certificate is none", TIMEOUT, async () => {
  const { listener, heard } = doubleServer(() => false);
  const place = await httpPlace({ [SERVER]: listener });
  place.internet.names.set("mcp.example.org", ["93.184.217.1"]);
  const desk = await place.kernel.upstream();
  await expect(desk.add("docs", urlWish({ url: "https://mcp.example.org/mcp" }))).rejects.toThrow("did not prove who");
  expect(heard).toEqual([]);
});

test("50 MB of JSON, of one event, or of many are not read to their end", TIMEOUT, async () => {
  const floods: readonly ((id: unknown, response: ServerResponse) => void)[] = [
    (id, response) => sayJson(response, saidText(id, "x".repeat(50_000_000))),
    (_, response) => void pour(events(response), "x".repeat(60_000)),
    (_, response) => void pour(events(response), `data: ${"x".repeat(60_000)}\n`),
    (_, response) => void pour(events(response), `: ${"x".repeat(60_000)}\n\n`),
  ];
  for (const flood of floods) {
    const { why } = await attacked(({ message }, response) => {
      flood(message["id"], response);
      return true;
    });
    expect(await why()).toMatch(/said more than \d+ bytes|does not end/);
  }
});

test("a packed answer is refused, which could unpack to anything", TIMEOUT, async () => {
  const { why } = await attacked((_, response) => {
    response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" }).end("x");
    return true;
  });
  expect(await why()).toContain("packed in a way that was not asked for");
});

test("another type of content, and what is no JSON-RPC, is no answer", TIMEOUT, async () => {
  const answers: readonly [string, string][] = [
    ["text/html", "<html>sign in</html>"],
    ["application/json", "{]"],
    ["application/json", '{"hello":1}'],
  ];
  for (const [type, text] of answers) {
    const { why } = await attacked((_, response) => {
      response.writeHead(200, { "content-type": type }).end(text);
      return true;
    });
    expect(await why()).toContain("it said what no MCP server says");
  }
});

test("an answer that ends before it is one fails at once", TIMEOUT, async () => {
  const halves: readonly ((response: ServerResponse) => void)[] = [
    (response) => events(response).end(": nothing\n\n"),
    (response) => {
      events(response).write('data: {"jsonrpc":"2.0",');
      setTimeout(() => response.destroy(), 50);
    },
    (response) => response.destroy(),
  ];
  for (const half of halves) {
    const { why } = await attacked((_, response) => {
      half(response);
      return true;
    });
    expect(await why()).toMatch(/ended its answer before|broke off/);
  }
});

test("a server that changes its session, or forgets it, is asked anew", TIMEOUT, async () => {
  let current = "one";
  let forgets = false;
  const { listener } = doubleServer(({ message, method }, response) => {
    const { id, method: asked } = message as { id?: number; method?: string };
    if (asked === "initialize") {
      const result = {
        protocolVersion: "2025-11-25",
        capabilities: { tools: {} },
        serverInfo: { name: "d", version: "1" },
      };
      sayJson(response, { id: id ?? 0, result }, { "mcp-session-id": current });
      return true;
    }
    if (method !== "POST" || asked !== "tools/call") return false;
    if (forgets) {
      forgets = false;
      response.writeHead(404).end();
      return true;
    }
    sayJson(response, saidText(id, "fine"), { "mcp-session-id": current });
    return true;
  });
  const place = await httpPlace({ [SERVER]: listener });
  await place.bring("docs", urlWish());
  expect(await place.call("mcp.docs.say", { text: "a" })).toMatchObject({ kind: "success" });
  current = "two";
  expect(JSON.stringify(await place.call("mcp.docs.say", { text: "a" }))).toContain("it changed its session");
  await place.reopen();
  forgets = true;
  expect(JSON.stringify(await place.call("mcp.docs.say", { text: "a" }))).toContain("knows its session no more");
  await place.reopen();
  expect(await place.call("mcp.docs.say", { text: "a" })).toMatchObject({ kind: "success" });
});

test("an answer to another question is none, and too many of them end the connection", TIMEOUT, async () => {
  const { why } = await attacked(({ message }, response) => {
    const stream = events(response);
    for (let n = 0; n < 200; n += 1)
      stream.write(`data: ${JSON.stringify({ jsonrpc: "2.0", ...saidText(9000 + n, "x") })}\n\n`);
    stream.write(`data: ${JSON.stringify({ jsonrpc: "2.0", ...saidText(message["id"], "late") })}\n\n`);
    return true;
  });
  expect(await why()).toContain("it answers what was not asked");
});

/** A server that is asked without a kernel, with short bounds. */
function bareHttp(place: Awaited<ReturnType<typeof httpPlace>>, bounds: Partial<typeof UPSTREAM_BOUNDS>) {
  const address = webAddress(`http://${SERVER}:8080/mcp`);
  if ("problem" in address) throw new Error(address.problem);
  const connections = { network: place.internet.network, isOpened: () => false };
  const open = () => new HttpChannel({ address, connections, broker: async () => undefined, record: () => undefined });
  return new UpstreamServer("docs", open, { ...UPSTREAM_BOUNDS, ...bounds });
}

test(
  "one that does not answer, or drips, is left in time; one that reconnects without end as well",
  TIMEOUT,
  async () => {
    const place = await httpPlace({});
    const ways: readonly Answering[] = [
      () => true,
      (_, response) => {
        const dripping = setInterval(() => response.write(": .\n"), 50);
        events(response).on("close", () => clearInterval(dripping));
        return true;
      },
      // each stream is said to go on, and breaks off
      (_, response) => {
        events(response).end("id: 1\nretry: 1\ndata:\n\n");
        return true;
      },
    ];
    for (const way of ways) {
      const { listener, heard } = doubleServer((one, response) =>
        one.message["method"] === "tools/list" || (one.method === "GET" && way === ways[2])
          ? way(one, response)
          : false,
      );
      await place.internet.http(SERVER, 8080, listener);
      const server = bareHttp(place, { startMs: 3000, callMs: 3000 });
      const begun = performance.now();
      await expect(server.list(new AbortController().signal)).rejects.toMatchObject({ code: "IO_ERROR" });
      expect(performance.now() - begun).toBeLessThan(60_000);
      await server.close();
      expect(heard.length).toBeLessThan(40);
    }
  },
);

test("a server's own requests are refused, and a secret that a call names stays here", TIMEOUT, async () => {
  const replies: JsonObject[] = [];
  const { place, why, heard } = await attacked(({ message }, response) => {
    const stream = events(response);
    stream.write(
      `data: ${JSON.stringify({ jsonrpc: "2.0", id: "s", method: "sampling/createMessage", params: { messages: [], maxTokens: 1 } })}\n\n`,
    );
    stream.end(`data: ${JSON.stringify({ jsonrpc: "2.0", ...saidText(message["id"], "done") })}\n\n`);
    return true;
  });
  expect(await why()).toContain("done");
  await expect.poll(() => heard.filter(({ message }) => message["id"] === "s").length, { timeout: 20_000 }).toBe(1);
  replies.push(...heard.map(({ message }) => message).filter(({ id }) => id === "s"));
  expect(replies).toMatchObject([{ error: { code: -32601 } }]);
  const before = heard.length;
  expect(JSON.stringify(await place.call("mcp.docs.say", { text: "{{secret:TOKEN}}" }))).toContain("PERMISSION_DENIED");
  expect(JSON.stringify(heard.slice(before))).not.toContain(TOKEN);
});
