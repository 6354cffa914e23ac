// One connection, two eras: each request is judged by the rules of the era that it claims.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  byId,
  codes,
  connect,
  exchange,
  initialize,
  legacy,
  META,
  modern,
  READ,
  READ_CALL,
} from "../../support/mcp-connection.ts";

describe("eras on one connection", () => {
  test("are served side by side, each by its own rules", async () => {
    const connection = connect();
    connection.write(initialize(), { jsonrpc: "2.0", method: "notifications/initialized" });
    await connection.until(1);
    connection.write(
      modern("m1", "tools/call", READ_CALL),
      legacy("l1", "tools/call", READ_CALL),
      modern("m2", "ping"),
      legacy("l2", "ping"),
      modern("m3", "server/discover"),
      legacy("l3", "tools/list"),
    );
    const answers = byId(await connection.end());
    expect(answers["m1"]).toMatchObject({ result: { resultType: "complete" } });
    expect(answers["l1"]).toMatchObject({ result: { isError: false } });
    expect(answers["l1"]?.["result"]).not.toHaveProperty("resultType");
    expect(answers["m2"]).toMatchObject({ error: { code: -32601 } });
    expect(answers["l2"]).toMatchObject({ result: {} });
    expect(answers["m3"]).toMatchObject({ result: { supportedVersions: ["2026-07-28"] } });
    expect(answers["l3"]?.["result"]).not.toHaveProperty("ttlMs");
    expect(connection.errors).toEqual([]);
  });

  test("a request of no era is refused and says how to begin; ping needs no beginning", async () => {
    const connection = connect();
    connection.write(
      legacy(1, "tools/list"),
      legacy(2, "tools/call", READ_CALL),
      legacy(3, "tools/call", { ...READ_CALL, _meta: { "io.modelcontextprotocol/clientCapabilities": {} } }),
      legacy(4, "server/discover"),
      legacy(5, "ping"),
    );
    const answers = byId(await connection.end());
    for (const id of ["1", "2", "3"])
      expect(answers[id]?.error).toMatchObject({
        code: -32602,
        message: expect.stringMatching(/initialize.*2026-07-28/),
      });
    expect(answers["4"]?.error).toMatchObject({ code: -32602, message: expect.stringContaining("clientCapabilities") });
    expect(answers["5"]).toMatchObject({ result: {} });
    expect(connection.calls).toEqual([]);
  });

  test("what only the modern era has stays refused in a legacy session", async () => {
    expect(
      codes(await exchange([initialize(), legacy(1, "subscriptions/listen", { notifications: {} })])),
    ).toContainEqual([1, -32602]);
  });

  test("an `initialize` that names another revision in `_meta` is a legacy one; of the modern revision it is refused, however bent", async () => {
    const params = initialize().params;
    const claiming = (_meta: object) =>
      exchange([{ ...initialize(), params: { ...params, _meta } }, legacy("list", "tools/list")]);
    const [other] = await claiming({ "io.modelcontextprotocol/protocolVersion": "2025-11-25" });
    expect(other).toMatchObject({
      result: { protocolVersion: "2025-11-25", serverInfo: { name: "handrail", version: "1.2.3" } },
    });
    const refused = { list: { error: { code: -32602 } } };
    expect(byId(await claiming(META))).toMatchObject({ init: { error: { code: -32601 } }, ...refused });
    const bent = { "io.modelcontextprotocol/protocolVersion": "2026-07-28" };
    expect(byId(await claiming(bent))).toMatchObject({
      init: { error: { code: -32022, data: { supported: ["2026-07-28"] } } },
      ...refused,
    });
  });

  test.each([
    ["no parameters", {}],
    ["a revision that is a number", { ...initialize().params, protocolVersion: 20251125 }],
    ["no capabilities", { ...initialize().params, capabilities: undefined }],
    ["a client without a name", { ...initialize().params, clientInfo: { version: "1" } }],
  ])("an `initialize` with %s is refused in words, and begins nothing", async (_, params) => {
    const answers = byId(await exchange([legacy(1, "initialize", params), legacy(2, "tools/list")]));
    expect(answers).toMatchObject({
      1: { error: { code: -32602, message: expect.stringContaining("clientInfo") } },
      2: { error: { code: -32602 } },
    });
  });

  test.each([
    [null],
    [[]],
    ["x"],
    [{ progressToken: {} }],
    [{ progressToken: 1.5 }],
    [{ "io.modelcontextprotocol/related-task": 1 }],
  ])("legacy metadata that is %j is refused, not left unanswered", async (_meta) => {
    const methods = ["ping", "tools/list", "resources/list"];
    const answers = await exchange([initialize(), ...methods.map((method) => legacy(method, method, { _meta }))]);
    for (const method of methods)
      expect(byId(answers)[method]).toMatchObject({
        error: { code: -32602, message: expect.stringContaining("_meta") },
      });
  });

  test("a legacy handshake never agrees on the modern revision", async () => {
    const [line] = await exchange([initialize("2026-07-28")]);
    expect(line).toMatchObject({ result: { protocolVersion: "2025-11-25" } });
  });

  test.each([null, 7, {}, []])("a legacy cursor that is no text is refused in plain words: %j", async (cursor) => {
    const answers = await exchange([initialize(), legacy(1, "tools/list", { cursor })]);
    expect(answers[1]).toEqual({ jsonrpc: "2.0", id: 1, error: { code: -32602, message: "`cursor` must be text" } });
  });

  test("a cursor is refused in both, for a list of one page has none", async () => {
    const answers = await exchange([
      initialize(),
      legacy(1, "tools/list", { cursor: "x" }),
      modern(2, "tools/list", { cursor: "x" }),
    ]);
    expect(byId(answers)).toMatchObject({ 1: { error: { code: -32602 } }, 2: { error: { code: -32602 } } });
  });

  test("an id is used once at a time, whichever era the two requests are of", async () => {
    const held = Promise.withResolvers<void>();
    const connection = connect(async () => {
      await held.promise;
      return READ;
    });
    connection.write(
      initialize(),
      legacy(1, "tools/call", READ_CALL),
      modern(1, "tools/call", READ_CALL),
      modern(1, "server/discover"),
    );
    const early = await connection.until(3);
    expect(codes(early.filter(({ id }) => id === null))).toEqual([
      [null, -32600],
      [null, -32600],
    ]);
    held.resolve();
    expect((await connection.end()).filter(({ id }) => id === 1)).toMatchObject([{ result: { isError: false } }]);
    expect(connection.calls).toHaveLength(1);
  });
});

const anyMeta = fc.oneof(
  fc.constant(META),
  fc.constant(undefined),
  fc.jsonValue({ maxDepth: 2 }),
  fc.record(
    Object.fromEntries(
      Object.keys(META).map((name) => [
        name,
        fc.oneof(fc.jsonValue({ maxDepth: 1 }), fc.constant({}), fc.constant("2026-07-28")),
      ]),
    ),
    { requiredKeys: [] },
  ),
);
const METHODS = [
  "initialize",
  "ping",
  "tools/list",
  "tools/call",
  "server/discover",
  "subscriptions/listen",
  "logging/setLevel",
  "nonsense",
];
const anyParams = fc.record({
  _meta: anyMeta,
  name: fc.jsonValue({ maxDepth: 0 }),
  arguments: fc.jsonValue({ maxDepth: 1 }),
  notifications: fc.jsonValue(),
});
const anyHandshake = fc.record({
  protocolVersion: fc.constantFrom("2025-11-25", "2025-03-26", "2026-07-28"),
  capabilities: fc.oneof(fc.constant({}), fc.jsonValue()),
  clientInfo: fc.constant({ name: "c", version: "1" }),
});
// Lines with a member `__proto__` are refused before they are messages, and answered by no id.
const anyRequest = fc
  .oneof(
    fc.record({ method: fc.constantFrom(...METHODS), params: anyParams }),
    fc.record({ method: fc.constant("initialize"), params: anyHandshake }),
  )
  .filter((request) => !JSON.stringify(request).includes('"__proto__"'));

test("whatever is asked, in whichever mixture of eras, each request is answered once", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyRequest, { minLength: 1, maxLength: 12 }), async (requests) => {
      const connection = connect();
      connection.write(...requests.map(({ method, params }, id) => ({ jsonrpc: "2.0", id, method, params })));
      const answers = (await connection.end()).filter((line) => "result" in line || "error" in line);
      expect(answers.map(({ id }) => id).sort()).toEqual(requests.map((_, id) => id).sort());
      for (const { error } of answers)
        if (error !== undefined) expect([-32601, -32602, -32603, -32022]).toContain(error.code);
    }),
    { numRuns: 200 },
  );
});
