/** Upstream servers that are reached by their address: added, called, recorded, and what is refused at adding. */
import { expect, test } from "vitest";
import { readEvidence } from "../../../support/evidence.ts";
import { doubleServer, httpPlace, libraryServer, SERVER, TOKEN, urlWish } from "../../../support/upstream-http.ts";

/** In the form of a key of a cloud. */
const DEFINITE = `AKIA${"Q3ZXW7LMNB4KTR2V"}`;
const TIMEOUT = { timeout: 120_000 };

test("a server of the library is added by its address, called, and what it reached is recorded", TIMEOUT, async () => {
  const { listener, heard } = libraryServer();
  const place = await httpPlace({ [SERVER]: listener });
  await place.bring("docs", urlWish());
  expect(await place.call("mcp.docs.say", { text: "a" })).toMatchObject({
    kind: "success",
    data: { text: "said: a" },
    label: { trustLevel: "untrusted" },
  });
  expect(await place.call("mcp.docs.say", { text: "b" })).toMatchObject({ data: { text: "said: b" } });
  expect(new Set(place.internet.connected)).toEqual(new Set(["93.184.217.1:443"]));
  expect((await place.kernel.upstream()).list()).toMatchObject([{ name: "docs", url: `https://${SERVER}/mcp` }]);
  await place.kernel.close();
  expect(heard.filter(({ headers }) => headers.authorization !== undefined)).toEqual([]);
  expect(heard.filter(({ method }) => method === "DELETE").length).toBeGreaterThan(0); // sessions are given back
  const reached = (await readEvidence(place.state)).filter(({ entry }) => entry.eventType === "network_reached");
  expect(reached[0]?.payload).toMatchObject({ tool: "mcp.docs", host: SERVER, port: 443, outcome: "allowed" });
});

test("a token goes to the server by the secret's name, and its value stands nowhere else", TIMEOUT, async () => {
  const { listener, heard } = doubleServer(({ message, headers }, response) => {
    if (message["method"] !== "tools/call") return false;
    const text = `you are ${headers.authorization}, ${Buffer.from(TOKEN).toString("base64")}`;
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ jsonrpc: "2.0", id: message["id"], result: { content: [{ type: "text", text }] } }));
    return true;
  });
  const place = await httpPlace({ [SERVER]: listener });
  await place.bring("docs", urlWish({ bearer: "TOKEN" }));
  const outcome = await place.call("mcp.docs.say", { text: "a" });
  expect(outcome).toMatchObject({ kind: "success" });
  expect(new Set(heard.map(({ headers }) => headers.authorization))).toEqual(new Set([`Bearer ${TOKEN}`]));
  await place.kernel.close();
  const { filesWith, isToldIn } = await import("../../../support/canary.ts");
  expect([filesWith(place.base, [TOKEN]), isToldIn([outcome], [TOKEN])]).toEqual([[], false]);
});

test("what cannot be meant is refused when a server is added", TIMEOUT, async () => {
  const place = await httpPlace({});
  const desk = await place.kernel.upstream();
  const refusals: readonly (readonly [Partial<Parameters<typeof urlWish>[0]>, string])[] = [
    [{ url: "https://10.0.0.7/mcp" }, "--private-host 10.0.0.7:443"],
    [{ url: "https://169.254.169.254/mcp" }, "metadata"],
    [{ url: "https://127.0.0.1:8443/mcp" }, "--private-host 127.0.0.1:8443"],
    [{ url: "https://localhost/mcp" }, "--private-host localhost:443"],
    [{ url: `http://${SERVER}/mcp` }, "use `https`"],
    [{ url: `https://user:pass@${SERVER}/mcp` }, "carries a user"],
    [{ url: "https://127.0.0.1:8443/mcp", private_host: "127.0.0.1:8444" }, "must name the server of the address"],
    [{ bearer: "NOBODY" }, "there is no secret `NOBODY`"],
    [{ bearer: "TOKEN", url: "https://elsewhere.example.com/mcp" }, "is not for that server"],
    [{ command: ["node", "x.js"] }, "either a command"],
    [{ hosts: ["example.com"] }, "goes with a command alone"],
    [{ url: `https://${SERVER}/mcp?key=${DEFINITE}` }, "--bearer SECRET"],
  ];
  for (const [more, why] of refusals) await expect(desk.add("docs", urlWish(more))).rejects.toThrow(why);
  expect(desk.list()).toEqual([]);
  expect(place.internet.lookedUp).toEqual([]);
});

test("a server on this machine is reached where the operator names it, over http as well", TIMEOUT, async () => {
  const { listener } = doubleServer(() => false);
  const place = await httpPlace({});
  await place.internet.http("unused.example", 8080, listener);
  const port = place.internet.servers.get("93.184.216.34:8080") ?? 0;
  place.internet.servers.set(`127.0.0.1:${port}`, port);
  const url = `http://127.0.0.1:${port}/mcp`;
  await place.bring("near", urlWish({ url, private_host: `127.0.0.1:${port}` }));
  expect(await place.call("mcp.near.say", { text: "a" })).toMatchObject({ kind: "success", data: { text: "plain" } });
});
