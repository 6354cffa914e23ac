/**
 * Governed calls by Connect over a Unix socket, of a tool that touches nothing and of 4 KB reads, against the bare
 * framework in a process of its own that answers a constant of the same message type: what governing a call adds to
 * what the framework costs anyway.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { ToolRequestSchema } from "../../src/gen/handrail/tool/v1/tool_pb.ts";
import { HttpCaller } from "../http-caller.ts";
import { interleave, microsecondsEachAwaited, type Row } from "../measure.ts";
import type { Effort } from "../options.ts";
import { FILE_BYTES, type Playground, REPEATED_FILES } from "../playground.ts";
import { makeSession, startServer } from "../server-process.ts";
import { HANDRAIL } from "../servers.ts";

const CONNECTIONS = 16;
const EMPTY_SERVER = fileURLToPath(new URL("./empty-connect-server.ts", import.meta.url));
const FRONT_SERVER = fileURLToPath(new URL("./front-connect-server.ts", import.meta.url));
const IDLE_SERVER = fileURLToPath(new URL("./idle-connect-server.ts", import.meta.url));
const IDLE = { name: "idle", argumentsJson: Buffer.from("{}") };
const PEER = "bare connect-node server, constant answer";

/** The figures. */
export async function measureConnect(playground: Playground, effort: Effort): Promise<readonly Row[]> {
  const { path, files } = playground.workspace("connect", REPEATED_FILES);
  const state = playground.directory("state-connect");
  const token = makeSession(playground, path, state);
  const ourSocket = join(state, "handrail-http.sock");
  const theirSocket = join(playground.directory("empty-connect"), "empty.sock");
  await using _ours = await startServer(playground, [
    process.execPath,
    ...HANDRAIL,
    "serve",
    "--state",
    state,
    "--http-socket",
  ]);
  await using _theirs = await startServer(playground, [
    process.execPath,
    "--disable-warning=ExperimentalWarning",
    EMPTY_SERVER,
    theirSocket,
  ]);
  const idle = await startIdle(playground, path);
  await using _idle = idle;
  const reads = files.map((file, index) => readRequest(token, index, file));
  const idles = [encoded({ requestId: "bench", sessionToken: idle.token, tool: { case: "call", value: IDLE } })];
  const frontSocket = join(playground.directory("front-connect"), "front.sock");
  await using _front = await startServer(playground, [
    process.execPath,
    "--disable-warning=ExperimentalWarning",
    FRONT_SERVER,
    frontSocket,
  ]);
  const one = (socketPath: string, requests: readonly Uint8Array[]) => () =>
    withCallers(socketPath, 1, (callers) =>
      microsecondsEachAwaited(effort.calls, (index) => call(callers, 0, requests, index)),
    );
  const many = (socketPath: string, requests: readonly Uint8Array[]) => () =>
    withCallers(socketPath, CONNECTIONS, (callers) => callsPerSecond(callers, requests, effort.turnMs));
  for (const warmUp of [
    many(ourSocket, reads),
    many(idle.socket, idles),
    many(frontSocket, idles),
    many(theirSocket, reads),
  ])
    await warmUp();
  const nothing = "a tool that does nothing, by Connect over a Unix socket";
  const what = "4 KB reads by Connect over a Unix socket";
  const front = "the front door with nothing behind it, by Connect over a Unix socket";
  return [
    await interleave(
      { id: "connect-front-1", what: `${front}, one at a time`, peer: PEER, unit: "µs", better: "lower" },
      effort.rounds,
      one(frontSocket, idles),
      one(theirSocket, idles),
    ),
    await interleave(
      { id: "connect-idle-1", what: `${nothing}, one at a time`, peer: PEER, unit: "µs", better: "lower" },
      effort.rounds,
      one(idle.socket, idles),
      one(theirSocket, idles),
    ),
    await interleave(
      {
        id: "connect-idle-16",
        what: `${nothing}, ${CONNECTIONS} in flight`,
        peer: PEER,
        unit: "calls/s",
        better: "higher",
      },
      effort.rounds,
      many(idle.socket, idles),
      many(theirSocket, idles),
    ),
    await interleave(
      { id: "connect-read-1", what: `${what}, one at a time`, peer: PEER, unit: "µs", better: "lower" },
      effort.rounds,
      one(ourSocket, reads),
      one(theirSocket, reads),
    ),
    await interleave(
      {
        id: "connect-read-16",
        what: `${what}, ${CONNECTIONS} in flight`,
        peer: PEER,
        unit: "calls/s",
        better: "higher",
      },
      effort.rounds,
      many(ourSocket, reads),
      many(theirSocket, reads),
    ),
  ];
}

function readRequest(sessionToken: string, index: number, path: string): Uint8Array {
  const value = { path, offset: 0n, limit: 0n };
  return encoded({ requestId: `bench-${index}`, sessionToken, tool: { case: "fileRead", value } });
}

function encoded(request: MessageInitShape<typeof ToolRequestSchema>): Uint8Array {
  const body = toBinary(ToolRequestSchema, create(ToolRequestSchema, request));
  const head = `POST /handrail.tool.v1.ToolKernel/Execute HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/proto\r\ncontent-length: ${body.byteLength}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head, "latin1"), body]);
}

async function call(
  callers: readonly HttpCaller[],
  caller: number,
  requests: readonly Uint8Array[],
  index: number,
): Promise<void> {
  const bytes = await callers[caller]?.call(requests[index % requests.length] ?? new Uint8Array());
  if (bytes === undefined || (requests.length > 1 && bytes < FILE_BYTES))
    throw new Error(`an answer of ${bytes} bytes holds no file`);
}

async function callsPerSecond(
  callers: readonly HttpCaller[],
  requests: readonly Uint8Array[],
  turnMs: number,
): Promise<number> {
  const started = performance.now();
  let asked = 0;
  const loop = async (caller: number): Promise<void> => {
    while (performance.now() - started < turnMs) await call(callers, caller, requests, asked++);
  };
  await Promise.all(callers.map((_, caller) => loop(caller)));
  return (asked * 1000) / (performance.now() - started);
}

/** A kernel with a tool that touches nothing, which the operator permits. */
async function startIdle(
  playground: Playground,
  workspace: string,
): Promise<AsyncDisposable & { readonly socket: string; readonly token: string }> {
  const [state, config] = [playground.directory("state-idle"), playground.directory("config-idle")];
  const permit =
    '@id("bench.idle")\n@message("m")\n@waives("dev.foreign-tools")\npermit (principal, action == Handrail::Action::"idle", resource);\n';
  writeFileSync(join(playground.directory("config-idle/policy"), "bench.cedar"), permit, { mode: 0o600 });
  const socket = join(state, "http.sock");
  const args = ["--disable-warning=ExperimentalWarning", IDLE_SERVER, state, config, workspace, socket];
  const server = await startServer(playground, [process.execPath, ...args]);
  return {
    socket,
    token: /token (\S+)/.exec(server.said())?.[1] ?? "",
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** Works with fresh connections: a server may close those that were idle during the other side's turn. */
async function withCallers(
  socketPath: string,
  count: number,
  work: (callers: readonly HttpCaller[]) => Promise<number>,
): Promise<number> {
  const callers = await Promise.all(Array.from({ length: count }, () => HttpCaller.connect(socketPath)));
  try {
    return await work(callers);
  } finally {
    for (const caller of callers) caller.close();
  }
}
