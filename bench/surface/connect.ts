/**
 * Governed 4 KB reads by Connect over a Unix socket, against the bare framework in a process of its own that answers a
 * constant of the same message type: what governing a call adds to what the framework costs anyway.
 */
import { spawn, spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { create, toBinary } from "@bufbuild/protobuf";
import { ToolRequestSchema } from "../../src/gen/handrail/tool/v1/tool_pb.ts";
import { interleave, microsecondsEachAwaited, type Row } from "../measure.ts";
import type { Effort } from "../options.ts";
import { FILE_BYTES, type Playground, REPEATED_FILES } from "../playground.ts";
import { HANDRAIL } from "../servers.ts";
import { HttpCaller } from "./http-caller.ts";

const CONNECTIONS = 16;
const START_MS_MAX = 30_000;
const EMPTY_SERVER = fileURLToPath(new URL("./empty-connect-server.ts", import.meta.url));
const PEER = "bare connect-node server, constant answer";

/** The figures. */
export async function measureConnect(playground: Playground, effort: Effort): Promise<readonly Row[]> {
  const { path, files } = playground.workspace("connect", REPEATED_FILES);
  const state = playground.directory("state-connect");
  const token = makeSession(playground, path, state);
  const ourSocket = join(state, "handrail-http.sock");
  const theirSocket = join(playground.directory("empty-connect"), "empty.sock");
  await using _ours = await startServer(playground, [...HANDRAIL, "serve", "--state", state, "--http-socket"]);
  await using _theirs = await startServer(playground, ["--disable-warning=ExperimentalWarning", EMPTY_SERVER, theirSocket]);
  const requests = files.map((file, index) => readRequest(token, index, file));
  const one = (socketPath: string) => () =>
    withCallers(socketPath, 1, (callers) => microsecondsEachAwaited(effort.calls, (index) => call(callers, 0, requests, index)));
  const many = (socketPath: string) => () =>
    withCallers(socketPath, CONNECTIONS, (callers) => callsPerSecond(callers, requests, effort.turnMs));
  for (const socketPath of [ourSocket, theirSocket]) await many(socketPath)();
  const what = "4 KB reads by Connect over a Unix socket";
  return [
    await interleave(
      { id: "connect-read-1", what: `${what}, one at a time`, peer: PEER, unit: "µs", better: "lower" },
      effort.rounds,
      one(ourSocket),
      one(theirSocket),
    ),
    await interleave(
      { id: "connect-read-16", what: `${what}, ${CONNECTIONS} in flight`, peer: PEER, unit: "calls/s", better: "higher" },
      effort.rounds,
      many(ourSocket),
      many(theirSocket),
    ),
  ];
}

function readRequest(sessionToken: string, index: number, path: string): Uint8Array {
  const value = { path, offset: 0n, limit: 0n };
  const message = create(ToolRequestSchema, { requestId: `bench-${index}`, sessionToken, tool: { case: "fileRead", value } });
  const body = toBinary(ToolRequestSchema, message);
  const head = `POST /handrail.tool.v1.ToolKernel/Execute HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/proto\r\ncontent-length: ${body.byteLength}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head, "latin1"), body]);
}

async function call(callers: readonly HttpCaller[], caller: number, requests: readonly Uint8Array[], index: number): Promise<void> {
  const bytes = await callers[caller]?.call(requests[index % requests.length] ?? new Uint8Array());
  if (bytes === undefined || bytes < FILE_BYTES) throw new Error(`an answer of ${bytes} bytes holds no file`);
}

async function callsPerSecond(callers: readonly HttpCaller[], requests: readonly Uint8Array[], turnMs: number): Promise<number> {
  const started = performance.now();
  let asked = 0;
  const loop = async (caller: number): Promise<void> => {
    while (performance.now() - started < turnMs) await call(callers, caller, requests, asked++);
  };
  await Promise.all(callers.map((_, caller) => loop(caller)));
  return (asked * 1000) / (performance.now() - started);
}

function makeSession(playground: Playground, workspace: string, state: string): string {
  const args = [...HANDRAIL, "sessions", "create", "--json", "--workspace", workspace, "--state", state];
  const { stdout, stderr } = spawnSync(process.execPath, args, { env: playground.environment, encoding: "utf8", timeout: START_MS_MAX });
  const token = /ses_[\w-]{22}\.[\w-]+/.exec(stdout)?.[0];
  if (token === undefined) throw new Error(`no session was made: ${stderr}`);
  return token;
}

/** Works with fresh connections: a server may close those that were idle during the other side's turn. */
async function withCallers(socketPath: string, count: number, work: (callers: readonly HttpCaller[]) => Promise<number>): Promise<number> {
  const callers = await Promise.all(Array.from({ length: count }, () => HttpCaller.connect(socketPath)));
  try {
    return await work(callers);
  } finally {
    for (const caller of callers) caller.close();
  }
}

async function startServer(playground: Playground, args: readonly string[]): Promise<AsyncDisposable> {
  const child = spawn(process.execPath, [...args], { env: playground.environment, stdio: ["ignore", "inherit", "pipe"] });
  const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  let said = "";
  await new Promise<void>((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`the server did not listen: ${said}`)), START_MS_MAX);
    child.stderr.on("data", (chunk: Buffer) => {
      said = (said + chunk.toString()).slice(-4000);
      if (!said.includes("listening")) return;
      clearTimeout(late);
      resolve();
    });
    child.once("exit", () => reject(new Error(`the server ended: ${said}`)));
  });
  return {
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGTERM");
      const late = setTimeout(() => child.kill("SIGKILL"), START_MS_MAX);
      await gone;
      clearTimeout(late);
    },
  };
}
