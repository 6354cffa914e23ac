// Peers that take more than their share: of memory by tiny pieces, of places by never ending, of trust by half a
// request.
import { connect as connectHttp2 } from "node:http2";
import { create, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import { ContentHeaderSchema, PutContentRequestSchema } from "../../../src/gen/handrail/tool/v1/kernel_pb.ts";
import { ToolRequestSchema } from "../../../src/gen/handrail/tool/v1/tool_pb.ts";
import type { Submission } from "../../../src/kernel/index.ts";
import type { Denial } from "../../../src/model/outcome/decision.ts";
import { Refusal } from "../../../src/model/outcome/failure.ts";
import { BodyBuffer } from "../../../src/transports/connect/wire/body-buffer.ts";
import { completed, isPeersDoing } from "../../../src/transports/connect/wire/ending.ts";
import { clientsOf, PROTOCOLS, quickDoor, serveFront, successOf, type TestFront } from "../../support/front-door.ts";
import { envelope, http1, rawConnection } from "../../support/raw-http.ts";

const KIB = 1024;
const EXECUTE = "/handrail.tool.v1.ToolKernel/Execute";
const LIST = "/handrail.tool.v1.ToolKernel/ListTools";
const PUT = "/handrail.tool.v1.ToolKernel/PutContent";
const BEARER = { authorization: "Bearer ses_1.x" };
const CHUNKED = { "content-length": "", "transfer-encoding": "chunked" };
const REQUEST = create(ToolRequestSchema, {
  requestId: "r-1",
  sessionToken: "t",
  tool: { case: "fileRead", value: { path: "a" } },
});
const BYTES = toBinary(ToolRequestSchema, REQUEST);
const HEADER = toBinary(
  PutContentRequestSchema,
  create(PutContentRequestSchema, { part: { case: "header", value: create(ContentHeaderSchema) } }),
);
const chunk = (bytes: Uint8Array) =>
  toBinary(PutContentRequestSchema, create(PutContentRequestSchema, { part: { case: "chunk", value: bytes } }));

/** A front door that remembers what reached the kernel, and what was recorded beside it. */
async function recording(limits: Parameters<typeof serveFront>[1] = {}) {
  const seen: Submission[] = [];
  const uploads: unknown[] = [];
  const recorded: Denial[] = [];
  const door = quickDoor({
    execute: async (submission) => {
      seen.push(submission);
      return successOf("r-1", {});
    },
    putContent: async ({ chunks }) => {
      let size = 0;
      try {
        for await (const one of chunks) size += one.byteLength;
        uploads.push(size);
      } catch (error) {
        const reason = error instanceof Refusal ? `${error.denial.reason}: ` : "";
        uploads.push(error instanceof Error ? `${reason}${error.message}` : error);
      }
      return successOf("r-1", {});
    },
    recordRefusal: async (denial) => void recorded.push(denial),
  });
  return { front: await serveFront(door, limits), seen, uploads, recorded };
}

describe("tiny pieces", () => {
  test("control: as an object of its own a byte costs more than a hundred", () => {
    const count = 200_000;
    const before = process.memoryUsage().heapUsed;
    const pieces = Array.from({ length: count }, () => Buffer.alloc(1).subarray(0));
    expect((process.memoryUsage().heapUsed - before) / count).toBeGreaterThan(50);
    expect(pieces).toHaveLength(count);
  });

  test("of a body are kept as bytes, and what is allocated is what is accounted for", () => {
    let held = 0;
    const buffer = new BodyBuffer(20 * KIB, (change) => {
      held += change;
      return true;
    });
    for (let count = 1; count <= 20 * KIB; count += 1) {
      buffer.add(new Uint8Array([count % 251]));
      if (held !== buffer.bytes.buffer.byteLength || held > Math.max(KIB, 2 * count))
        throw new Error(`holds ${held} for ${count}`);
    }
    expect(buffer.bytes[1000]).toBe(1001 % 251);
    expect(() => buffer.add(new Uint8Array(1))).toThrow(/more than 20480 bytes/);
    buffer.release();
    expect(held).toBe(0);
  });

  test("that the peers may not hold together are refused before anything is allocated for them", () => {
    expect(() => new BodyBuffer(KIB, () => false).add(new Uint8Array(1))).toThrow(/too many large requests/);
  });

  test.each([
    ["protobuf", "application/proto", BYTES],
    ["JSON", "application/json", Buffer.from('{"requestId":"r-1"}')],
    ["gRPC-Web", "application/grpc-web+proto", envelope(BYTES)],
  ])("a request in them is taken as it was sent: %s", async (_, type, body) => {
    const { front, seen } = await recording();
    const connection = await rawConnection(front.socketPath);
    connection.write(http1(EXECUTE, { "content-type": type, ...CHUNKED }));
    connection.write(
      Buffer.concat(
        [...body].map((byte) => Buffer.concat([Buffer.from("1\r\n"), Buffer.from([byte]), Buffer.from("\r\n")])),
      ),
    );
    connection.write("0\r\n\r\n");
    await connection.until(/\r\n\r\n/);
    const [one] = seen;
    const wanted = type === "application/json" ? body : BYTES;
    expect(one?.kind === "wire" ? Buffer.from(one.bytes) : Buffer.from((one as { text: string }).text)).toEqual(
      Buffer.from(wanted),
    );
  });

  test.each(["application/proto", "application/json"])("as a flood end the request at its bound: %s", async (type) => {
    const { front, seen } = await recording({ requestBytesMax: 50_000 });
    const connection = await rawConnection(front.socketPath);
    connection.write(http1(EXECUTE, { "content-type": type, ...CHUNKED }));
    for (let block = 0; block < 6; block += 1) connection.write("1\r\nx\r\n".repeat(10_000));
    await connection.until(/resource_exhausted/);
    expect(seen).toEqual([]);
  });
});

describe("questions", () => {
  test("that do not end are ended as a whole, however steadily they drip", async () => {
    const { front } = await recording({ stallMs: 150 });
    const connection = await rawConnection(front.socketPath);
    connection.write(http1(LIST, { "content-type": "application/json", ...BEARER, "content-length": "4000" }));
    const drip = setInterval(() => connection.write(" "), 20);
    try {
      expect(await connection.until(/not complete within 150 ms/)).toMatch(/deadline_exceeded/);
    } finally {
      clearInterval(drip);
    }
  });

  test("larger than any question are refused, declared or not, and so is the header of an upload", async () => {
    const { front } = await recording();
    const large = Buffer.alloc(5000, " ");
    const declared = await rawConnection(front.socketPath);
    declared.write(http1(LIST, { "content-type": "application/json", ...BEARER, "content-length": "100000" }));
    expect(await declared.until(/more than \d+ bytes/)).toMatch(/resource_exhausted/);
    const sent = await rawConnection(front.socketPath);
    sent.write(http1(LIST, { "content-type": "application/proto", ...BEARER, ...CHUNKED }));
    sent.write(Buffer.concat([Buffer.from(`${large.length.toString(16)}\r\n`), large, Buffer.from("\r\n")]));
    expect(await sent.until(/more than \d+ bytes/)).toMatch(/resource_exhausted/);
    const upload = await rawConnection(front.socketPath);
    upload.write(
      http1(
        PUT,
        { "content-type": "application/grpc-web+proto", ...BEARER, "content-length": "1000000" },
        envelope(large),
      ),
    );
    expect(await upload.until(/4096(%20| )bytes/)).toMatch(/grpc-status: ?8/);
  });

  test("are accounted for like calls", async () => {
    const { front } = await recording({ heldBytesMax: 1500, stallMs: 2000 });
    const first = await rawConnection(front.socketPath);
    first.write(
      http1(LIST, { "content-type": "application/json", ...BEARER, "content-length": "1000" }, Buffer.alloc(900, " ")),
    );
    await new Promise((done) => setTimeout(done, 50));
    const second = await rawConnection(front.socketPath);
    second.write(
      http1(LIST, { "content-type": "application/json", ...BEARER, "content-length": "1000" }, Buffer.alloc(900, " ")),
    );
    await second.until(/too many large requests/);
  });

  test.each([LIST, PUT, "/handrail.tool.v1.ToolKernel/GetContent", "/handrail.tool.v1.ToolKernel/GetReceipt"])(
    "of nobody are refused before their body came, and recorded: %s",
    async (path) => {
      const { front, recorded, uploads } = await recording();
      const connection = await rawConnection(front.socketPath);
      connection.write(http1(path, { "content-type": "application/grpc-web+proto", "content-length": "1000" }));
      await connection.until(/grpc-status: ?16/);
      expect(recorded).toEqual([expect.objectContaining({ layer: "authenticate", reason: "session_invalid" })]);
      expect(uploads).toEqual([]);
    },
  );
});

describe("half a request", () => {
  const frame = (type: number, flags: number, stream: number, payload: Uint8Array) => {
    const head = Buffer.alloc(9);
    head.writeUIntBE(payload.byteLength, 0, 3);
    head.writeUInt8(type, 3);
    head.writeUInt8(flags, 4);
    head.writeUInt32BE(stream, 5);
    return Buffer.concat([head, payload]);
  };
  const literal = (name: string, value: string) =>
    Buffer.concat([Buffer.from([0, name.length]), Buffer.from(name), Buffer.from([value.length]), Buffer.from(value)]);

  /** Begins a request by hand, sends `body`, and takes it back. */
  async function takeBack(
    front: TestFront,
    path: string,
    type: string,
    body: Uint8Array,
    code: number,
    completes: boolean,
  ) {
    const connection = await rawConnection(front.socketPath);
    const headers = {
      ":method": "POST",
      ":scheme": "http",
      ":path": path,
      ":authority": "localhost",
      "content-type": type,
      ...BEARER,
    };
    const block = Buffer.concat(Object.entries(headers).map(([name, value]) => literal(name, value)));
    connection.write(
      Buffer.concat([
        Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
        frame(4, 0, 0, new Uint8Array()),
        frame(1, 4, 1, block),
      ]),
    );
    connection.write(frame(0, completes ? 1 : 0, 1, body));
    if (!completes) await new Promise((done) => setTimeout(done, 30));
    connection.write(frame(3, 0, 1, Buffer.from([0, 0, 0, code])));
    await new Promise((done) => setTimeout(done, 60));
    connection.socket.destroy();
  }

  const FORMS = [
    ["application/proto", BYTES],
    ["application/grpc", envelope(BYTES)],
    ["application/json", Buffer.from('{"requestId":"r"}')],
  ] as const;

  test.each(FORMS)("control: the same bytes, completed, reach the kernel: %s", async (type, body) => {
    const { front, seen } = await recording();
    const connection = await rawConnection(front.socketPath);
    const session = connectHttp2("http://localhost", { createConnection: () => connection.socket });
    session.on("error", () => undefined);
    const stream = session.request({ ":method": "POST", ":path": EXECUTE, "content-type": type });
    stream.on("error", () => undefined).resume();
    stream.end(body);
    await new Promise((done) => stream.once("close", done));
    expect(seen).toHaveLength(1);
    session.destroy();
  });

  test.each(
    FORMS.flatMap(([type, body]) =>
      [0, 8].flatMap((code) => [false, true].map((completes) => ({ type, body, code, completes }))),
    ),
  )(
    "that is reset never reaches the kernel: $type, code $code, with an end: $completes",
    async ({ type, body, code, completes }) => {
      const { front, seen } = await recording();
      await takeBack(front, EXECUTE, type, body, code, completes);
      expect(seen).toEqual([]);
      expect(front.errors).toEqual([]);
    },
  );

  test.each([0, 8])("that is an upload is not stored: code %i", async (code) => {
    const { front, uploads } = await recording();
    const body = Buffer.concat([envelope(HEADER), envelope(chunk(Buffer.from("abc")))]);
    await takeBack(front, PUT, "application/grpc", body, code, false);
    expect(uploads).toEqual([expect.stringMatching(/^tool_input_read_failed: the upload broke off/)]);
  });

  test("of HTTP/1.1 is none either", async () => {
    await expect(completed({ complete: false } as never)).rejects.toMatchObject({ code: Code.Canceled });
    await expect(completed({ complete: true } as never)).resolves.toBeUndefined();
  });
});

test("only what HTTP says of a peer is the peer's doing; bugs are reported", () => {
  const coded = (code: string) => Object.assign(new Error("x"), { code });
  const peers = ["ECONNRESET", "ERR_STREAM_PREMATURE_CLOSE", "ERR_HTTP2_INVALID_STREAM", "ERR_INVALID_URL"].map(coded);
  expect(peers.filter(isPeersDoing)).toEqual(peers);
  const bugs = [
    new TypeError("x is not a function"),
    coded("ERR_INVALID_ARG_TYPE"),
    coded("ENOSPC"),
    coded("ERR_INVALID_STATE"),
    "text",
  ];
  expect(bugs.filter(isPeersDoing)).toEqual([]);
});

describe("headers that lie", () => {
  test.each([
    ["application/json", "grpc-encoding"],
    ["application/proto", "connect-content-encoding"],
    ["application/grpc-web+proto", "content-encoding"],
  ])("an encoding that the protocol does not look at changes nothing: %s, %s", async (type, header) => {
    const { front, seen } = await recording({ stallMs: 1000 });
    const body = type.endsWith("json") ? Buffer.from("{}") : type.includes("grpc") ? envelope(BYTES) : BYTES;
    const whole = await rawConnection(front.socketPath);
    whole.write(http1(EXECUTE, { "content-type": type, [header]: "gzip" }, body));
    await whole.until(/^HTTP\/1.1 200/);
    expect(seen).toHaveLength(1);
    const stalled = await rawConnection(front.socketPath);
    stalled.write(http1(EXECUTE, { "content-type": type, [header]: "gzip", "content-length": "900" }, body));
    expect(await stalled.closed).toMatch(/not complete within 1000 ms|not%20complete/);
  });
});

describe("uploads", () => {
  const upload = async (front: TestFront, first: Uint8Array) => {
    const connection = await rawConnection(front.socketPath);
    connection.write(
      http1(PUT, { "content-type": "application/grpc-web+proto", ...BEARER, "content-length": "10000000" }, first),
    );
    return connection;
  };

  test("control: steady chunks above the least rate are taken, in whatever pieces", async () => {
    const { front, uploads } = await recording({ uploadGraceMs: 2000 });
    const body = Buffer.concat([
      envelope(HEADER),
      ...Array.from({ length: 5 }, () => envelope(chunk(Buffer.alloc(1000)))),
    ]);
    const connection = await rawConnection(front.socketPath);
    connection.write(
      http1(PUT, { "content-type": "application/grpc-web+proto", ...BEARER, "content-length": String(body.length) }),
    );
    for (let start = 0; start < body.length; start += 7) connection.write(body.subarray(start, start + 7));
    await connection.until(/grpc-status: ?0/);
    expect(uploads).toEqual([5000]);
  });

  test("that drip below the least rate are ended", async () => {
    const { front, uploads } = await recording({ uploadGraceMs: 150, uploadBytesPerSecondMin: 64 * KIB });
    const connection = await upload(front, envelope(HEADER));
    const drip = setInterval(() => connection.write(envelope(chunk(Buffer.alloc(1)))), 20);
    try {
      while (uploads.length === 0) await new Promise((done) => setTimeout(done, 10));
    } finally {
      clearInterval(drip);
    }
    expect(uploads).toEqual([expect.stringContaining("slower than 65536 bytes a second")]);
    expect(front.errors).toEqual([]);
  });

  test("with empty chunks are refused", async () => {
    const { front, uploads, recorded } = await recording();
    await upload(front, Buffer.concat([envelope(HEADER), envelope(chunk(new Uint8Array()))]));
    while (uploads.length === 0) await new Promise((done) => setTimeout(done, 5));
    expect(uploads).toEqual([expect.stringContaining("at least one byte")]);
    expect(recorded).toEqual([expect.objectContaining({ layer: "validate", reason: "validation_failed" })]);
  });

  test("of one session leave places for those of others", async () => {
    const { front, uploads } = await recording({ sessionUploadsMax: 2 });
    const first = await upload(front, envelope(HEADER));
    await upload(front, envelope(HEADER));
    await new Promise((done) => setTimeout(done, 30));
    const third = await upload(front, envelope(HEADER));
    await third.until(/grpc-status: ?8/);
    const parts = async function* () {
      yield { part: { case: "header", value: {} } } as const;
    };
    const { kernel } = clientsOf(front, "grpc/2");
    await kernel.putContent(parts(), { headers: { authorization: "Bearer ses_2.x" } });
    first.socket.destroy();
    while (uploads.length < 2) await new Promise((done) => setTimeout(done, 5));
    await kernel.putContent(parts(), { headers: BEARER });
  });
});

describe("evidence", () => {
  test.each([
    ["a body of two messages", "application/grpc-web+proto", Buffer.concat([envelope(BYTES), envelope(BYTES)])],
    ["an envelope that is cut off", "application/grpc-web+proto", envelope(BYTES, 0, 1000)],
    ["JSON that is no UTF-8", "application/json", Buffer.from([0x22, 0xff])],
    ["a request that is too large", "application/proto", Buffer.alloc(2000)],
    ["an empty stream", "application/connect+json", new Uint8Array()],
  ])("of a request that the front door itself refuses is recorded once: %s", async (name, type, body) => {
    const { front, recorded, seen } = await recording({ requestBytesMax: 1000 });
    const connection = await rawConnection(front.socketPath);
    connection.write(http1(name.includes("stream") ? `${EXECUTE}Stream` : EXECUTE, { "content-type": type }, body));
    await connection.until(/\r\n\r\n/);
    connection.socket.end();
    await connection.closed;
    expect(recorded).toEqual([expect.objectContaining({ layer: "validate", ruleId: "WIRE:rpc" })]);
    expect(seen).toEqual([]);
  });

  const asked = (method: string) => `/handrail.tool.v1.ToolKernel/${method}`;
  const noMessage = Buffer.from([0x0a, 0xff]);
  test.each([
    ["protobuf", asked("ListTools"), "application/proto", noMessage],
    ["JSON", asked("ListTools"), "application/json", Buffer.from("{{")],
    ["JSON of another message", asked("ListTools"), "application/json", Buffer.from('{"nobody":1}')],
    ["protobuf over gRPC-Web", asked("ListTools"), "application/grpc-web+proto", envelope(noMessage)],
    [
      "two messages for one",
      asked("ListTools"),
      "application/grpc-web+proto",
      Buffer.concat([envelope(new Uint8Array()), envelope(new Uint8Array())]),
    ],
    ["no message", asked("ListTools"), "application/grpc-web+proto", new Uint8Array()],
    ["a compressed one", asked("ListTools"), "application/grpc-web+proto", envelope(new Uint8Array(), 1)],
    ["a question for a stream", asked("GetContent"), "application/connect+proto", envelope(noMessage)],
    ["the beginning of an upload", asked("PutContent"), "application/connect+proto", envelope(noMessage)],
    [
      "a later part of an upload",
      asked("PutContent"),
      "application/connect+json",
      Buffer.concat([envelope(Buffer.from('{"header":{}}')), envelope(Buffer.from("{{"))]),
    ],
  ])("holds what the library cannot read, before it is answered: %s", async (_, path, type, body) => {
    const { front, recorded } = await recording();
    const connection = await rawConnection(front.socketPath);
    connection.write(http1(path, { "content-type": type, ...BEARER }, body));
    await connection.until(/\r\n\r\n/);
    connection.socket.end();
    await connection.closed;
    expect(recorded).toEqual([expect.objectContaining({ layer: "validate", ruleId: "WIRE:rpc" })]);
    expect(front.errors).toEqual([]);
  });

  test.each(PROTOCOLS)("holds nothing of what can be read, whatever comes of it: %s", async (protocol) => {
    const { front, recorded } = await recording();
    const { kernel } = clientsOf(front, protocol);
    await kernel
      .listTools({}, { headers: BEARER })
      .catch((error: unknown) => expect(error).toBeInstanceOf(ConnectError));
    await expect(kernel.getReceipt({ requestId: "r" }, { headers: BEARER })).rejects.toBeInstanceOf(ConnectError);
    const ended = AbortSignal.abort();
    await expect(kernel.listTools({}, { headers: BEARER, signal: ended })).rejects.toMatchObject({
      code: Code.Canceled,
    });
    expect(recorded).toEqual([]);
  });

  test.each(PROTOCOLS)("holds a request without a token, and an id that is too long: %s", async (protocol) => {
    const { front, recorded } = await recording();
    const { kernel } = clientsOf(front, protocol);
    await expect(kernel.listTools({})).rejects.toMatchObject({ code: Code.Unauthenticated });
    const headers = BEARER;
    await expect(kernel.listTools({ requestId: "x".repeat(257) }, { headers })).rejects.toMatchObject({
      code: Code.InvalidArgument,
    });
    expect(recorded.map(({ layer }) => layer)).toEqual(["authenticate", "validate"]);
  });

  test("counts characters, not halves of them", async () => {
    const { front, recorded } = await recording();
    const { kernel } = clientsOf(front, "connect/1.1");
    await expect(kernel.listTools({ requestId: "🦀".repeat(256) }, { headers: BEARER })).rejects.toMatchObject({
      code: Code.Unauthenticated,
    });
    await expect(kernel.listTools({ requestId: "🦀".repeat(257) }, { headers: BEARER })).rejects.toMatchObject({
      code: Code.InvalidArgument,
    });
    expect(recorded).toHaveLength(1);
  });
});
