// Peers that are slow, greedy or gone, and the end of the front door: what they hold is let go, the others are served.
import { connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import { create, toBinary } from "@bufbuild/protobuf";
import { describe, expect, onTestFinished, test } from "vitest";
import { ToolRequestSchema } from "../../../src/gen/handrail/tool/v1/tool_pb.ts";
import { signalOf } from "../../support/call-end.ts";
import { clientsOf, quickDoor, recording, serveFront, successOf } from "../../support/front-door.ts";
import { envelope, http1, rawConnection } from "../../support/raw-http.ts";

const EXECUTE = "/handrail.tool.v1.ToolKernel/Execute";
const REQUEST = create(ToolRequestSchema, {
  requestId: "r-1",
  sessionToken: "t",
  tool: { case: "fileRead", value: { path: "a" } },
});
const BYTES = toBinary(ToolRequestSchema, REQUEST);
const PROTO = { "content-type": "application/proto" };

describe("slow peers", () => {
  test.each([
    ["nothing", ""],
    ["the beginning of a preface", "PR"],
    ["the beginning of a request", "POST /"],
    ["headers that do not end", `POST ${EXECUTE} HTTP/1.1\r\nhost: a\r\n`],
  ])("a connection that brings %s is closed", async (_, bytes) => {
    const { front } = await recording({ headMs: 100 });
    const connection = await rawConnection(front.socketPath);
    connection.write(bytes);
    expect(await connection.closed).toMatch(/^(HTTP\/1\.1 408|$)/);
  });

  test("a connection of either version that asks for nothing is closed after a while", async () => {
    const { front } = await recording({ idleMs: 1000 });
    const first = await rawConnection(front.socketPath);
    first.write(http1(EXECUTE, PROTO, BYTES));
    const connection = await rawConnection(front.socketPath);
    const second = connectHttp2("http://localhost", { createConnection: () => connection.socket });
    second.on("error", () => undefined);
    await Promise.all([first.closed, new Promise((done) => second.once("close", done))]);
    expect(first.seen()).toMatch(/^HTTP\/1.1 200/);
  });

  test("a request whose body does not come is answered, and its connection ends", async () => {
    const { front, seen } = await recording({ stallMs: 100 });
    const connection = await rawConnection(front.socketPath);
    connection.write(http1(EXECUTE, { ...PROTO, "content-length": "100" }, BYTES));
    expect(await connection.closed).toMatch(/deadline_exceeded.*not complete within 100 ms/);
    expect(seen).toEqual([]);
  });

  test("a download waits for a peer that does not read, and is given up after a while", async () => {
    let given = 0;
    const ended = Promise.withResolvers<void>();
    const piece = Buffer.alloc(256 * 1024);
    const chunks = async function* () {
      try {
        for (; given < 1000; given += 1) yield piece;
      } finally {
        ended.resolve();
      }
    };
    const front = await serveFront(
      quickDoor({ getContent: async () => ({ kind: "content", size: 1000 * piece.length, chunks: chunks() }) }),
      {
        stallMs: 200,
      },
    );
    const connection = await rawConnection(front.socketPath);
    connection.socket.pause();
    const headers = { "content-type": "application/connect+proto", authorization: "Bearer x" };
    connection.write(http1("/handrail.tool.v1.ToolKernel/GetContent", headers, envelope(new Uint8Array())));
    await ended.promise;
    expect(given).toBeLessThan(20);
    expect(front.errors).toEqual([]);
  });

  test("reports for a peer that does not read are dropped beyond a bound, and the response still comes", async () => {
    const front = await serveFront(
      quickDoor({
        execute: async (_, __, { listener } = {}) => {
          for (let index = 0; index < 500; index += 1)
            listener?.({ kind: "output", stream: "stdout", bytes: Buffer.alloc(64 * 1024) });
          return successOf("r-1", {});
        },
      }),
    );
    const events = [];
    for await (const { event } of clientsOf(front, "grpc/2").kernel.executeStream(REQUEST)) events.push(event.case);
    expect(events.at(-1)).toBe("response");
    expect(events.filter((name) => name === "output").length).toBe(16);
  });
});

describe("too much at once", () => {
  test("calls of one connection beyond the bound are refused, and taken again afterwards", async () => {
    const waiting: (() => void)[] = [];
    const door = quickDoor({ execute: () => new Promise((done) => waiting.push(() => done(successOf("r", {})))) });
    const front = await serveFront(door, { callsMax: 2 });
    const { kernel } = clientsOf(front, "connect/1.1");
    const calls = [kernel.execute(REQUEST), kernel.execute(REQUEST)];
    while (waiting.length < 2) await new Promise((done) => setTimeout(done, 5));
    await expect(kernel.execute(REQUEST)).rejects.toMatchObject({
      rawMessage: expect.stringContaining("too many calls"),
    });
    for (const settle of waiting.splice(0)) settle();
    await Promise.all(calls);
    const again = kernel.execute(REQUEST);
    while (waiting.length < 1) await new Promise((done) => setTimeout(done, 5));
    waiting[0]?.();
    expect((await again).result.case).toBe("success");
  });

  test("connections beyond the bound are closed at once", async () => {
    const { front } = await recording({ connectionsMax: 2 });
    const kept = [await rawConnection(front.socketPath), await rawConnection(front.socketPath)];
    const refused = await rawConnection(front.socketPath);
    expect(await refused.closed).toBe("");
    kept[0]?.write(http1(EXECUTE, PROTO, BYTES));
    expect(await kept[0]?.until(/HTTP\/1.1 200/)).toBeDefined();
  });

  test("requests of HTTP/2 that are reset as soon as they are made leave no call behind", async () => {
    let running = 0;
    const door = quickDoor({
      execute: (_, end) =>
        new Promise((done) => {
          running += 1;
          const finish = () => {
            running -= 1;
            done(successOf("r", {}));
          };
          if (signalOf(end).aborted) finish();
          else signalOf(end).addEventListener("abort", finish, { once: true });
        }),
    });
    const front = await serveFront(door);
    const connection = await rawConnection(front.socketPath);
    const session = connectHttp2("http://localhost", { createConnection: () => connection.socket });
    session.on("error", () => undefined);
    for (let index = 0; index < 200; index += 1) {
      const stream = session.request({ ":method": "POST", ":path": EXECUTE, "content-type": "application/grpc+proto" });
      stream.on("error", () => undefined);
      stream.end(envelope(BYTES));
      await new Promise((done) => setImmediate(done));
      stream.close(8);
    }
    session.close();
    await connection.closed;
    while (running > 0) await new Promise((done) => setTimeout(done, 5));
    expect(front.errors).toEqual([]);
    await clientsOf(await serveFront(quickDoor()), "grpc/2").kernel.execute(REQUEST);
  });
});

describe("closing", () => {
  test.each(["connect/1.1", "grpc/2"] as const)(
    "aborts the calls in flight, which are answered: %s",
    async (protocol) => {
      const started = Promise.withResolvers<void>();
      const door = quickDoor({
        execute: (_, end) =>
          new Promise((done) => {
            started.resolve();
            signalOf(end).addEventListener("abort", () => done(successOf("r-1", { stopped: "yes" })));
          }),
      });
      const front = await serveFront(door);
      const call = clientsOf(front, protocol).kernel.execute(REQUEST);
      await started.promise;
      const closing = front.server.close();
      expect((await call).result.case).toBe("success");
      await closing;
      await expect(rawConnection(front.socketPath)).rejects.toThrow();
    },
  );

  test("does not wait for ever for a call that does not end", async () => {
    const started = Promise.withResolvers<void>();
    const door = quickDoor({
      execute: () => {
        started.resolve();
        return Promise.withResolvers<never>().promise;
      },
    });
    const front = await serveFront(door, { closeGraceMs: 50 });
    const failed = clientsOf(front, "connect/1.1")
      .kernel.execute(REQUEST)
      .catch((error: unknown) => error);
    await started.promise;
    await front.server.close();
    expect(await failed).toBeInstanceOf(Error);
  });

  const HUGE = 12 * 1024 * 1024;
  test.each<[string, string, string]>([
    ["in the plainest form", EXECUTE, "application/proto"],
    ["as JSON", EXECUTE, "application/json"],
    ["in an envelope", EXECUTE, "application/grpc-web+proto"],
    ["of another method", "/handrail.tool.v1.ToolKernel/ListTools", "application/proto"],
    ["as an upload", "/handrail.tool.v1.ToolKernel/PutContent", "application/connect+proto"],
  ])("does not wait for requests that are huge and unfinished: %s", async (_, path, type) => {
    const { front, seen } = await recording({ requestBytesMax: 16 * 1024 * 1024 });
    const headers = { "content-type": type, authorization: "Bearer t", "content-length": String(HUGE) };
    const connections = [await rawConnection(front.socketPath), await rawConnection(front.socketPath)];
    for (const connection of connections) connection.write(http1(path, headers, Buffer.alloc(HUGE / 2)));
    const session = connectHttp2("http://localhost", { createConnection: () => connect(front.socketPath) });
    onTestFinished(() => session.destroy());
    session.on("error", () => undefined);
    const stream = session.request({ ":method": "POST", ":path": path, ...headers });
    stream.on("error", () => undefined);
    stream.write(Buffer.alloc(HUGE / 2));
    await new Promise((done) => setTimeout(done, 300));
    const begunMs = performance.now();
    await front.server.close();
    expect(performance.now() - begunMs).toBeLessThan(10_000); // waiting for them would take half a minute
    expect(seen).toEqual([]);
  });
});
