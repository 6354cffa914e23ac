/**
 * Governed 4 KB reads over the framed socket, against the same framed server in a process of its own that answers a
 * constant 4 KB without looking at the request: what the socket itself costs.
 */
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { create } from "@bufbuild/protobuf";
import { ToolRequestSchema } from "../../src/gen/handrail/tool/v1/tool_pb.ts";
import { frame } from "../../src/wire/index.ts";
import { encodeRequest } from "../../src/wire/protobuf.ts";
import { interleave, type Row } from "../measure.ts";
import type { Effort } from "../options.ts";
import { FILE_BYTES, type Playground, REPEATED_FILES } from "../playground.ts";
import { makeSession, startServer } from "../server-process.ts";
import { LAUNCHER } from "../servers.ts";
import { FrameCounter } from "./frame-counter.ts";

const IN_FLIGHT = 64;
const EMPTY_SERVER = fileURLToPath(new URL("./empty-framed-server.ts", import.meta.url));

/** The figure. */
export async function measureFramed(playground: Playground, effort: Effort): Promise<readonly Row[]> {
  const { path, files } = playground.workspace("framed", REPEATED_FILES);
  const state = playground.directory("state-framed");
  const token = makeSession(playground, path, state);
  await using ours = await connected(playground, [LAUNCHER, "serve", "--state", state], join(state, "handrail.sock"));
  const emptySocket = join(playground.directory("empty-server"), "empty.sock");
  const empty = [process.execPath, "--disable-warning=ExperimentalWarning", EMPTY_SERVER, emptySocket] as const;
  await using theirs = await connected(playground, empty, emptySocket);
  const requests = files.map((file, index) => frame(readRequest(token, index, file)));
  for (const server of [ours, theirs]) await readsPerSecond(server.socket, requests, effort.turnMs);
  const subject = {
    id: "framed-read-64",
    what: `4 KB reads over the framed socket, ${IN_FLIGHT} in flight`,
    peer: "the same framed server, constant answer",
    unit: "reads/s",
    better: "higher",
  } as const;
  const turn = (socket: Socket) => () => readsPerSecond(socket, requests, effort.turnMs);
  return [await interleave(subject, effort.rounds, turn(ours.socket), turn(theirs.socket))];
}

function readRequest(sessionToken: string, index: number, path: string): Uint8Array {
  const value = { path, offset: 0n, limit: 0n };
  return encodeRequest(
    create(ToolRequestSchema, { requestId: `bench-${index}`, sessionToken, tool: { case: "fileRead", value } }),
  );
}

interface Connected extends AsyncDisposable {
  readonly socket: Socket;
}

async function connected(
  playground: Playground,
  program: readonly [string, ...string[]],
  socketPath: string,
): Promise<Connected> {
  const server = await startServer(playground, program);
  const socket = connect(socketPath);
  await new Promise<void>((resolve, reject) => socket.once("connect", resolve).once("error", reject));
  return {
    socket,
    [Symbol.asyncDispose]: async () => {
      socket.destroy();
      await server[Symbol.asyncDispose]();
    },
  };
}

/** Keeps calls in flight for a while. Answers are counted; one that is too short for the file ends the run. */
function readsPerSecond(socket: Socket, requests: readonly Uint8Array[], turnMs: number): Promise<number> {
  const started = performance.now();
  let asked = 0;
  let answered = 0;
  const ask = (count: number): void => {
    const batch = Array.from({ length: count }, () => requests[asked++ % requests.length] ?? new Uint8Array());
    if (count > 0) socket.write(Buffer.concat(batch));
  };
  return new Promise((resolve, reject) => {
    const counter = new FrameCounter(FILE_BYTES);
    const finish = (error?: Error): void => {
      socket.removeAllListeners("data").removeAllListeners("close");
      if (error) reject(error);
      else resolve((answered * 1000) / (performance.now() - started));
    };
    socket.on("close", () => finish(new Error("the server closed the connection")));
    socket.on("data", (chunk: Buffer) => {
      try {
        const count = counter.push(chunk);
        answered += count;
        if (performance.now() - started < turnMs) ask(count);
        else if (answered === asked) finish();
      } catch (error) {
        finish(error instanceof Error ? error : new Error(String(error)));
      }
    });
    ask(IN_FLIGHT);
  });
}
