/**
 * Governed 4 KB reads by MCP over HTTP, of revision 2026-07-28, against the SDK's own handler and server with 20 tools
 * that governs nothing; and what the memory of both grows by over many calls.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { HttpCaller } from "../http-caller.ts";
import { interleave, microsecondsEachAwaited, type Row, rowOf } from "../measure.ts";
import type { Effort } from "../options.ts";
import { type Playground, REPEATED_FILES } from "../playground.ts";
import { ensureInstalled } from "../reference-server.ts";
import { makeSession, type ServerProcess, startServer } from "../server-process.ts";
import { HANDRAIL } from "../servers.ts";

const CONNECTIONS = 16;
const PEER_SERVER = fileURLToPath(new URL("./sdk-http-server.mjs", import.meta.url));
/** What serves the peer over HTTP. */
const PEER_HTTP = join(
  fileURLToPath(new URL("..", import.meta.url)),
  "node_modules/@modelcontextprotocol/node/dist/index.cjs",
);
const PEER = "SDK's createMcpHandler + McpServer, 20 tools, ungoverned";
/** Calls after which memory is looked at first, of all of them; the rest must not make it grow. */
const SETTLED = 0.2;
/** Calls of the memory figure, by those of others. */
const MANY = 20;

/** A server and the requests that it is sent. */
interface Side {
  readonly socket: string;
  readonly requests: readonly Uint8Array[];
  readonly process: ServerProcess;
}

/** The figures. */
export async function measureMcpHttp(playground: Playground, effort: Effort): Promise<readonly Row[]> {
  ensureInstalled(PEER_HTTP);
  const { path, files } = playground.workspace("mcp-http", REPEATED_FILES);
  const state = playground.directory("state-mcp-http");
  const token = makeSession(playground, path, state);
  const [ourSocket, theirSocket] = [
    join(state, "handrail-http.sock"),
    join(playground.directory("sdk-http"), "sdk.sock"),
  ];
  const serve = [process.execPath, ...HANDRAIL, "serve", "--state", state, "--http-socket"] as const;
  const flags = "--disable-warning=ExperimentalWarning";
  await using ours = await startServer(playground, [...serve]);
  await using theirs = await startServer(playground, [process.execPath, flags, PEER_SERVER, path, theirSocket]);
  const requests = files.map((file, index) => readRequest(token, index, file));
  const our: Side = { socket: ourSocket, requests, process: ours };
  const their: Side = { socket: theirSocket, requests, process: theirs };
  for (const side of [our, their]) await many(side, effort)();
  const what = "4 KB reads by MCP over HTTP on a Unix socket";
  return [
    await interleave(
      { id: "mcp-http-1", what: `${what}, one at a time`, peer: PEER, unit: "µs", better: "lower" },
      effort.rounds,
      one(our, effort),
      one(their, effort),
    ),
    await interleave(
      { id: "mcp-http-16", what: `${what}, ${CONNECTIONS} in flight`, peer: PEER, unit: "calls/s", better: "higher" },
      effort.rounds,
      many(our, effort),
      many(their, effort),
    ),
    rowOf(
      {
        id: "mcp-http-memory",
        what: `memory after ${(MANY * effort.calls).toLocaleString("en")} of them, by that after the first fifth`,
        peer: PEER,
        unit: "×",
        better: "lower",
      },
      [{ our: await growth(our, effort), their: await growth(their, effort) }],
    ),
  ];
}

function readRequest(token: string, index: number, path: string): Uint8Array {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "bench", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const params = { name: "read_file", arguments: { path }, _meta };
  const body = Buffer.from(JSON.stringify({ jsonrpc: "2.0", id: index, method: "tools/call", params }));
  const head = [
    "POST /mcp HTTP/1.1",
    "host: localhost",
    `authorization: Bearer ${token}`,
    "content-type: application/json",
    "accept: application/json, text/event-stream",
    "mcp-protocol-version: 2026-07-28",
    "mcp-method: tools/call",
    "mcp-name: read_file",
    `content-length: ${body.byteLength}`,
  ];
  return Buffer.concat([Buffer.from(`${head.join("\r\n")}\r\n\r\n`), body]);
}

const one =
  ({ socket, requests }: Side, { calls }: Effort) =>
  () =>
    withCallers(socket, 1, ([caller]) => microsecondsEachAwaited(calls, (index) => call(caller, requests, index)));

const many =
  ({ socket, requests }: Side, { turnMs }: Effort) =>
  () =>
    withCallers(socket, CONNECTIONS, async (callers) => {
      const started = performance.now();
      let done = 0;
      const work = async (caller: HttpCaller) => {
        while (performance.now() - started < turnMs) {
          await call(caller, requests, done);
          done += 1;
        }
      };
      await Promise.all(callers.map(work));
      return (done * 1000) / (performance.now() - started);
    });

/** The memory after all calls, by that after the first of them. */
function growth({ socket, requests, process: server }: Side, { calls }: Effort): Promise<number> {
  const all = MANY * calls;
  return withCallers(socket, CONNECTIONS, async (callers) => {
    let sent = 0;
    const until = async (count: number) => {
      const work = async (caller: HttpCaller) => {
        while (sent < count) {
          sent += 1;
          await call(caller, requests, sent);
        }
      };
      await Promise.all(callers.map(work));
      return residentKib(server.pid);
    };
    const settled = await until(all * SETTLED);
    return (await until(all)) / settled;
  });
}

function residentKib(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? Number.NaN);
}

async function call(caller: HttpCaller | undefined, requests: readonly Uint8Array[], index: number): Promise<void> {
  const request = requests[index % requests.length];
  if (caller === undefined || request === undefined) throw new Error("there is nothing to call");
  await caller.call(request);
}

async function withCallers<Result>(
  socket: string,
  count: number,
  work: (callers: readonly HttpCaller[]) => Promise<Result>,
): Promise<Result> {
  const callers = await Promise.all(Array.from({ length: count }, () => HttpCaller.connect(socket, isRead)));
  try {
    return await work(callers);
  } finally {
    for (const caller of callers) caller.close();
  }
}

/** Whether an answer, whichever way it is framed, is the result of a call that succeeded. */
function isRead(answer: Buffer): boolean {
  return answer.includes('"content":[{') && !answer.includes('"isError":true');
}
