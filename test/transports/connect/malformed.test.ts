// Requests that are none: bodies that never come, hosts named twice, and for every method messages that cannot be read.
import { connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { KernelAdmin } from "../../../src/gen/handrail/admin/v1/admin_pb.ts";
import { ToolKernel } from "../../../src/gen/handrail/tool/v1/kernel_pb.ts";
import type { AdminPort } from "../../../src/transports/connect/methods/admin-port.ts";
import { quickDoor, serveFront, type TestFront } from "../../support/front-door.ts";
import { envelope, http1, rawConnection } from "../../support/raw-http.ts";

const TOOLS = "/handrail.tool.v1.ToolKernel";

describe("a body that never comes", () => {
  const STALL_MS = 31_337;

  test.each([
    ["ListTools", "application/proto"],
    ["Execute", "application/proto"],
    ["Execute", "application/grpc-web+proto"],
    ["PutContent", "application/connect+proto"],
    ["Nothing", "text/plain"],
  ])("of %s as %s keeps neither the front door open nor its process alive", async (method, type) => {
    const front = await serveFront(quickDoor(), { stallMs: STALL_MS });
    const timers = vi.spyOn(globalThis, "setTimeout");
    onTestFinished(() => timers.mockRestore());
    for (const to of [front.socketPath, front.port]) {
      const connection = await rawConnection(to);
      connection.write(http1(`${TOOLS}/${method}`, { "content-type": type, "content-length": "99999999999" }));
      expect(await connection.until(/\r\n\r\n/)).toMatch(/^HTTP\/1.1 (?:200|401|404|429) /);
    }
    const began = performance.now();
    await front.server.close();
    expect(performance.now() - began).toBeLessThan(STALL_MS / 2);
    const stalls = timers.mock.results.filter((_, index) => timers.mock.calls[index]?.[1] === STALL_MS);
    expect(stalls.length).toBeGreaterThanOrEqual(2);
    // or the process would wait for it
    for (const { value } of stalls) expect((value as NodeJS.Timeout).hasRef()).toBe(false);
  });
});

describe("a host that is named twice", () => {
  const ask = async (to: string | number, lines: string) => {
    const connection = await rawConnection(to);
    connection.write(`POST ${TOOLS}/ListTools HTTP/1.1\r\n${lines}connection: close\r\ncontent-length: 0\r\n\r\n`);
    return (await connection.closed).split("\r\n", 1)[0];
  };

  test("is refused, in whatever order and letters; once is fine", async () => {
    const { socketPath, port } = await serveFront(quickDoor());
    for (const to of [socketPath, port]) {
      for (const second of ["host: localhost", "HOST: evil.test", "Host:"])
        expect([second, await ask(to, `host: localhost\r\n${second}\r\n`)]).toEqual([
          second,
          "HTTP/1.1 400 Bad Request",
        ]);
      expect(await ask(to, "host: localhost\r\ncontent-type: application/proto\r\n")).toBe("HTTP/1.1 401 Unauthorized");
    }
  });

  test("over HTTP/2 must be the same one", async () => {
    const front = await serveFront(quickDoor());
    const status = (host: string) =>
      http2Status(front, `${TOOLS}/ListTools`, {
        ":authority": "localhost",
        host,
        "content-type": "application/proto",
      });
    expect([(await status("localhost")).status, (await status("evil.test")).status]).toEqual([401, 400]);
  });
});

/** No message of anything: a field with a number beyond all, and an end within it. */
const NO_MESSAGE = Buffer.from([0xff, 0xff, 0xff, 0xff, 0x0f, 0x01]);
const CUT_OFF = Buffer.from([0x0a, 0x7f, 0x61]);
const WRONG_END = Buffer.from([0x0c]);

describe("a message that cannot be read", () => {
  const admin = new Proxy({}, { get: () => async () => true }) as AdminPort;
  const methods = [...ToolKernel.methods, ...KernelAdmin.methods].map(
    (method) =>
      [
        `${method.parent.name}/${method.name}`,
        `/${method.parent.typeName}/${method.name}`,
        method.methodKind !== "unary",
      ] as const,
  );
  const INTERNAL = /grpc-status: ?13|"code":"internal"|^HTTP\/1.1 5/;

  test.each(methods)(
    "of %s is the sender's fault in every protocol, and never an internal error",
    async (_name, path, streams) => {
      const front = await serveFront(quickDoor(), {}, admin);
      const headers = { authorization: "Bearer token", connection: "close" };
      for (const message of [NO_MESSAGE, CUT_OFF, WRONG_END]) {
        const connected = streams ? ["application/connect+proto", envelope(message)] : ["application/proto", message];
        for (const [type, body] of [connected, ["application/grpc-web+proto", envelope(message)]] as const) {
          const connection = await rawConnection(front.socketPath);
          connection.write(http1(path, { ...headers, "content-type": String(type) }, body as Uint8Array));
          expect([type, message, await connection.closed]).toEqual([
            type,
            message,
            expect.not.stringMatching(INTERNAL),
          ]);
        }
        const grpc = await http2Status(
          front,
          path,
          { "content-type": "application/grpc+proto", te: "trailers", ...headers },
          envelope(message),
        );
        expect(grpc.grpcStatus).toMatch(/^(?:0|3)$/);
      }
      expect(front.errors).toEqual([]);
    },
  );

  test.each([
    ["an envelope that is cut off", envelope(CUT_OFF, 0, 40)],
    ["an envelope that says it is compressed", envelope(CUT_OFF, 1)],
    ["two messages", Buffer.concat([envelope(Buffer.alloc(0)), envelope(Buffer.alloc(0))])],
    ["nothing at all", Buffer.alloc(0)],
  ])("%s is the sender's fault, too", async (_what, body) => {
    const front = await serveFront(quickDoor(), {}, admin);
    for (const [, path] of methods) {
      const connection = await rawConnection(front.socketPath);
      const type = "application/grpc-web+proto";
      connection.write(http1(path, { authorization: "Bearer token", connection: "close", "content-type": type }, body));
      expect([path, await connection.closed]).toEqual([path, expect.not.stringMatching(INTERNAL)]);
    }
    expect(front.errors).toEqual([]);
  });

  test("is refused as bad, and recorded, once the sender is known", async () => {
    const recorded: string[] = [];
    const door = quickDoor({ recordRefusal: async ({ ruleId }) => void recorded.push(ruleId) });
    const front = await serveFront(door, {}, admin);
    const connection = await rawConnection(front.socketPath);
    const headers = { "content-type": "application/proto", authorization: "Bearer token", connection: "close" };
    connection.write(http1(`${TOOLS}/ListTools`, headers, NO_MESSAGE));
    expect(await connection.closed).toMatch(/^HTTP\/1.1 400 [\s\S]*"code":"invalid_argument"/);
    expect(recorded).toEqual(["WIRE:rpc"]);
  });
});

/** Sends one request over HTTP/2, with everything as it is given. */
function http2Status(
  { socketPath }: Pick<TestFront, "socketPath">,
  path: string,
  { connection: _connection, ...headers }: Readonly<Record<string, string>>,
  body: Uint8Array = new Uint8Array(),
): Promise<{ readonly status: number; readonly grpcStatus: string }> {
  const session = connectHttp2("http://localhost", { createConnection: () => connect(socketPath) });
  onTestFinished(() => session.destroy());
  return new Promise((done, failed) => {
    let status = 0;
    let grpcStatus = "";
    const note = (given: Readonly<Record<string, unknown>>) => {
      status ||= Number(given[":status"] ?? 0);
      grpcStatus = String(given["grpc-status"] ?? grpcStatus);
    };
    const stream = session.request({ ":method": "POST", ":path": path, ...headers });
    stream.on("response", note).on("trailers", note).on("error", failed);
    stream.on("close", () => done({ status, grpcStatus })).resume();
    stream.end(body);
  });
}
