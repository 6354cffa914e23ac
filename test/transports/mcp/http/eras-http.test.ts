// MCP over HTTP: both eras on one path, in front of a real kernel.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { initialize, legacy, META, modern } from "../../../support/mcp-connection.ts";
import { bearer, modernHeaders, post, SENT, serveMcpPlace } from "../../../support/mcp-http-place.ts";
import { memoryKernel } from "../../../support/memory-kernel.ts";

const READ = { name: "read_file", arguments: { path: "one.txt" } };

async function place() {
  const kernel = await memoryKernel();
  writeFileSync(join(kernel.root, "one.txt"), "first line\n");
  const door = await serveMcpPlace(kernel.door);
  const auth = bearer(kernel.token);
  const ask = (message: ReturnType<typeof modern>, headers: Record<string, string> = {}) =>
    post(door, message, { ...auth, ...modernHeaders(message), ...headers });
  const begin = async (revision?: string) => {
    const begun = await post(door, initialize(revision), auth);
    const session = { "mcp-session-id": begun.headers.get("mcp-session-id") ?? "" };
    const say = (message: object | string, headers: Record<string, string> = {}) =>
      post(door, message, { ...auth, ...session, ...headers });
    return { begun, session, say };
  };
  return { kernel, door, auth, ask, begin };
}

test("a modern request is answered from itself alone, as JSON", async () => {
  const { ask, door } = await place();
  const discovered = await ask(modern(1, "server/discover"));
  expect(discovered.status).toBe(200);
  expect(discovered.headers.get("content-type")).toBe("application/json");
  expect(discovered.messages).toMatchObject([{ id: 1, result: { supportedVersions: ["2026-07-28"] } }]);
  const listed = await ask(modern("list", "tools/list"));
  expect(listed.messages[0]).toMatchObject({
    id: "list",
    result: { tools: expect.arrayContaining([expect.objectContaining({ name: "read_file" })]) },
  });
  const read = await ask(modern(3, "tools/call", READ));
  expect(read.messages).toMatchObject([
    { id: 3, result: { resultType: "complete", isError: false, content: [{ text: "first line\n" }] } },
  ]);
  expect(door.errors).toEqual([]);
});

test("a legacy client begins a session, and everything else needs it", async () => {
  const { begin, door, auth } = await place();
  const { begun, session, say } = await begin();
  expect(begun.messages).toMatchObject([{ id: "init", result: { protocolVersion: "2025-11-25" } }]);
  expect(session["mcp-session-id"]).toMatch(/^[0-9a-f]{32}$/);
  const initialized = await say({ jsonrpc: "2.0", method: "notifications/initialized" });
  expect([initialized.status, initialized.text]).toEqual([202, ""]);
  expect((await say(legacy(1, "ping"))).messages).toEqual([{ jsonrpc: "2.0", id: 1, result: {} }]);
  const read = await say(legacy(2, "tools/call", READ), { "mcp-protocol-version": "2025-11-25" });
  expect(read.messages).toMatchObject([{ id: 2, result: { isError: false, content: [{ text: "first line\n" }] } }]);
  // without the session, with one that is none, and once it was ended
  expect((await post(door, legacy(3, "ping"), auth)).status).toBe(400);
  expect((await post(door, legacy(4, "ping"), { ...auth, "mcp-session-id": "0".repeat(32) })).status).toBe(404);
  const end = await fetch(door.url, { method: "DELETE", headers: { ...auth, ...session } });
  expect(end.status).toBe(204);
  expect((await say(legacy(5, "ping"))).status).toBe(404);
});

test.each(["2025-06-18", "2025-03-26", "2024-11-05"])("revision %s is agreed on and served", async (revision) => {
  const { begin } = await place();
  const { begun, say } = await begin(revision);
  expect(begun.messages).toMatchObject([{ result: { protocolVersion: revision } }]);
  expect((await say(legacy(2, "tools/call", READ))).messages).toMatchObject([{ id: 2, result: { isError: false } }]);
});

test("a batch is answered together in the one revision that has them, and refused in others", async () => {
  const { begin } = await place();
  const batch = [legacy(1, "ping"), { jsonrpc: "2.0", method: "notifications/initialized" }, legacy(2, "ping")];
  const old = await begin("2025-03-26");
  const together = await old.say(batch as unknown as object);
  expect(new Set(together.messages.map(({ id }) => id))).toEqual(new Set([1, 2]));
  const young = await begin();
  expect(await young.say(batch as unknown as object)).toMatchObject({ status: 400 });
  expect(await young.say([modern(1, "ping")] as unknown as object)).toMatchObject({ status: 400 });
  expect(await old.say([] as unknown as object)).toMatchObject({ status: 400 });
});

test("a GET opens the stream of the session, once", async () => {
  const { begin, door, auth } = await place();
  const { session } = await begin();
  const listen = { ...auth, ...session, accept: "text/event-stream" };
  const first = await fetch(door.url, { headers: listen });
  expect([first.status, first.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
  expect((await fetch(door.url, { headers: listen })).status).toBe(409);
  expect((await fetch(door.url, { headers: { ...auth, ...session, accept: "text/html" } })).status).toBe(406);
  expect((await fetch(door.url, { headers: { ...auth, accept: "text/event-stream" } })).status).toBe(405);
  await first.body?.cancel();
});

test("headers of a modern request say what its body says, or it is refused", async () => {
  const { ask, kernel } = await place();
  const call = modern(7, "tools/call", READ);
  const before = kernel.ledger.events.length;
  for (const headers of [
    { "mcp-protocol-version": "2025-11-25" },
    { "mcp-method": "tools/list" },
    { "mcp-name": "write_file" },
    { "mcp-name": "=?base64?!?=" },
  ])
    expect(await ask(call, headers)).toMatchObject({ status: 400, messages: [{ id: 7, error: { code: -32020 } }] });
  expect(kernel.ledger.events.length).toBe(before); // none of them ran
  const coded = `=?base64?${Buffer.from("read_file").toString("base64")}?=`;
  expect(await ask(call, { "mcp-name": coded })).toMatchObject({ status: 200 });
  const unheard = modern(
    8,
    "server/discover",
    {},
    { ...META, "io.modelcontextprotocol/protocolVersion": "2099-01-01" },
  );
  expect(await ask(unheard, { "mcp-protocol-version": "2099-01-01" })).toMatchObject({
    status: 400,
    messages: [{ error: { code: -32022 } }],
  });
  expect(await ask(modern(9, "no/such"))).toMatchObject({
    status: 404,
    messages: [{ id: 9, error: { code: -32601 } }],
  });
});

test("a body of another type, compressed, too large or no message is refused with what to do", async () => {
  const kernel = await memoryKernel();
  const door = await serveMcpPlace(kernel.door, { bodyBytesMax: 1000 });
  const auth = bearer(kernel.token);
  expect((await post(door, "{}", { ...auth, "content-type": "text/plain" })).status).toBe(415);
  expect((await post(door, "{}", { ...auth, "content-encoding": "gzip" })).status).toBe(415);
  expect((await post(door, "{}", { ...auth, accept: "text/html" })).status).toBe(406);
  expect((await post(door, `"${"x".repeat(2000)}"`, auth)).status).toBe(413);
  for (const body of ["", "{", "nul", '{"jsonrpc":"1.0","id":1,"method":"ping"}', '{"jsonrpc":"2.0","id":{}}', "[1]"])
    expect(await post(door, body, auth)).toMatchObject({ status: 400, messages: [{ error: {} }] });
  expect((await fetch(door.url, { method: "PUT", headers: { ...auth, ...SENT }, body: "{}" })).status).toBe(405);
});
