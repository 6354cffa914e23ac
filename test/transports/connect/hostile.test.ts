// Bytes and clients that mean harm: what they send is refused in the words of the protocol, and what they hold is let
// go.
import { connect as connectHttp2 } from "node:http2";
import { gzipSync } from "node:zlib";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ToolRequestSchema } from "../../../src/gen/handrail/tool/v1/tool_pb.ts";
import { clientsOf, PROTOCOLS, recording } from "../../support/front-door.ts";
import { envelope, http1, rawConnection } from "../../support/raw-http.ts";

const EXECUTE = "/handrail.tool.v1.ToolKernel/Execute";
const REQUEST = create(ToolRequestSchema, {
  requestId: "r-1",
  sessionToken: "t",
  tool: { case: "fileRead", value: { path: "a" } },
});
const BYTES = toBinary(ToolRequestSchema, REQUEST);
const OTHER = toBinary(
  ToolRequestSchema,
  create(ToolRequestSchema, { tool: { case: "shellExec", value: { command: "id" } } }),
);
const PROTO = { "content-type": "application/proto" };
const GRPC_WEB = { "content-type": "application/grpc-web+proto" };

async function answerTo(to: string | number, bytes: Uint8Array): Promise<string> {
  const connection = await rawConnection(to);
  connection.write(bytes);
  // Every answer here ends with its body; closing our side afterwards ends the connection.
  await connection.until(/\r\n\r\n/);
  connection.socket.end();
  return connection.closed;
}

describe("INV-0004: the kernel judges the bytes that came", () => {
  const both = Buffer.concat([BYTES, OTHER]);
  const unknown = Buffer.concat([BYTES, Buffer.from([0xaa, 0x3f, 0x01, 0x78])]);

  test("control: the library's decoder merges two variants into one", () => {
    expect(fromBinary(ToolRequestSchema, both).tool.case).toBe("shellExec");
  });

  test.each([
    ["two variants", both],
    ["unknown fields", unknown],
    ["bytes that are no message", Buffer.from([0xff, 0xff])],
    ["an empty message", Buffer.alloc(0)],
  ])("%s reach it as they are", async (_, bytes) => {
    const { front, seen } = await recording();
    await answerTo(front.socketPath, http1(EXECUTE, PROTO, bytes));
    await answerTo(front.socketPath, http1(EXECUTE, GRPC_WEB, envelope(bytes)));
    const json = { "content-type": "application/json" };
    await answerTo(front.socketPath, http1(EXECUTE, json, Buffer.from('{"fileRead":{},"shellExec":{}}')));
    expect(seen.map((one) => (one.kind === "wire" ? Buffer.from(one.bytes) : one))).toEqual([
      Buffer.from(bytes),
      Buffer.from(bytes),
      { kind: "json", text: '{"fileRead":{},"shellExec":{}}' },
    ]);
  });

  test("in however many pieces the bytes come", async () => {
    const { front, seen } = await recording();
    const connection = await rawConnection(front.socketPath);
    const request = http1(EXECUTE, GRPC_WEB, envelope(both));
    for (const byte of request) {
      connection.write(Buffer.from([byte]));
      await new Promise((done) => setImmediate(done));
    }
    await connection.until(/grpc-status: ?0/i);
    expect(seen).toEqual([{ kind: "wire", bytes: both }]);
  });
});

describe("a body that is no message", () => {
  const LIMIT = 1000;
  const large = Buffer.alloc(LIMIT + 1);

  test.each([
    ["too large", PROTO, large, /resource_exhausted.*more than 1000 bytes/],
    [
      "too large, in chunks",
      { ...PROTO, "content-length": "", "transfer-encoding": "chunked" },
      chunked(large),
      /resource_exhausted/,
    ],
    ["too large in an envelope", GRPC_WEB, envelope(large), /grpc-status: ?8/],
    ["declared too large in an envelope", GRPC_WEB, envelope(BYTES, 0, 0xffff_ffff), /grpc-status: ?8/],
    ["cut off in its envelope", GRPC_WEB, envelope(BYTES, 0, BYTES.byteLength + 1), /grpc-status: ?3/],
    ["cut off before its envelope ends", GRPC_WEB, Buffer.from([0, 0]), /grpc-status: ?3/],
    ["two messages", GRPC_WEB, Buffer.concat([envelope(BYTES), envelope(BYTES)]), /grpc-status: ?3/],
    ["no message", GRPC_WEB, Buffer.alloc(0), /grpc-status: ?3/],
    ["compressed without saying how", GRPC_WEB, envelope(gzipSync(BYTES), 1), /grpc-status: ?12/],
    ["an unknown flag", GRPC_WEB, envelope(BYTES, 64), /grpc-status: ?3/],
    ["compressed", { ...PROTO, "content-encoding": "gzip" }, gzipSync(Buffer.alloc(900_000)), /unimplemented/],
    [
      "compressed in an envelope",
      { ...GRPC_WEB, "grpc-encoding": "gzip" },
      envelope(gzipSync(Buffer.alloc(900_000)), 1),
      /grpc-status: ?12/,
    ],
    ["of an unknown type", { "content-type": "text/plain" }, BYTES, /^HTTP\/1.1 415/],
    ["without a type", {}, BYTES, /^HTTP\/1.1 415/],
  ])("is refused and reaches nobody: %s", async (_, headers, body, expected) => {
    const { front, seen } = await recording({ requestBytesMax: LIMIT });
    expect(await answerTo(front.socketPath, http1(EXECUTE, headers, body))).toMatch(expected);
    expect(seen).toEqual([]);
    expect(front.errors).toEqual([]);
    await clientsOf(front, "grpc-web/1.1").kernel.execute(REQUEST);
    expect(seen).toHaveLength(1);
  });

  test("a declared length that is too large is refused before any of it comes", async () => {
    const { front, seen } = await recording({ requestBytesMax: LIMIT, stallMs: 2000 });
    const connection = await rawConnection(front.socketPath);
    connection.write(http1(EXECUTE, { ...PROTO, "content-length": String(2 ** 31) }));
    expect(await connection.closed).toMatch(/resource_exhausted.*more than 1000 bytes/);
    expect(seen).toEqual([]);
  });

  test.each(PROTOCOLS)("a client of the library is told that its request is too large: %s", async (protocol) => {
    const { front, seen } = await recording({ requestBytesMax: LIMIT });
    const tool = { case: "fileWrite", value: { path: "a", content: Buffer.alloc(3_000_000) } } as const;
    await expect(clientsOf(front, protocol).kernel.execute({ tool })).rejects.toMatchObject({
      code: Code.ResourceExhausted,
    });
    expect(seen).toEqual([]);
    expect(front.errors).toEqual([]);
  });

  test("large requests together are bounded", async () => {
    const { front } = await recording({ heldBytesMax: 1500, requestBytesMax: 1000 });
    const first = await rawConnection(front.socketPath);
    first.write(http1(EXECUTE, { ...PROTO, "content-length": "1000" }, Buffer.alloc(999)));
    await new Promise((done) => setTimeout(done, 50));
    expect(await answerTo(front.socketPath, http1(EXECUTE, PROTO, Buffer.alloc(900)))).toMatch(
      /resource_exhausted.*too many large/,
    );
    first.write(Buffer.alloc(1));
    await first.until(/HTTP\/1.1 200/);
    expect(await answerTo(front.socketPath, http1(EXECUTE, PROTO, Buffer.alloc(900)))).toMatch(/^HTTP\/1.1 200/);
  });
});

describe("HTTP that two readers could understand differently, or that is none", () => {
  const line = `POST ${EXECUTE} HTTP/1.1\r\n`;
  test.each([
    ["two lengths", `${line}host: a\r\ncontent-length: 4\r\ncontent-length: 5\r\n\r\nabcde`],
    ["a length and chunks", `${line}host: a\r\ncontent-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`],
    ["an encoding after chunks", `${line}host: a\r\ntransfer-encoding: chunked, identity\r\n\r\n0\r\n\r\n`],
    ["a space before the colon", `${line}host : a\r\n\r\n`],
    ["a folded header", `${line}host: a\r\nx: b\r\n c\r\n\r\n`],
    ["bare line feeds", `${line.replaceAll("\r\n", "\n")}host: a\n\n`],
    ["a negative length", `${line}host: a\r\ncontent-length: -1\r\n\r\n`],
    ["no host", `${line}content-length: 0\r\n\r\n`],
    ["a chunk of no size", `${line}host: a\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n`],
    ["headers without end", `${line}host: a\r\nx: ${"y".repeat(20_000)}\r\n\r\n`],
    ["a tunnel", "CONNECT example.com:80 HTTP/1.1\r\nhost: example.com\r\n\r\n"],
    ["another protocol", "SSH-2.0-OpenSSH_9.2\r\n"],
    ["TLS", "\u0016\u0003\u0001\u0000\u0005hello"],
    ["half a preface", "PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n"],
  ])("is refused and ends the connection: %s", async (_, bytes) => {
    const { front, seen } = await recording({ headMs: 1000 });
    const connection = await rawConnection(front.socketPath);
    connection.write(Buffer.from(bytes, "latin1"));
    expect(await connection.closed).toMatch(/^(HTTP\/1\.1 4\d\d|$|\0\0)/);
    expect(seen).toEqual([]);
    expect(front.errors).toEqual([]);
    await clientsOf(front, "connect/1.1").kernel.execute(REQUEST);
  });

  test("whatever bytes come, the front door goes on serving", async () => {
    const { front } = await recording({ headMs: 50, stallMs: 50 });
    const valid = http1(EXECUTE, PROTO, BYTES);
    const preface = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\u0004\0\0\0\0\0", "latin1");
    const flips = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 6 });
    const mutated = fc
      .tuple(fc.constantFrom(valid, preface), flips, fc.uint8Array({ maxLength: 64 }))
      .map(([base, changes, tail]) => {
        const bytes = Buffer.concat([base, tail]);
        for (const [place, value] of changes) bytes[place % bytes.length] = value;
        return bytes;
      });
    await fc.assert(
      fc.asyncProperty(fc.oneof(mutated, fc.uint8Array({ minLength: 1, maxLength: 200 })), async (bytes) => {
        const connection = await rawConnection(front.socketPath);
        connection.write(bytes);
        connection.socket.end();
        await connection.closed;
      }),
      { numRuns: 150 },
    );
    expect(front.errors).toEqual([]);
    expect((await clientsOf(front, "connect/2").kernel.execute(REQUEST)).result.case).toBe("success");
  });

  test("headers of HTTP/2 beyond the bound are refused", async () => {
    const { front, seen } = await recording();
    const connection = await rawConnection(front.socketPath);
    const session = connectHttp2("http://localhost", {
      createConnection: () => connection.socket,
      maxSendHeaderBlockLength: 2 ** 20,
    });
    session.on("error", () => undefined);
    const stream = session.request({
      ":method": "POST",
      ":path": EXECUTE,
      "content-type": "application/proto",
      x: "y".repeat(60_000),
    });
    stream.on("error", () => undefined);
    const status = await new Promise((done) => {
      stream.once("response", (headers) => done(headers[":status"]));
      stream.once("close", () => done("closed"));
    });
    stream.end(BYTES);
    session.destroy();
    expect(status === "closed" || status === 431).toBe(true);
    expect(seen).toEqual([]);
  });

  test("a path or method that there is not is said to be so", async () => {
    const { front } = await recording();
    expect(await answerTo(front.socketPath, http1("/nothing", PROTO, BYTES))).toMatch(/^HTTP\/1.1 404/);
    const get = Buffer.from(`GET ${EXECUTE}?message=e30&encoding=json HTTP/1.1\r\nhost: localhost\r\n\r\n`);
    expect(await answerTo(front.socketPath, get)).toMatch(/^HTTP\/1.1 405/);
    const odd = Buffer.from("POST http://[ HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\n\r\n");
    expect(await answerTo(front.socketPath, odd)).toMatch(/^HTTP\/1.1 40/);
    expect(front.errors).toEqual([]);
  });
});

describe("web pages", () => {
  const ask = (headers: Record<string, string>) => http1(EXECUTE, { ...PROTO, ...headers }, BYTES);

  test("control: without an origin and with a lawful host a request is taken", async () => {
    const { front, seen } = await recording();
    for (const host of [`127.0.0.1:${front.port}`, `localhost:${front.port}`, "localhost", "[::1]:80"]) {
      expect(await answerTo(front.port, ask({ host }))).toMatch(/^HTTP\/1.1 200/);
    }
    expect(seen).toHaveLength(4);
  });

  test.each(["http://localhost:3000", "null", "https://evil.example"])(
    "a request with the origin %s is refused",
    async (origin) => {
      const { front, seen } = await recording();
      expect(await answerTo(front.port, ask({ origin }))).toMatch(/^HTTP\/1.1 403/);
      expect(await answerTo(front.socketPath, ask({ origin }))).toMatch(/^HTTP\/1.1 403/);
      const preflight = Buffer.from(`OPTIONS ${EXECUTE} HTTP/1.1\r\nhost: localhost\r\norigin: ${origin}\r\n\r\n`);
      const refused = await answerTo(front.port, preflight);
      expect(refused).toMatch(/^HTTP\/1.1 403/);
      expect(refused.toLowerCase()).not.toContain("access-control");
      expect(seen).toEqual([]);
    },
  );

  test.each(["rebound.example", "rebound.example:80", "127.0.0.1.evil.example", "localhost.evil.example", "a b"])(
    "a host that is this machine only by name is refused: %s",
    async (host) => {
      const { front, seen } = await recording();
      expect(await answerTo(front.port, ask({ host }))).toMatch(/^HTTP\/1.1 4/);
      expect(seen).toEqual([]);
    },
  );
});

function chunked(body: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from(`${body.byteLength.toString(16)}\r\n`), body, Buffer.from("\r\n0\r\n\r\n")]);
}
