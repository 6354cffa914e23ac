// What is answered without the protocol library is what the library would have answered.
import {
  type JSONRPCMessage,
  type JSONRPCRequest,
  SUPPORTED_PROTOCOL_VERSIONS,
  type Transport,
} from "@modelcontextprotocol/server";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CALLS_IN_FLIGHT_MAX } from "../../../src/base/limits.ts";
import { ListPages } from "../../../src/transports/mcp/features/pages.ts";
import { LegacyEra } from "../../../src/transports/mcp/legacy-era.ts";
import { connectLegacy, type LibrarySource } from "../../../src/transports/mcp/library.ts";
import { isBare, LEGACY_REVISIONS, plainHandshake } from "../../../src/transports/mcp/protocol/plain-requests.ts";

const TURNS_MAX = 300;
const TOOL = { name: "read_file", title: "Read a file", description: "Reads.", inputSchema: { type: "object" } };

/** A client's end: what it was sent, and which revision was agreed on. */
function clientEnd() {
  const sent: JSONRPCMessage[] = [];
  const revisions: string[] = [];
  const errors: string[] = [];
  const source: LibrarySource = {
    identity: {
      serverInfo: { name: "handrail", title: "Handrail", version: "1" },
      capabilities: { tools: {} },
      instructions: "Careful.",
    },
    tools: async () => [TOOL],
    pages: new ListPages(),
    watch: () => () => undefined,
    onError: (error) => errors.push(error.message),
  };
  const transport: Transport = {
    start: async () => undefined,
    close: async () => undefined,
    send: async (message) => void sent.push(message),
    setProtocolVersion: (version) => void revisions.push(version),
  };
  return { sent, revisions, errors, source, transport };
}

const requests = (messages: readonly JSONRPCMessage[]) =>
  messages.filter((message) => "method" in message && "id" in message).length;
/** Waits for `count` answers, though not for ever: the library leaves some bent requests without one. */
const settled = async (end: { readonly sent: readonly unknown[] }, count: number) => {
  for (let turn = 0; turn < TURNS_MAX && end.sent.length < count; turn += 1)
    await new Promise((resolve) => setImmediate(resolve));
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

/** The library alone. */
async function byLibrary(messages: readonly JSONRPCMessage[]) {
  const end = clientEnd();
  await connectLegacy(end.source, end.transport);
  for (const message of messages) {
    end.transport.onmessage?.(message);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await settled(end, requests(messages));
  return end;
}

/** The era as it is served. */
async function byEra(messages: readonly JSONRPCMessage[]) {
  const end = clientEnd();
  const era = new LegacyEra(end.source, end.transport);
  for (const message of messages) era.take(message);
  await settled(end, requests(messages));
  return end;
}

const request = (id: string | number, method: string, params?: unknown) =>
  ({ jsonrpc: "2.0", id, method, ...(params !== undefined && { params }) }) as JSONRPCRequest;
const notice = (method: string, params: object = {}) => ({ jsonrpc: "2.0", method, params }) as JSONRPCMessage;
const handshake = (protocolVersion = "2025-11-25") => ({
  protocolVersion,
  capabilities: {},
  clientInfo: { name: "c", version: "1" },
});
const INITIALIZE = request(0, "initialize", handshake());

// Mostly what clients send, sometimes what they should not.
const odd = fc.oneof(
  fc.constantFrom<unknown>(undefined, null, true, 7, "x", {}, [], { a: {} }, { a: 1 }, { form: { applyDefaults: 1 } }),
  fc.jsonValue(),
);
const mostly = <T>(usual: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 49, arbitrary: usual as fc.Arbitrary<unknown> }, { weight: 1, arbitrary: odd });
const members = (model: Readonly<Record<string, fc.Arbitrary<unknown>>>) => fc.record(model, { requiredKeys: [] });
const empty = fc.constant({});
const meta = members({ progressToken: mostly(fc.oneof(fc.string(), fc.integer())), "com.example/x": odd });
const capabilities = members({
  roots: mostly(members({ listChanged: mostly(fc.boolean()) })),
  sampling: mostly(members({ tools: mostly(empty), context: mostly(empty) })),
  elicitation: mostly(members({ form: mostly(empty), url: mostly(empty) })),
  experimental: mostly(fc.dictionary(fc.string(), mostly(empty))),
  extensions: mostly(fc.dictionary(fc.string(), mostly(empty))),
});
const clientInfo = fc.record(
  { name: mostly(fc.string()), version: mostly(fc.string()), title: mostly(fc.string()) },
  { requiredKeys: ["name", "version"] },
);
const handshakeParameters = fc.record(
  {
    protocolVersion: mostly(fc.constantFrom(...LEGACY_REVISIONS)),
    capabilities: mostly(capabilities),
    clientInfo: mostly(clientInfo),
    _meta: mostly(meta),
  },
  { requiredKeys: ["protocolVersion", "capabilities", "clientInfo"] },
);
const bareParameters = fc.oneof(fc.constant(undefined), members({ _meta: mostly(meta), cursor: odd }));
const asSent = (value: unknown): unknown => (value === undefined ? undefined : JSON.parse(JSON.stringify(value)));

describe("plain requests", () => {
  test("the revisions that are agreed on are the library's", () => {
    expect([...LEGACY_REVISIONS]).toEqual(SUPPORTED_PROTOCOL_VERSIONS.filter((version) => version < "2026"));
  });

  test("a handshake that is plain is answered as the library answers it", async () => {
    let plain = 0;
    await fc.assert(
      fc.asyncProperty(handshakeParameters, async (parameters) => {
        const sent = asSent(parameters);
        if (plainHandshake(sent) === undefined) return;
        plain += 1;
        const messages = [request(1, "initialize", sent)];
        const [library, era] = [await byLibrary(messages), await byEra(messages)];
        expect(era.sent).toEqual(library.sent);
        expect(era.revisions).toEqual(library.revisions);
      }),
      { numRuns: 300 },
    );
    expect(plain).toBeGreaterThan(20);
  });

  test("a list and a ping that are plain are answered as the library answers them", async () => {
    let plain = 0;
    await fc.assert(
      fc.asyncProperty(bareParameters, fc.constantFrom("tools/list", "ping"), async (parameters, method) => {
        const sent = asSent(parameters);
        if (!isBare(sent)) return;
        plain += 1;
        const messages = [INITIALIZE, request("a", method, sent)];
        expect((await byEra(messages)).sent).toEqual((await byLibrary(messages)).sent);
      }),
      { numRuns: 200 },
    );
    expect(plain).toBeGreaterThan(20);
  });

  test("what every client says is plain", () => {
    expect(plainHandshake({ ...handshake(), capabilities: { roots: {}, elicitation: { form: {}, url: {} } } })).toBe(
      "2025-11-25",
    );
    expect(
      plainHandshake({ ...handshake("2025-06-18"), capabilities: { roots: { listChanged: true }, sampling: {} } }),
    ).toBe("2025-06-18");
    expect(plainHandshake({ ...handshake(), capabilities: { elicitation: {} }, _meta: { progressToken: 1 } })).toBe(
      "2025-11-25",
    );
  });

  test("what the library may refuse or choose otherwise is not plain", () => {
    const base = handshake();
    const bent = [
      undefined,
      {},
      handshake("2026-07-28"),
      handshake("1.0"),
      { ...base, more: 1 },
      { ...base, capabilities: [] },
      { ...base, capabilities: { roots: { listChanged: 1 } } },
      { ...base, capabilities: { elicitation: { form: { applyDefaults: 1 } } } },
      { ...base, capabilities: { tasks: {} } },
      { ...base, clientInfo: { name: "c" } },
      { ...base, clientInfo: { name: "c", version: 1 } },
      { ...base, _meta: { progressToken: {} } },
      { ...base, _meta: { "io.modelcontextprotocol/related-task": {} } },
    ];
    expect(bent.map(plainHandshake)).toEqual(bent.map(() => undefined));
    expect([null, [], { cursor: "x" }, { _meta: [] }, { _meta: { progressToken: 1.5 } }].map(isBare)).toEqual([
      false,
      false,
      false,
      false,
      false,
    ]);
  });
});

describe("the legacy era", () => {
  test("plain requests are answered without the library, and the list once it is known", async () => {
    const end = clientEnd();
    const era = new LegacyEra(end.source, end.transport);
    era.take(INITIALIZE);
    era.take(notice("notifications/initialized"));
    era.take(request(1, "tools/list"));
    era.take(notice("notifications/cancelled", { requestId: 1 }));
    era.take(request(2, "ping", {}));
    await expect.poll(() => end.sent.map((message) => "id" in message && message.id)).toEqual([0, 2, 1]);
    expect(end.revisions).toEqual(["2025-11-25"]);
  });

  test("whatever is asked in whatever order, all answers are the library's", async () => {
    const message = fc.oneof(
      handshakeParameters.map((parameters) => ["initialize", asSent(parameters)]),
      bareParameters.map((parameters) => ["tools/list", asSent(parameters)]),
      bareParameters.map((parameters) => ["ping", asSent(parameters)]),
      fc.constantFrom(
        ["resources/list"],
        ["logging/setLevel", { level: "debug" }],
        ["no/such"],
        ["tools/list", { cursor: "x" }],
      ),
    ) as fc.Arbitrary<[string, unknown?]>;
    await fc.assert(
      fc.asyncProperty(fc.array(message, { minLength: 1, maxLength: 6 }), async (asked) => {
        const messages = [
          INITIALIZE,
          ...asked.map(([method, parameters], index) => request(index + 1, method, parameters)),
        ];
        const [library, era] = [await byLibrary(messages), await byEra(messages)];
        const byId = (sent: readonly JSONRPCMessage[]) =>
          new Map(sent.map((answer) => ["id" in answer && answer.id, answer]));
        expect(byId(era.sent)).toEqual(byId(library.sent));
        expect(era.revisions.at(-1)).toBe(library.revisions.at(-1));
      }),
      { numRuns: 100 },
    );
  });

  test("the library is told of the handshake, and the client does not see that", async () => {
    const end = await byEra([INITIALIZE, request(1, "resources/list"), request(2, "ping"), request(3, "tools/list")]);
    expect(
      end.sent.map((message) => ["id" in message && message.id, "error" in message && message.error.code]),
    ).toEqual([
      [0, false],
      [1, -32601],
      [2, false],
      [3, false],
    ]);
    expect(end.errors).toEqual([]);
  });

  test("notifications that come while the library loads are bounded, requests are not lost", async () => {
    const end = clientEnd();
    const era = new LegacyEra(end.source, end.transport);
    era.take(INITIALIZE);
    era.take(request(1, "no/such"));
    for (let count = 0; count < CALLS_IN_FLIGHT_MAX * 2; count += 1)
      era.take(notice("notifications/progress", { progressToken: 1, progress: 1 }));
    era.take(request(2, "ping"));
    await settled(end, 3);
    expect(end.sent.map((message) => "id" in message && message.id)).toEqual([0, 1, 2]);
    expect(end.errors.length).toBe(CALLS_IN_FLIGHT_MAX - 1);
  });

  test("a client that leaves while the library loads gets no answer", async () => {
    const end = clientEnd();
    const era = new LegacyEra(end.source, end.transport);
    era.take(INITIALIZE);
    era.take(request(1, "no/such"));
    era.close();
    await settled(end, 1);
    await byLibrary([INITIALIZE]); // by now it is loaded
    await settled(end, 1);
    expect(end.sent.length).toBe(1);
    expect(end.errors).toEqual([]);
  });
});
