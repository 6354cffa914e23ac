// What is answered in the modern era without the protocol library is what the library would have answered.
import { InMemoryTransport, type JSONRPCMessage, type JSONRPCRequest, Server } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/base/json.ts";
import type { CallResult } from "../../../src/transports/mcp/answers/call-result.ts";
import { printRound } from "../../../src/transports/mcp/approval/modern-rounds.ts";
import { ListPages } from "../../../src/transports/mcp/features/pages.ts";
import { acceptsModern, askModern, type LibrarySource } from "../../../src/transports/mcp/library.ts";
import { ModernEra } from "../../../src/transports/mcp/modern.ts";
import { isPlainEnvelope } from "../../../src/transports/mcp/protocol/plain-requests.ts";
import { modernMeta } from "../../../src/transports/mcp/protocol/revisions.ts";
import { META, modern } from "../../support/mcp-connection.ts";

const TOOL = { name: "read_file", title: "Read a file", description: "Reads.", inputSchema: { type: "object" } };
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
const era = new ModernEra(source);

/** A client that ends a subscription once it is acknowledged. */
function client() {
  const end = new AbortController();
  return { signal: end.signal, note: () => end.abort() };
}
const asked = async (request: JSONRPCRequest) => [await askModern(source, request, client())];

const asSent = (value: unknown) => JSON.parse(JSON.stringify(value)) as JSONRPCRequest;
const metaOf = (request: JSONRPCRequest) => request.params?._meta as JsonObject;

// Mostly what clients send, sometimes what they should not.
const odd = fc.oneof(
  fc.constantFrom<unknown>(undefined, null, true, 7, "x", {}, [], { a: {} }, { a: 1 }, { form: { applyDefaults: 1 } }),
  fc.jsonValue(),
);
const mostly = <T>(usual: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 49, arbitrary: usual as fc.Arbitrary<unknown> }, { weight: 1, arbitrary: odd });
const seldom = (arbitrary: fc.Arbitrary<unknown>) =>
  fc.oneof({ weight: 9, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });
const members = (model: Readonly<Record<string, fc.Arbitrary<unknown>>>, requiredKeys: string[] = []) =>
  fc.record(model, { requiredKeys });
const empty = fc.constant({});
const setting = fc.oneof(fc.string(), fc.boolean(), fc.array(fc.string(), { maxLength: 2 }), odd);
const capabilities = members({
  roots: mostly(members({ listChanged: mostly(fc.boolean()) })),
  sampling: mostly(members({ tools: mostly(empty), context: mostly(empty) })),
  elicitation: mostly(members({ form: mostly(empty), url: mostly(empty) })),
  experimental: mostly(fc.dictionary(fc.string(), mostly(empty))),
  extensions: mostly(fc.dictionary(fc.string(), mostly(fc.dictionary(fc.string(), setting, { maxKeys: 2 })))),
});
const clientInfo = members(
  {
    name: mostly(fc.string()),
    version: mostly(fc.string()),
    title: mostly(fc.string()),
    websiteUrl: mostly(fc.string()),
    icons: seldom(odd),
  },
  ["name", "version"],
);
const envelope = members(
  {
    "io.modelcontextprotocol/protocolVersion": mostly(fc.constant("2026-07-28")),
    "io.modelcontextprotocol/clientCapabilities": mostly(capabilities),
    "io.modelcontextprotocol/clientInfo": mostly(clientInfo),
    "io.modelcontextprotocol/logLevel": seldom(fc.constantFrom("debug", "loud")),
    "io.modelcontextprotocol/related-task": seldom(odd),
    progressToken: mostly(fc.oneof(fc.string(), fc.integer())),
    "com.example/x": odd,
  },
  ["io.modelcontextprotocol/protocolVersion", "io.modelcontextprotocol/clientCapabilities"],
);
const anyRequest = fc
  .record({
    id: fc.oneof(fc.string(), fc.integer()),
    method: fc.constantFrom("server/discover", "tools/list", "tools/call", "ping", "subscriptions/listen", "no/such"),
    envelope,
    more: fc.oneof(empty, members({ cursor: seldom(odd), notifications: odd, name: odd, requestState: odd })),
  })
  .map(({ id, method, envelope: meta, more }) => asSent(modern(id, method, more as object, meta as object)))
  .filter(({ params }) => modernMeta(params) !== undefined);

describe("plain requests of the modern era", () => {
  test("are answered as the library answers them, and calls are made whose envelope it accepts", async () => {
    const seen = { printed: 0, printing: 0, refused: 0, call: 0, unusual: 0 };
    await fc.assert(
      fc.asyncProperty(anyRequest, async (request) => {
        const answer = era.answer(request, metaOf(request));
        seen[answer.kind] += 1;
        if (answer.kind === "printed" || answer.kind === "printing")
          expect([JSON.parse(await answer.answer)]).toEqual(await asked(request));
        if (answer.kind === "call") expect(acceptsModern(request)).toBe(true);
        if (answer.kind !== "unusual") return;
        const said = await era.ask(request, client());
        if (said.kind === "line") expect(JSON.parse(said.answer)).toMatchObject({ id: request.id });
        else if (said.kind === "refused") {
          expect(acceptsModern(request)).toBe(false);
          expect(await asked(request)).toMatchObject([{ id: request.id, error: said.error }]);
        } else expect(request.method).toBe("tools/call");
      }),
      { numRuns: 1000 },
    );
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(20);
    expect(errors).toEqual([]);
  });

  test("what every client says of itself is plain", () => {
    const extension = { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html"] } };
    const said = [
      {},
      { roots: { listChanged: true }, sampling: {}, elicitation: {} },
      { elicitation: { form: {}, url: {} }, extensions: extension },
    ];
    const metas = said.map((each) => ({
      ...META,
      "io.modelcontextprotocol/clientCapabilities": each,
      progressToken: 1,
      traceparent: "00",
    }));
    expect(metas.map(isPlainEnvelope)).toEqual([true, true, true]);
    expect(isPlainEnvelope({ ...META, "io.modelcontextprotocol/logLevel": "debug" })).toBe(true);
    expect(isPlainEnvelope({ ...META, "io.modelcontextprotocol/clientInfo": undefined } as never)).toBe(true);
  });

  test("what the library may refuse is not plain", () => {
    const bent = [
      {},
      { ...META, "io.modelcontextprotocol/protocolVersion": "2026-07-29" },
      { ...META, "io.modelcontextprotocol/clientCapabilities": null },
      { ...META, "io.modelcontextprotocol/clientCapabilities": { elicitation: true } },
      { ...META, "io.modelcontextprotocol/clientCapabilities": { extensions: { a: 1 } } },
      { ...META, "io.modelcontextprotocol/clientCapabilities": { unheard: {} } },
      { ...META, "io.modelcontextprotocol/clientInfo": { name: "x" } },
      { ...META, "io.modelcontextprotocol/clientInfo": { name: "x", version: "1", icons: [] } },
      { ...META, "io.modelcontextprotocol/logLevel": "loud" },
    ];
    expect(bent.map((meta) => isPlainEnvelope(meta as JsonObject))).toEqual(bent.map(() => false));
  });
});

/**
 * The library on a connection of its own, with calls that come to `result`: its answers to `requests`, one after the
 * other.
 */
async function byLibrary(
  requests: readonly JSONRPCRequest[],
  result: Partial<CallResult> = {},
): Promise<readonly JSONRPCMessage[]> {
  const [client, transport] = InMemoryTransport.createLinkedPair();
  serveStdio(
    () => {
      const server = new Server(source.identity.serverInfo, { capabilities: { tools: {} } });
      const { texts = [], structuredContent, isError, facts } = result;
      const content = texts.map((text) => ({ type: "text", text }));
      server.setRequestHandler(
        "tools/call",
        async () => ({ content, structuredContent, isError, _meta: { "handrail/result": facts } }) as never,
      );
      server.setRequestHandler("tools/list", async () => ({ tools: [] }));
      return server;
    },
    { transport, legacy: "reject" },
  );
  const answers: JSONRPCMessage[] = [];
  for (const request of requests) {
    const answered = Promise.withResolvers<JSONRPCMessage>();
    client.onmessage = answered.resolve;
    await client.send(request);
    answers.push(await answered.promise);
  }
  await client.close();
  return answers;
}

test("the library is asked anew for every request: on a connection it looks at the revision of the first alone", async () => {
  const other = asSent(
    modern(2, "tools/list", {}, { ...META, "io.modelcontextprotocol/protocolVersion": "2025-11-25" }),
  );
  expect(await asked(other)).toMatchObject([{ id: 2, error: { code: -32022 } }]);
  expect(await byLibrary([other])).toMatchObject([{ id: 2, error: { code: -32022 } }]);
  expect(await byLibrary([asSent(modern(1, "tools/list")), other])).toMatchObject([
    { id: 1 },
    { id: 2, result: { tools: [] } },
  ]);
});

test.each([false, true])("the result of a call is printed as the library prints it (error: %s)", async (isError) => {
  const request = asSent(modern("a", "tools/call", { name: "read_file", arguments: {} }));
  const result = {
    texts: ["one\n", "[more]"],
    structuredContent: { content: "one\n" },
    facts: { status: "success" },
    isError,
    isMalformed: false,
  };
  expect(JSON.parse(printRound("a", result, era.frame))).toEqual((await byLibrary([request], result))[0]);
});
