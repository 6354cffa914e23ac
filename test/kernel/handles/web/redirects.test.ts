// Redirects of a fetch: each hop is judged by its own host, before anything is asked of it.
import { expect, test } from "vitest";
import { KNOWN, OTHER, webPlace } from "../../../support/web-place.ts";

test("redirects to known hosts are followed, recorded, and what was given for one host stays there", async () => {
  const seen: Record<string, unknown>[] = [];
  const { fetch, kernel } = await webPlace({
    [KNOWN]: (request, response) => {
      seen.push({ host: KNOWN, url: request.url, authorization: request.headers.authorization });
      if (request.url === "/a") response.writeHead(302, { location: "/b" }).end("gone on");
      else response.writeHead(301, { location: `http://${OTHER}/c#part` }).end();
    },
    [OTHER]: (request, response) => {
      seen.push({ host: OTHER, url: request.url, authorization: request.headers.authorization });
      response.writeHead(200, { "content-type": "text/plain", "set-cookie": "a=1" }).end("here");
    },
  });
  const { data } = await fetch(`http://${KNOWN}/a`, { headers: { Authorization: "Bearer of-this-host-alone" } });
  expect(data).toMatchObject({
    content: "here",
    url: `http://${OTHER}/c`,
    redirects: [`http://${KNOWN}/a`, `http://${KNOWN}/b`],
  });
  const authorization = "Bearer of-this-host-alone";
  expect(seen).toEqual([
    { host: KNOWN, url: "/a", authorization },
    { host: KNOWN, url: "/b", authorization },
    { host: OTHER, url: "/c", authorization: undefined },
  ]);
  expect(
    kernel.ledger.of("network_reached").map(({ payload }) => [payload["host"], payload["port"], payload["outcome"]]),
  ).toEqual([
    [KNOWN, 80, "allowed"],
    [KNOWN, 80, "allowed"],
    [OTHER, 80, "allowed"],
  ]);
});

test.each([
  ["http://127.0.0.1/", /NETWORK:web_fetch:private/],
  ["http://169.254.169.254/latest/", /NETWORK:web_fetch:metadata/],
  ["http://0x7f.1/", /IO_ERROR.*two ways/],
  ["http://elsewhere.example/", /CAPABILITY:web_fetch:host/],
  [`http://${OTHER}:25/`, /NETWORK:web_fetch:port/],
  ["file:///etc/passwd", /IO_ERROR.*only `https`/],
  ["http://user:pw@registry.npmjs.org/", /IO_ERROR.*user or password/],
])("an answer that leads to %s is not followed", async (location, why) => {
  const { fetch, internet } = await webPlace({
    [KNOWN]: (_, response) => void response.writeHead(302, { location }).end(),
  });
  expect((await fetch(`http://${KNOWN}/`)).why).toMatch(why);
  expect(internet.lookedUp).toEqual([KNOWN]);
});

test("a circle of redirects ends", async () => {
  let asked = 0;
  const { fetch } = await webPlace({
    [KNOWN]: (_, response) => {
      asked += 1;
      response.writeHead(302, { location: "/" }).end();
    },
  });
  expect((await fetch(`http://${KNOWN}/`)).why).toMatch(/IO_ERROR.*more than 5 times/);
  expect(asked).toBe(6);
});
