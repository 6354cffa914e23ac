/** The framed socket: many calls on one connection, and what becomes of peers that do not behave. */
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { KernelError } from "../../../src/base/errors.ts";
import {
  type ToolRequest,
  ToolRequestSchema,
  type ToolResponse,
  ToolResponseSchema,
} from "../../../src/gen/handrail/tool/v1/tool_pb.ts";
import {
  connectFramed,
  type FramedLimits,
  type FramedServer,
  serveFramed,
} from "../../../src/transports/framed/index.ts";
import { FrameReader, frame } from "../../../src/wire/index.ts";
import { decodeRequest, decodeResponse, encodeRequest, encodeResponse } from "../../../src/wire/protobuf.ts";

let directory: string;
let socketPath: string;
const opened: { close: () => Promise<void> }[] = [];
const sockets: Socket[] = [];
const errors: unknown[] = [];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "framed-"));
  socketPath = join(directory, "kernel.sock");
  errors.length = 0;
});

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const thing of opened.splice(0).reverse()) await thing.close();
  rmSync(directory, { recursive: true, force: true });
});

type Execute = (request: Uint8Array, signal: AbortSignal) => Promise<Uint8Array>;

/** A handler that answers every request with its own id and `bytes`. */
function echo(bytes = new Uint8Array(0)): Execute {
  return async (request) => answer(decodeRequest(request).requestId, bytes);
}

function answer(requestId: string, inlineResult: Uint8Array): Uint8Array {
  return encodeResponse(
    create(ToolResponseSchema, { requestId, result: { case: "success", value: { inlineResult } } }),
  );
}

async function serve(execute: Execute, limits: Partial<FramedLimits> = {}): Promise<FramedServer> {
  const server = await serveFramed({
    socketPath,
    execute: (request, end) => execute(request, end.signal),
    limits,
    onError: (error) => errors.push(error),
  });
  opened.push(server);
  return server;
}

async function client() {
  const made = await connectFramed(socketPath);
  opened.push(made);
  return made;
}

/** A call that never ends. */
function never(): Promise<Uint8Array> {
  return Promise.withResolvers<Uint8Array>().promise;
}

function request(requestId: string): ToolRequest {
  return create(ToolRequestSchema, { requestId, sessionToken: "s", tool: { case: "fileRead", value: { path: "a" } } });
}

/** A peer that writes what it likes; `responses` are those that came, `ended` resolves when the server closed. */
async function peer() {
  const socket = connect(socketPath);
  sockets.push(socket);
  const reader = new FrameReader();
  const responses: ToolResponse[] = [];
  let arrived: (() => void) | undefined;
  socket.on("data", (bytes: Buffer) => {
    reader.push(bytes);
    for (let next = reader.next(); next !== undefined; next = reader.next()) responses.push(decodeResponse(next));
    arrived?.();
  });
  socket.on("error", (error) => errors.push(error));
  const ended = once(socket, "close");
  await once(socket, "connect");
  const until = async (count: number) => {
    while (responses.length < count) {
      const { promise, resolve } = Promise.withResolvers<void>();
      arrived = resolve;
      await promise;
    }
    return responses;
  };
  return { socket, responses, ended, until };
}

/** A peer that keeps its side open, whatever the server does. */
async function holder() {
  const socket = connect({ path: socketPath, allowHalfOpen: true });
  sockets.push(socket);
  socket.on("error", () => undefined).pause();
  await once(socket, "connect");
  return { socket };
}

/** Resolves once `condition` holds. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((done) => setTimeout(done, 2));
}

describe("calls", () => {
  test("CTR-0022, CTR-0023: each of many calls in flight gets its own response, in whatever order they end", async () => {
    const waiting: (() => void)[] = [];
    await serve(async (bytes) => {
      const { requestId } = decodeRequest(bytes);
      await new Promise<void>((done) => waiting.push(done));
      return answer(requestId, Buffer.from(requestId));
    });
    const { execute } = await client();
    const calls = Array.from({ length: 50 }, (_, index) => execute(request(`r${index}`)));
    await until(() => waiting.length === 50);
    for (const done of waiting.reverse()) done();
    const responses = await Promise.all(calls);
    expect(responses.map(({ requestId }) => requestId)).toEqual(Array.from({ length: 50 }, (_, index) => `r${index}`));
    expect(responses.map(({ result }) => result.case)).toEqual(new Array(50).fill("success"));
  });

  test("no more than the limit run at once; the others wait unread and run later", async () => {
    let running = 0;
    let most = 0;
    await serve(
      async (bytes) => {
        running += 1;
        most = Math.max(most, running);
        await new Promise((done) => setImmediate(done));
        running -= 1;
        return answer(decodeRequest(bytes).requestId, new Uint8Array(0));
      },
      { callsInFlightMax: 4 },
    );
    const { execute } = await client();
    const responses = await Promise.all(Array.from({ length: 200 }, (_, index) => execute(request(`r${index}`))));
    expect(responses).toHaveLength(200);
    expect(most).toBe(4);
  });

  test("large requests and responses arrive whole", async () => {
    const content = Buffer.alloc(3_000_000, "abc");
    await serve(async (bytes) => {
      const { requestId, tool } = decodeRequest(bytes);
      return answer(requestId, tool.case === "fileWrite" ? tool.value.content : new Uint8Array(0));
    });
    const { execute } = await client();
    const write = (requestId: string) =>
      execute(
        create(ToolRequestSchema, {
          requestId,
          sessionToken: "s",
          tool: { case: "fileWrite", value: { path: "a", content } },
        }),
      );
    for (const { result } of await Promise.all([write("1"), write("2"), write("3")])) {
      expect(result.case === "success" && Buffer.compare(result.value.inlineResult, content)).toBe(0);
    }
  });

  test("a request id that is empty or in flight is refused by the client", async () => {
    await serve(never, { closeGraceMs: 10 });
    const { execute } = await client();
    const first = execute(request("r"));
    first.catch((error: unknown) => errors.push(error));
    await expect(execute(request("r"))).rejects.toThrow("the request id `r` is in flight; use another one");
    await expect(execute(request(""))).rejects.toThrow(KernelError);
  });
});

describe("failures", () => {
  test("a frame that is no request is answered under its id, and the connection stays open", async () => {
    await serve(echo());
    const { socket, until: come } = await peer();
    socket.write(frame(Uint8Array.from([0x0a, 0x01, 0x72, 0x52, 0x00, 0x5a, 0x00])));
    socket.write(frame(encodeRequest(request("next"))));
    const [refused, next] = await come(2);
    expect(refused?.requestId).toBe("r");
    expect(refused?.result.value).toMatchObject({ ruleId: "INV-0004", rationaleCode: "VALIDATION_FAILED" });
    expect(next).toMatchObject({ requestId: "next", result: { case: "success" } });
    expect(errors).toEqual([]);
  });

  test.each<[string, Execute]>([
    ["rejects", async () => Promise.reject(new Error("secret detail"))],
    [
      "throws at once",
      () => {
        throw new Error("secret detail");
      },
    ],
  ])("a handler that %s answers INTERNAL without its reason, which the log gets", async (_, execute) => {
    await serve(execute);
    const response = await (await client()).execute(request("r"));
    expect(response).toMatchObject({
      requestId: "r",
      result: { case: "error", value: { errorCode: "INTERNAL", retryable: false } },
    });
    expect(response.result.case === "error" && response.result.value.message).not.toContain("secret detail");
    expect(errors).toMatchObject([{ message: "secret detail" }]);
  });

  test("a client that is gone has its calls aborted", async () => {
    const signals: AbortSignal[] = [];
    await serve(
      (_, signal) =>
        new Promise((_done, failed) => {
          signals.push(signal);
          signal.addEventListener("abort", () => failed(new Error("aborted")));
        }),
    );
    const { socket } = await peer();
    socket.write(Buffer.concat([frame(encodeRequest(request("a"))), frame(encodeRequest(request("b")))]));
    await until(() => signals.length === 2);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, false]);
    socket.destroy();
    await until(() => signals.every(({ aborted }) => aborted));
    expect(signals).toHaveLength(2);
  });

  test("a server that closes fails the calls of its clients, and removes its socket", async () => {
    let started = false;
    const execute: Execute = () => {
      started = true;
      return never();
    };
    const server = await serve(execute, { closeGraceMs: 20 });
    const call = (await client()).execute(request("r"));
    const failure = expect(call).rejects.toThrow("the kernel closed the connection");
    await until(() => started);
    await server.close();
    await failure;
    await expect(connectFramed(socketPath)).rejects.toThrow(`cannot connect to \`${socketPath}\``);
  });
});

describe("hostile peers", () => {
  test("a server that closes does not wait for peers with huge unfinished frames, which neither read nor end", async () => {
    const server = await serve(never, { closeGraceMs: 60_000 });
    const halves = frame(new Uint8Array(12 * 1024 * 1024)).subarray(0, 6 * 1024 * 1024);
    for (const { socket } of [await holder(), await holder()]) socket.write(halves);
    await new Promise((done) => setTimeout(done, 200));
    const begunMs = performance.now();
    await server.close();
    expect(performance.now() - begunMs).toBeLessThan(30_000);
  });

  test("a frame over the limit is answered once and the connection closed, and others go on", async () => {
    await serve(echo(), { frameBytesMax: 1000 });
    const good = await client();
    const bad = await peer();
    bad.socket.write(Buffer.concat([frame(encodeRequest(request("before"))), frame(new Uint8Array(1001))]));
    await bad.ended;
    expect(bad.responses.map(({ requestId, result }) => [requestId, result.case])).toEqual([
      ["", "denied"],
      ["before", "success"],
    ]);
    expect(bad.responses[0]?.result.value).toMatchObject({
      message:
        "the request cannot be decoded: a frame is larger than 1000 bytes; store large content first and name it by hash",
    });
    expect((await good.execute(request("r"))).result.case).toBe("success");
  });

  test("the client hears why its connection was closed", async () => {
    await serve(echo(), { frameBytesMax: 100 });
    const { execute } = await client();
    await expect(execute(request("r".repeat(101)))).rejects.toThrow("a frame is larger than 100 bytes");
  });

  test("a declared length is not allocated, and a length without end is refused", async () => {
    await serve(echo());
    const { socket, ended, responses } = await peer();
    socket.write(Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0xff, 0xff));
    await ended;
    expect(responses).toMatchObject([{ result: { case: "denied", value: { ruleId: "WIRE:decode" } } }]);
  });

  test("a slow writer is answered and closed", async () => {
    await serve(echo(), { stallMs: 40 });
    const { socket, ended, responses } = await peer();
    const bytes = frame(encodeRequest(request("slow")));
    socket.write(bytes.subarray(0, 5));
    await ended;
    expect(responses).toMatchObject([{ result: { case: "error", value: { errorCode: "TIMEOUT" } } }]);
  });

  test("a peer that is silent between frames is left alone", async () => {
    await serve(echo(), { stallMs: 20 });
    const { execute } = await client();
    await execute(request("a"));
    await new Promise((done) => setTimeout(done, 120));
    expect((await execute(request("b"))).requestId).toBe("b");
  });

  /** How many of 500 calls were started for a peer that reads nothing until the socket is quiet. */
  async function startedUnread(
    limits: Partial<FramedLimits>,
  ): Promise<{ readonly started: number; readonly socket: Socket }> {
    let started = 0;
    const execute = echo(new Uint8Array(20_000));
    const counted: Execute = (bytes, signal) => {
      started += 1;
      return execute(bytes, signal);
    };
    await serve(counted, { callsInFlightMax: 8, ...limits });
    const socket = connect(socketPath);
    sockets.push(socket);
    await once(socket, "connect");
    socket.pause();
    socket.on("error", (error) => errors.push(error));
    for (let index = 0; index < 500; index += 1) socket.write(frame(encodeRequest(request(`r${index}`))));
    for (let quiet = 0, before = -1; quiet < 50; before = started) {
      await new Promise((done) => setTimeout(done, 2));
      quiet = started === before && started > 0 ? quiet + 1 : 0;
    }
    return { started, socket };
  }

  test("calls of a slow reader wait while its answers are unread", async () => {
    expect((await startedUnread({ outputBytesMax: 300_000 })).started).toBeLessThan(100);
  });

  test("control: without that limit all its calls run, and their answers pile up", async () => {
    expect((await startedUnread({ outputBytesMax: 1_000_000_000 })).started).toBe(500);
  });

  test("a peer that never reads is dropped", async () => {
    const { socket } = await startedUnread({ outputBytesMax: 300_000, stallMs: 20 });
    socket.resume();
    if (!socket.closed) await once(socket, "close");
    expect(socket.destroyed).toBe(true);
  });

  test("too many connections are refused with an answer", async () => {
    await serve(echo(), { connectionsMax: 1 });
    const first = await client();
    await first.execute(request("a"));
    const second = await peer();
    await second.ended;
    expect(second.responses).toMatchObject([
      { result: { case: "error", value: { errorCode: "RESOURCE_BUSY", retryable: true } } },
    ]);
    expect((await first.execute(request("b"))).result.case).toBe("success");
  });

  test("requests in the making are bounded over all connections", async () => {
    await serve(echo(), { heldBytesMax: 200_000 });
    const hog = await peer();
    hog.socket.write(frame(new Uint8Array(10_000_000)).subarray(0, 1_000_000));
    await hog.ended;
    expect(hog.responses).toMatchObject([{ result: { case: "error", value: { errorCode: "RESOURCE_BUSY" } } }]);
    expect((await (await client()).execute(request("r"))).result.case).toBe("success");
  });

  test("garbage is answered or refused, never ignored, and the server lives on", async () => {
    await serve(echo());
    let seed = 1;
    for (let round = 0; round < 50; round += 1) {
      const { socket, until: come } = await peer();
      const garbage = Uint8Array.from({ length: 200 }, () => {
        seed = (seed * 48_271) % 2_147_483_647;
        return seed & 0xff;
      });
      socket.write(frame(garbage));
      const [response] = await come(1);
      expect(response?.result.value).toMatchObject({ rationaleCode: "VALIDATION_FAILED" });
      socket.end(garbage);
    }
    expect((await (await client()).execute(request("r"))).result.case).toBe("success");
    expect(errors.filter((error) => !(error instanceof Error && "syscall" in error))).toEqual([]);
  });

  test("an answer to nothing that was asked ends the client's connection", async () => {
    await serve(async () => answer("another", new Uint8Array(0)));
    await expect((await client()).execute(request("r"))).rejects.toThrow("it answered a request that was not made");
  });
});
