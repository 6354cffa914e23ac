// Who reaches MCP over HTTP: nobody without a session's token, no page of a browser, nobody with another's session.
import { request } from "node:http";
import { expect, test } from "vitest";
import type { Tool } from "../../../../../src/model/tool/tool.ts";
import { answering } from "../../../../support/answering-tool.ts";
import { initialize, legacy, modern } from "../../../../support/mcp-connection.ts";
import { bearer, modernHeaders, post, SENT, serveMcpPlace } from "../../../../support/mcp-http-place.ts";
import { memoryKernel } from "../../../../support/memory-kernel.ts";

const DISCOVER = modern(1, "server/discover");
const LIST = modern(2, "tools/list");

/** Posts with a host of the test's own, which `fetch` does not let one choose. */
function postAs(port: number, headers: Readonly<Record<string, string>>, body: object): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const asked = request({ port, path: "/mcp", method: "POST", headers: { ...SENT, ...headers } }, (response) => {
      response.resume().on("end", () => resolve(response.statusCode));
    });
    asked.on("error", reject).end(JSON.stringify(body));
  });
}

test("a stranger is told where tokens are explained, and nothing else; the refusal is in evidence", async () => {
  const kernel = await memoryKernel();
  const door = await serveMcpPlace(kernel.door);
  const headers = modernHeaders(DISCOVER);
  const at = `http://127.0.0.1:${door.port}/.well-known/oauth-protected-resource/mcp`;
  const nobody = await post(door, DISCOVER, headers);
  expect([nobody.status, nobody.headers.get("www-authenticate")]).toEqual([401, `Bearer resource_metadata="${at}"`]);
  const guessed = await post(door, DISCOVER, { ...headers, ...bearer("hs_guessed") });
  expect([guessed.status, guessed.headers.get("www-authenticate")]).toEqual([
    401,
    `Bearer error="invalid_token", resource_metadata="${at}"`,
  ]);
  for (const { text } of [nobody, guessed]) expect(text).not.toContain("supportedVersions");
  expect(kernel.ledger.of("tool_execution_denied").length).toBe(2);
  const metadata: unknown = await (await fetch(at)).json();
  expect(metadata).toMatchObject({ resource: door.url, bearer_methods_supported: ["header"] });
  // the control: with the token the same request is answered
  expect((await post(door, DISCOVER, { ...headers, ...bearer(kernel.token) })).status).toBe(200);
});

test("a body is not read of a caller without a token", async () => {
  const kernel = await memoryKernel();
  const door = await serveMcpPlace(kernel.door, { bodyBytesMax: 100 });
  const large = { ...LIST, padding: "x".repeat(1000) };
  expect((await post(door, large, modernHeaders(LIST))).status).toBe(401);
  expect((await post(door, large, { ...modernHeaders(LIST), ...bearer(kernel.token) })).status).toBe(413);
});

test("a page that was rebound to this machine, or comes from elsewhere, is refused", async () => {
  const kernel = await memoryKernel();
  const door = await serveMcpPlace(kernel.door);
  const headers = { ...modernHeaders(DISCOVER), ...bearer(kernel.token) };
  const here = `localhost:${door.port}`;
  for (const page of [
    { host: "evil.example", origin: "http://evil.example" },
    { host: `evil.example:${door.port}`, origin: `http://evil.example:${door.port}` },
    { host: "evil.example" },
    { host: here, origin: "http://evil.example" },
    { host: here, origin: "null" },
    { host: here, origin: "http://localhost:1" },
    { host: here, origin: `https://${here}` },
  ])
    expect(await postAs(door.port, { ...headers, ...page }, DISCOVER)).toBeOneOf([403, 421]);
  // the controls: a client that sends no origin, and one whose origin is this very address, of which there are no pages
  expect(await postAs(door.port, { ...headers, host: here }, DISCOVER)).toBe(200);
  expect(await postAs(door.port, { ...headers, host: here, origin: `http://${here}` }, DISCOVER)).toBe(200);
});

test("another's session is none, whatever its id; a token that was revoked ends its sessions", async () => {
  const [kernel, other] = [await memoryKernel(), await memoryKernel()];
  let isRevoked = false;
  const door = await serveMcpPlace({
    ...kernel.door,
    admit: (asker) => (asker.sessionToken === other.token ? other.door.admit(asker) : kernel.door.admit(asker)),
    execute: (...call) => {
      if (isRevoked) throw new Error("a call was made");
      return kernel.door.execute(...call);
    },
  });
  const begun = await post(door, initialize(), bearer(kernel.token));
  const session = { "mcp-session-id": begun.headers.get("mcp-session-id") ?? "" };
  expect((await post(door, legacy(1, "ping"), { ...bearer(other.token), ...session })).status).toBe(404);
  expect((await post(door, legacy(2, "ping"), { ...bearer(kernel.token), ...session })).status).toBe(200);
  const headers = { ...bearer(kernel.token), ...session, accept: "text/event-stream" };
  const listening = await fetch(door.url, { headers });
  await kernel.sessions.updateSession(kernel.session.id, { revokedAtMs: kernel.time.nowMs });
  isRevoked = true;
  const call = legacy(3, "tools/call", { name: "list_files", arguments: {} });
  expect((await post(door, call, { ...bearer(kernel.token), ...session })).status).toBe(401);
  expect(await listening.text()).toBe(""); // its stream ends as well
});

test("what is open of a session that is revoked ends by itself: calls, and sessions of clients", async () => {
  const ended = Promise.withResolvers<string>();
  const begun = Promise.withResolvers<void>();
  const waiting: Tool = {
    ...answering(() => ({})),
    execute: async (_args, { signal }) => {
      signal.addEventListener("abort", () => ended.resolve("ended"), { once: true });
      begun.resolve();
      await ended.promise;
      return { kind: "data", data: {} };
    },
  };
  const kernel = await memoryKernel({ tools: [waiting] });
  const door = await serveMcpPlace(kernel.door);
  const call = modern(1, "tools/call", { name: "answering", arguments: {} });
  const called = post(door, call, { ...modernHeaders(call), ...bearer(kernel.token) });
  await begun.promise;
  const legacySession = await post(door, initialize(), bearer(kernel.token));
  const id = { "mcp-session-id": legacySession.headers.get("mcp-session-id") ?? "" };
  const listening = await fetch(door.url, {
    headers: { ...bearer(kernel.token), ...id, accept: "text/event-stream" },
  });
  await kernel.sessions.updateSession(kernel.session.id, { revokedAtMs: kernel.time.nowMs });
  // nothing is asked with the token from now on
  expect(await listening.text()).toBe("");
  expect(await ended.promise).toBe("ended");
  expect((await called).status).toBe(401);
});
