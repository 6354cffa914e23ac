/** Servers that answer before they have loaded the project: no answer of theirs is taken for the whole. */
import { Writable } from "node:stream";
import { expect, test } from "vitest";
import { LanguageServers, type ServerBounds } from "../../../src/sandbox/language/language-servers.ts";
import { ServerMessageReader } from "../../../src/sandbox/language/message-reader.ts";
import { type ServerKind, serverKindOf } from "../../../src/sandbox/language/server-kinds.ts";

interface Asked {
  readonly id?: number;
  readonly method: string;
}

/** A server that answers each request by what `answer` makes of it. */
function serverOf(kind: ServerKind, answer: (asked: Asked, say: (message: object) => void) => unknown) {
  const servers = new LanguageServers({ pauseMs: 10, requestMs: 5000 } satisfies ServerBounds);
  const { signal } = new AbortController();
  const ask = async (method: string) =>
    await servers.ask(
      {
        kind,
        root: "/nowhere",
        mounts: [],
        memoryMb: 64,
        signal,
        start: async ({ input, output, signal: ending }, onMounts) => {
          onMounts([]);
          const reader = new ServerMessageReader();
          const say = (message: object) => {
            const text = JSON.stringify({ jsonrpc: "2.0", ...message });
            output.stdout(Buffer.from(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`));
          };
          reader.listen((message) => {
            const asked = message as unknown as Asked;
            const result = answer(asked, say);
            if (asked.id === undefined) return;
            say({ id: asked.id, result: asked.method === "initialize" ? { capabilities: {} } : (result ?? null) });
          });
          input(
            new Writable({
              write: (piece: Buffer, _encoding, done) => {
                reader.take(piece);
                done();
              },
            }),
          );
          await new Promise((resolve) => ending.addEventListener("abort", resolve, { once: true }));
          return { exitCode: 0, endedBy: undefined };
        },
      },
      async (server) => await server.request(method, {}),
    );
  return { servers, ask };
}

const plain: ServerKind = { name: "own", languages: { ".x": "x" }, command: ["false"], advice: "none" };
const kindOf = (path: string) => {
  const kind = serverKindOf(path, []);
  if (kind === undefined) throw new Error(`no server for ${path}`);
  return kind;
};

test("one that does not say when it is ready is asked until it answers twice the same, and once from then on", async () => {
  let count = 0;
  const { servers, ask } = serverOf(plain, ({ method }) => {
    if (method === "m") count += 1;
    return Math.min(count, 3);
  });
  expect(await ask("m")).toBe(3);
  expect(count).toBe(4);
  expect(await ask("m")).toBe(3);
  expect(count).toBe(5);
  await servers.close();
});

test("one that answers each time otherwise gives no answer", async () => {
  let count = 0;
  const { servers, ask } = serverOf(plain, () => {
    count += 1;
    return count;
  });
  await expect(ask("m")).rejects.toMatchObject({ trouble: "timed_out" });
  await servers.close();
}, 60_000);

test.each([
  ["a.py", { method: "window/logMessage", params: { type: 3, message: "Found 3 source files" } }],
  ["a.py", { method: "window/logMessage", params: { type: 3, message: "No source files found." } }],
  ["a.rs", { method: "experimental/serverStatus", params: { health: "ok", quiescent: true } }],
])("that of %s is asked once it has loaded the project", async (path, ready) => {
  const early = [
    { method: "window/logMessage", params: { type: 3, message: "Searching for source files" } },
    { method: "experimental/serverStatus", params: { health: "ok", quiescent: false } },
    { method: "window/logMessage", params: null },
  ];
  let isReady = false;
  const { servers, ask } = serverOf(kindOf(path), ({ method }, say) => {
    if (method === "m") return isReady ? "whole" : "a part";
    if (method !== "initialized") return undefined;
    for (const message of early) say(message);
    setTimeout(() => {
      isReady = true;
      say(ready);
    }, 500);
    return undefined;
  });
  expect(await ask("m")).toBe("whole");
  await servers.close();
});

test("one that never loads it gives no answer, and lives on", async () => {
  let asked = 0;
  const { servers, ask } = serverOf(kindOf("a.py"), ({ method }) => {
    if (method === "m") asked += 1;
    return "a part";
  });
  await expect(ask("m")).rejects.toMatchObject({ trouble: "timed_out", message: expect.stringContaining("loads") });
  expect(asked).toBe(0);
  expect(servers.count).toBe(1);
  await servers.close();
}, 60_000);
