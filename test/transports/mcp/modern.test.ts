// Revision 2026-07-28, line by line: what it requires, and what is refused with which words.
import { describe, expect, test } from "vitest";
import type { Outcome } from "../../../src/model/tool/call.ts";
import { RPC_ERROR_CHARACTERS_MAX } from "../../../src/transports/mcp/library.ts";
import {
  byId,
  codes,
  connect,
  denied,
  exchange,
  initialize,
  META,
  modern,
  READ,
  READ_CALL,
} from "../../support/mcp-connection.ts";

const CLIENT = { name: "test", version: "1" };

describe("the modern era", () => {
  test("golden lines of revision 2026-07-28", async () => {
    const connection = connect();
    connection.write(
      modern(1, "server/discover"),
      modern("two", "tools/list"),
      modern("three", "subscriptions/listen", { notifications: {} }),
    );
    await connection.until(4);
    connection.write(modern(4, "tools/call", READ_CALL));
    await connection.end();
    const server = '"io.modelcontextprotocol/serverInfo":{"name":"handrail","title":"Handrail","version":"1.2.3"}';
    const head = `"resultType":"complete","_meta":{${server}`;
    const hints = '"ttlMs":300000,"cacheScope":"private"';
    const tool =
      '{"name":"read_file","title":"Read a file","description":"Reads a file.","inputSchema":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"],"additionalProperties":false},"annotations":{"readOnlyHint":true,"openWorldHint":false}}';
    const metadata =
      '{"duration_ms":0,"security_checks":"passed","rules":["dev.read-files"],"label":{"trustLevel":"verified","dataClass":"internal","source":{"origin":"tool:read_file","timestamp":"2026-01-02T03:04:05Z"}},"truncated":false}';
    expect(connection.raw()).toEqual([
      `{"jsonrpc":"2.0","id":1,"result":{${head}},"supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true},"extensions":{"io.modelcontextprotocol/tasks":{}}},"instructions":"Be careful.",${hints}}}`,
      `{"jsonrpc":"2.0","id":"two","result":{${head}},"tools":[${tool}],${hints}}}`,
      '{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{},"_meta":{"io.modelcontextprotocol/subscriptionId":"three"}}}',
      `{"jsonrpc":"2.0","id":"three","result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":"three",${server}}}}`,
      `{"jsonrpc":"2.0","id":4,"result":{"resultType":"complete","content":[{"type":"text","text":"one\\n"}],"isError":false,"_meta":{${server},"handrail/result":{"request_id":"r1","status":"success","metadata":${metadata}}}}}`,
    ]);
  });

  test("every request is answered alone, whatever came before it and on whichever connection", async () => {
    const requests = [
      modern("discover", "server/discover"),
      modern("list", "tools/list"),
      modern("call", "tools/call", READ_CALL),
      modern("bad", "nonsense/method"),
      modern("old", "tools/list", {}, { ...META, "io.modelcontextprotocol/protocolVersion": "2025-11-25" }),
    ];
    const together = byId(await exchange(requests));
    expect(byId(await exchange([...requests].reverse()))).toEqual(together);
    expect(byId(await exchange([initialize(), ...requests]))).toMatchObject(together);
    for (const request of requests) expect(await exchange([request])).toEqual([together[String(request.id)]]);
  });

  const without = (member: string) => Object.fromEntries(Object.entries(META).filter(([name]) => name !== member));
  test.each([
    ["no capabilities", without("io.modelcontextprotocol/clientCapabilities"), -32602, "clientCapabilities"],
    [
      "capabilities that are null",
      { ...META, "io.modelcontextprotocol/clientCapabilities": null },
      -32602,
      "clientCapabilities",
    ],
    [
      "capabilities that are a list",
      { ...META, "io.modelcontextprotocol/clientCapabilities": [] },
      -32602,
      "clientCapabilities",
    ],
    [
      "a capability that is no object",
      { ...META, "io.modelcontextprotocol/clientCapabilities": { elicitation: true } },
      -32602,
      "elicitation",
    ],
    [
      "a revision that is no text",
      { ...META, "io.modelcontextprotocol/protocolVersion": 20260728 },
      -32602,
      "protocolVersion",
    ],
    [
      "a revision that is null",
      { ...META, "io.modelcontextprotocol/protocolVersion": null },
      -32602,
      "protocolVersion",
    ],
    [
      "a client without a version",
      { ...META, "io.modelcontextprotocol/clientInfo": { name: "x" } },
      -32602,
      "clientInfo",
    ],
    ["a client that is text", { ...META, "io.modelcontextprotocol/clientInfo": "x" }, -32602, "clientInfo"],
    ["a log level that is none", { ...META, "io.modelcontextprotocol/logLevel": "loud" }, -32602, "logLevel"],
    ["a progress token that is an object", { ...META, progressToken: {} }, -32602, "progressToken"],
    ["a progress token that is a fraction", { ...META, progressToken: 1.5 }, -32602, "progressToken"],
    [
      "a client whose icon has no address",
      { ...META, "io.modelcontextprotocol/clientInfo": { ...CLIENT, icons: [{}] } },
      -32602,
      "clientInfo",
    ],
    ["a task", { ...META, "io.modelcontextprotocol/related-task": 1 }, -32602, "related-task"],
    [
      "a revision of the future",
      { ...META, "io.modelcontextprotocol/protocolVersion": "2030-01-01" },
      -32022,
      "2030-01-01",
    ],
    ["a legacy revision", { ...META, "io.modelcontextprotocol/protocolVersion": "2025-11-25" }, -32022, "2026-07-28"],
    ["an empty revision", { ...META, "io.modelcontextprotocol/protocolVersion": "" }, -32022, "2026-07-28"],
  ])("%s: refused before anything happens", async (_, meta, code, named) => {
    for (const method of ["tools/call", "tools/list", "server/discover", "nonsense"]) {
      const connection = connect();
      connection.write(modern(1, method, READ_CALL, meta));
      const [line] = await connection.end();
      expect(line).toMatchObject({ id: 1, error: { code } });
      expect(JSON.stringify(line?.error)).toContain(named);
      expect(connection.calls).toEqual([]);
      expect(connection.errors).toEqual([]);
    }
  });

  test("an unsupported revision is answered with those that are; nothing that was sent is repeated at length", async () => {
    const long = "x".repeat(1_000_000);
    const [short, ...lines] = await exchange([
      modern(1, "tools/list", {}, { ...META, "io.modelcontextprotocol/protocolVersion": "1900-01-01" }),
      modern(2, "tools/list", {}, { ...META, "io.modelcontextprotocol/protocolVersion": long }),
      modern(
        3,
        "tools/list",
        {},
        { ...META, "io.modelcontextprotocol/clientCapabilities": { extensions: { [long]: 1 } } },
      ),
      modern(4, long),
    ]);
    expect(short).toMatchObject({
      error: { code: -32022, data: { supported: ["2026-07-28"], requested: "1900-01-01" } },
    });
    expect(codes(lines)).toEqual([
      [2, -32022],
      [3, -32602],
      [4, -32601],
    ]);
    for (const line of lines) expect(JSON.stringify(line).length).toBeLessThan(2 * RPC_ERROR_CHARACTERS_MAX);
  });

  test("a client that says unusual things of itself makes its calls like any other", async () => {
    const clientInfo = { ...CLIENT, icons: [{ src: "https://example.com/icon.png" }] };
    const meta = {
      ...META,
      "io.modelcontextprotocol/clientInfo": clientInfo,
      "io.modelcontextprotocol/logLevel": "info",
    };
    const connection = connect();
    connection.write(
      modern(1, "tools/call", READ_CALL, meta),
      modern(2, "tools/call", { name: 7 }, meta),
      modern(3, "tools/call", { ...READ_CALL, requestState: "forged" }, meta),
      modern(4, "tools/list", {}, meta),
    );
    const answers = byId(await connection.end());
    expect(answers[1]).toEqual(byId(await exchange([modern(1, "tools/call", READ_CALL)]))[1]);
    expect(answers[3]).toMatchObject({
      error: { code: -32602, message: expect.stringContaining("tool_approval_invalid") },
    });
    expect(answers[4]).toEqual(byId(await exchange([modern(4, "tools/list")]))[4]);
    // The malformed one as well: the kernel refuses it, and records that it did.
    expect(connection.calls.map(({ tool }) => tool)).toEqual(["read_file", ""]);
  });

  test("members of `_meta` that nobody knows, and a client that does not say who it is, are fine", async () => {
    const meta = {
      ...without("io.modelcontextprotocol/clientInfo"),
      "com.example/x": [1],
      traceparent: "00-0-0-01",
      unknown: null,
    };
    const [line] = await exchange([modern(1, "tools/call", READ_CALL, meta)]);
    expect(line).toMatchObject({ result: { resultType: "complete", isError: false } });
  });

  test.each([
    "ping",
    "initialize",
    "logging/setLevel",
    "resources/list",
    "prompts/list",
    "tasks/list",
    "constructor",
    "__proto__",
  ])("there is no method %s", async (method) => {
    expect(codes(await exchange([modern(1, method)]))).toEqual([[1, -32601]]);
  });

  test("an unknown tool and a malformed call are errors of the protocol with the kernel's words; a bad argument is a result", async () => {
    const outcomes: Readonly<Record<string, Outcome>> = {
      unknown: denied("gates", "tool_spec_missing"),
      malformed: denied("validate", "validation_failed"),
      argument: denied("call", "tool_input_invalid"),
    };
    const requests = Object.keys(outcomes).map((name) => modern(name, "tools/call", { name }));
    const answers = byId(await exchange(requests, async ({ tool }) => outcomes[tool] ?? READ));
    for (const id of ["unknown", "malformed"]) {
      expect(answers[id]).toMatchObject({
        error: { code: -32602, message: expect.stringContaining("RULE"), data: { status: "error" } },
      });
    }
    expect(answers["argument"]).toMatchObject({
      result: { resultType: "complete", isError: true, _meta: { "handrail/result": { status: "error" } } },
    });
  });

  test("state that was never given out is refused, answers to questions that were never asked are ignored", async () => {
    const answers = await exchange([
      modern(1, "tools/call", { ...READ_CALL, requestState: "forged" }),
      modern(2, "tools/call", { ...READ_CALL, inputResponses: { a: { action: "accept" } } }),
    ]);
    expect(codes(answers)).toEqual([
      [1, -32602],
      [2, undefined],
    ]);
  });

  test.each([[undefined], [[]], ["all"], [{ toolsListChanged: 1 }], [{ resourceSubscriptions: [1] }]])(
    "a subscription to %j is refused",
    async (notifications) => {
      expect(codes(await exchange([modern(1, "subscriptions/listen", { notifications })]))).toEqual([[1, -32602]]);
    },
  );

  test("a subscription to what does not change here is acknowledged for nothing and ends", async () => {
    const notifications = { toolsListChanged: false, promptsListChanged: true, resourceSubscriptions: ["file:///x"] };
    const [acknowledged, result] = await exchange([modern(7, "subscriptions/listen", { notifications })]);
    const _meta = { "io.modelcontextprotocol/subscriptionId": 7 };
    expect(acknowledged).toMatchObject({
      method: "notifications/subscriptions/acknowledged",
      params: { _meta, notifications: {} },
    });
    expect(result).toMatchObject({ id: 7, result: { resultType: "complete", _meta } });
  });
});
