/** `handrail mcp` as clients meet it: the official client, the Inspector's command line, and bare JSON-RPC. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { CALLS_IN_FLIGHT_MAX } from "../../../../src/base/limits.ts";
import { environmentOf, until } from "../../../support/command-line.ts";
import { readEvidence } from "../../../support/evidence.ts";
import { lockOf } from "../../../support/file-lock.ts";
import { facts, factsOf, textsOf } from "../../../support/mcp-result.ts";
import { freshPlace, makePlace, type Place } from "../../../support/place.ts";
import { MAIN } from "../../../support/program.ts";
import { connectRpc, startRpc } from "../../../support/rpc-client.ts";

const TOOLS = [
  "artifact_fetch",
  "artifact_publish",
  "branch_diff",
  "count_matches",
  "create_branch",
  "delete_file",
  "diagnostics",
  "done",
  "drop_branch",
  "edit_file",
  "find_usage",
  "get_related_tests",
  "get_system_map",
  "get_task_context",
  "git",
  "git_add",
  "git_checkout",
  "git_commit",
  "git_diff",
  "git_status",
  "install_dependencies",
  "list_branches",
  "list_files",
  "merge_branch",
  "put_content",
  "read_file",
  "rename_symbol",
  "run_lint",
  "run_test",
  "search_file",
  "search_knowledge",
  "shell",
  "web_fetch",
  "write_file",
];

describe("the official client", () => {
  let place: Place;
  let client: Client;

  beforeAll(async () => {
    place = makePlace();
    place.put("workspace/a.txt", "one\ntwo\n");
    place.put("workspace/.env", "KEY=1\n");
    client = new Client({ name: "test", version: "1" });
    const args = ["--disable-warning=ExperimentalWarning", MAIN, "mcp", "--workspace", place.workspace];
    await client.connect(
      new StdioClientTransport({ command: process.execPath, args, env: environmentOf(place), stderr: "inherit" }),
    );
  });

  afterAll(async () => {
    await client.close();
    place.remove();
  });

  test("is told who serves it and how", () => {
    expect(client.getServerVersion()).toMatchObject({
      name: "handrail",
      title: "Handrail",
      version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
    });
    expect(client.getServerCapabilities()).toMatchObject({ tools: {} });
    expect(client.getInstructions()).toContain("Role `dev`, preset `dev`");
  });

  test("lists every tool with its schemas and annotations, in a stable order", async () => {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(TOOLS);
    expect((await client.listTools()).tools).toEqual(tools);
    for (const tool of tools) {
      expect(tool.description?.length).toBeGreaterThan(20);
      expect(tool.inputSchema).toMatchObject({ type: "object", additionalProperties: false });
    }
    const structured = tools.filter(({ outputSchema }) => outputSchema !== undefined);
    expect(structured.map(({ name }) => name)).toEqual(["artifact_publish", "put_content"]);
    for (const { outputSchema } of structured) expect(outputSchema).toMatchObject({ type: "object" });
    // `edit_file` has `files` instead of `path`, too.
    const files = tools.filter(({ name }) => /(?<!edit_)file$|^count_matches$/.test(name));
    for (const { inputSchema } of files) expect(inputSchema.required).toContain("path");
    const hints = Object.fromEntries(tools.map(({ name, annotations }) => [name, annotations]));
    const reads = { readOnlyHint: true, openWorldHint: false };
    const writes = { readOnlyHint: false, destructiveHint: true, openWorldHint: false };
    expect(hints).toEqual({
      artifact_fetch: { ...reads },
      artifact_publish: { ...writes },
      branch_diff: { ...reads },
      count_matches: { ...reads },
      create_branch: { ...writes, destructiveHint: false },
      drop_branch: { ...writes, destructiveHint: false },
      list_branches: { ...reads },
      merge_branch: { ...writes },
      delete_file: { ...writes },
      edit_file: { ...writes },
      diagnostics: { ...reads },
      find_usage: { ...reads },
      get_related_tests: { ...reads },
      get_system_map: { ...reads },
      get_task_context: { ...reads },
      git: { ...writes },
      git_add: { ...writes },
      git_checkout: { ...writes },
      git_commit: { ...writes },
      done: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
      git_diff: { ...reads },
      git_status: { ...reads },
      install_dependencies: { ...writes },
      list_files: { ...reads },
      put_content: { ...writes },
      read_file: { ...reads },
      rename_symbol: { ...writes },
      run_lint: { ...writes },
      run_test: { ...writes },
      search_file: { ...reads },
      search_knowledge: { ...reads },
      shell: { ...writes },
      web_fetch: { ...writes, openWorldHint: true },
      write_file: { ...writes },
    });
  });

  test("calls the tools for files; the client finds each result to fit its schema", async () => {
    const call = (name: string, args: Record<string, unknown>) => client.callTool({ name, arguments: args });
    expect(await call("read_file", { path: "a.txt" })).toMatchObject({
      content: [{ type: "text", text: "one\ntwo\n" }],
      ...facts({ status: "success", metadata: { rules: ["dev.read-files"], truncated: false } }),
      isError: false,
    });
    expect(await call("write_file", { path: "new.txt", content: "new\n" })).toMatchObject({
      content: [{ type: "text", text: "created new.txt, which has 4 bytes now" }],
      ...facts({ status: "success" }),
    });
    expect(
      await call("edit_file", { path: "a.txt", edits: [{ operation: "replace", spec: "two", content: "2" }] }),
    ).toMatchObject({
      content: [{ text: "changed 1 place in a.txt" }, { text: expect.stringContaining("-two\n+2\n") }],
    });
    expect(await call("list_files", {})).toMatchObject({
      content: [{ type: "text", text: "a.txt\t6\nnew.txt\t4" }],
    });
    expect(readFileSync(join(place.workspace, "a.txt"), "utf8")).toBe("one\n2\n");
  });

  test("gets a refusal as a result that is an error, in words and in structure", async () => {
    expect(await client.callTool({ name: "read_file", arguments: { path: ".env" } })).toMatchObject({
      isError: true,
      content: [{ type: "text", text: expect.stringMatching(/^denied by ZONE:secret \(workspace_blocked_zone\): /) }],
      ...facts({
        status: "error",
        error: { code: "WORKSPACE_BLOCKED_ZONE", layer: "workspace", rule_id: "ZONE:secret" },
        metadata: { security_checks: "denied", ledger_sequence: expect.any(Number) },
      }),
    });
  });

  test("gets a failure as a result that is an error, with what to do next", async () => {
    expect(await client.callTool({ name: "read_file", arguments: { path: "none" } })).toMatchObject({
      isError: true,
      content: [
        {
          text: "FILE_NOT_FOUND: `none` does not exist; check the path, or use list_files to see which files there are",
        },
      ],
      ...facts({ error: { code: "FILE_NOT_FOUND", retryable: false } }),
    });
  });

  test("an unknown tool and arguments that do not fit are refused by the kernel, and recorded", async () => {
    const unknown = await client.callTool({ name: "run_command", arguments: { command: "id" } });
    const unfit = await client.callTool({ name: "read_file", arguments: { file: "a.txt" } });
    expect([unknown, unfit]).toMatchObject([
      { isError: true, ...facts({ error: { code: "TOOL_SPEC_MISSING" } }) },
      { isError: true, ...facts({ error: { code: "TOOL_INPUT_INVALID" } }) },
    ]);
  });

  test("CTR-0003: a call with a dedupe key is executed once, and answered the same each time", async () => {
    const args = { path: "once.txt", content: "x", append: true };
    const params = { name: "write_file", arguments: args, _meta: { "handrail/dedupe_key": "once" } };
    const first = await client.callTool(params);
    expect(first).toMatchObject({ ...facts({ status: "success" }) });
    const again = factsOf(await client.callTool(params));
    expect(again).toEqual({ ...factsOf(first), request_id: again.request_id });
    expect(await client.callTool({ name: "read_file", arguments: { path: "once.txt" } })).toMatchObject({
      content: [{ text: "x" }],
    });
    const other = { ...params, arguments: { ...args, content: "y" } };
    expect(await client.callTool(other)).toMatchObject({ ...facts({ error: { code: "DEDUPE_CONFLICT" } }) });
  });

  test("64 calls at once are each answered", async () => {
    const paths = Array.from({ length: 64 }, (_, index) => `many/${index}.txt`);
    const answers = await Promise.all(
      paths.map((path) => client.callTool({ name: "write_file", arguments: { path, content: path } })),
    );
    expect(answers.map(textsOf)).toEqual(paths.map((path) => [`created ${path}, which has ${path.length} bytes now`]));
  });
});

describe("bare JSON-RPC", () => {
  let place: Place;
  beforeEach(() => {
    place = freshPlace();
    place.put("workspace/a.txt", "a\n");
  });

  test.each(["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])(
    "revision %s is spoken",
    async (protocolVersion) => {
      const client = startRpc(place);
      const { result } = await client.request("initialize", {
        protocolVersion,
        capabilities: {},
        clientInfo: { name: "test", version: "1" },
      });
      expect(result).toMatchObject({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "handrail" } });
      client.notify("notifications/initialized");
      const listed = await client.request("tools/list");
      expect(listed.result).toMatchObject({ tools: TOOLS.map((name) => ({ name })) });
      expect(textsOf(await client.call("read_file", { path: "a.txt" }))).toEqual(["a\n"]);
      client.process.stdin.end();
      expect(await client.ended).toBe("0");
    },
  );

  test("an unknown revision is answered with one that is spoken", async () => {
    const client = startRpc(place);
    const params = { protocolVersion: "1999-01-01", capabilities: {}, clientInfo: { name: "test", version: "1" } };
    expect((await client.request("initialize", params)).result).toMatchObject({ protocolVersion: "2025-11-25" });
  });

  test("lines that are no messages are answered as such, and the connection lives on", async () => {
    const client = await connectRpc(place);
    client.write("{ not json\n");
    client.write("\n   \n");
    client.write('[{"jsonrpc":"2.0","id":1,"method":"ping"}]\n');
    client.write('{"jsonrpc":"1.0","id":2,"method":"ping"}\n');
    client.write('{"jsonrpc":"2.0","id":3}\n');
    client.write('"text"\n');
    const answers = (await client.answered(6)).slice(1);
    expect(answers.map(({ id, error }) => [id, error?.code])).toEqual([
      [null, -32700],
      [null, -32600],
      [2, -32600],
      [null, -32600],
      [null, -32600],
    ]);
    expect((await client.request("nonsense/method")).error).toMatchObject({ code: -32601 });
    expect((await client.call("read_file", { path: "a.txt" })).isError).toBe(false);
  });

  test("bytes that are not UTF-8 are refused, not repaired, and the connection lives on", async () => {
    const client = await connectRpc(place);
    const line = JSON.stringify({
      jsonrpc: "2.0",
      id: 40,
      method: "tools/call",
      params: { name: "write_file", arguments: { path: "caf\xe9", content: "" } },
    });
    client.process.stdin.write(Buffer.from(`${line}\n`, "latin1"));
    const [, refused] = await client.answered(2);
    expect([refused?.id, refused?.error?.code]).toEqual([null, -32700]);
    client.process.stdin.write(Buffer.from(`${line}\n`, "utf8")); // the same call in UTF-8
    expect((await client.answered(3))[2]).toMatchObject({
      id: 40,
      result: { content: [{ text: expect.stringContaining("created café") }] },
    });
    expect(readdirSync(place.workspace).sort()).toEqual(["a.txt", "café"]);
  });

  test.each([
    [
      "a dedupe key that is no string",
      { name: "list_files", arguments: { path: "." }, _meta: { "handrail/dedupe_key": { toString: 1 } } },
      "dedupe_key",
      "format",
    ],
    ["a name that is no string", { name: 7, arguments: {} }, "tool", "required"],
    ["no name", { arguments: {} }, "tool", "required"],
    ["arguments that are no object", { name: "list_files", arguments: ["a"] }, "call.arguments_json", "format"],
    ["arguments that are null", { name: "list_files", arguments: null }, "call.arguments_json", "format"],
    ["a wrong name beside a progress token", { name: 7, _meta: { progressToken: 1 } }, "tool", "required"],
    ["a wrong name beside a task", { name: 7, task: {} }, "tool", "required"],
  ])("a call with %s is refused by the kernel, and recorded", async (_, params, field, rule) => {
    const client = await connectRpc(place);
    const { result } = await client.request("tools/call", params);
    expect(result).toMatchObject({ isError: true, ...facts({ error: { code: "VALIDATION_FAILED" } }) });
    client.process.stdin.end();
    expect(await client.ended).toBe("0");
    const denied = (await readEvidence(place.state)).filter(({ entry }) => entry.eventType === "tool_execution_denied");
    expect(denied.map(({ payload }) => payload["violations"])).toEqual([[{ field, rule }]]);
  });

  test("a call with a progress token is answered", async () => {
    const client = await connectRpc(place);
    const params = { name: "read_file", arguments: { path: "a.txt" }, _meta: { progressToken: "p" } };
    expect((await client.request("tools/call", params)).result).toMatchObject({
      content: [{ text: "a\n" }],
    });
  });

  test("requests that only look like ones are refused, and do not keep the server from ending in good order", async () => {
    const client = await connectRpc(place);
    const call = { jsonrpc: "2.0", method: "tools/call", params: { name: "read_file", arguments: { path: "a.txt" } } };
    for (const bent of [{ id: {} }, { id: null }, { id: 1.5 }, { id: 501, params: "none" }, { id: 502, more: true }]) {
      client.write(`${JSON.stringify({ ...call, ...bent })}\n`);
    }
    const answers = (await client.answered(6)).slice(1);
    expect(answers.map(({ id, error }) => [id, error?.code])).toEqual(
      [null, null, null, 501, 502].map((id) => [id, -32600]),
    );
    client.process.stdin.end();
    expect(await client.ended).toBe("0");
  });

  test("an id that is in use by an unanswered request is refused", async () => {
    const client = await connectRpc(place);
    const call = {
      jsonrpc: "2.0",
      id: 7,
      method: "tools/call",
      params: { name: "read_file", arguments: { path: "a.txt" } },
    };
    client.write(`${JSON.stringify(call)}\n${JSON.stringify(call)}\n`);
    const answers = (await client.answered(3)).slice(1);
    expect(answers.map(({ id, error }) => [id, error?.code])).toEqual([
      [null, -32600],
      [7, undefined],
    ]);
  });

  test("nesting without end is refused before anything looks at it", async () => {
    const client = await connectRpc(place);
    const deep = "[".repeat(100_000) + "]".repeat(100_000);
    client.write(
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_file","arguments":{"path":${deep}}}}\n`,
    );
    client.write(`{"jsonrpc":"2.0","id":2,"method":"ping","params":${"[".repeat(2_000_000)}\n`);
    const answers = (await client.answered(3)).slice(1);
    // whoever waits for the answer hears of it, as far as it can be told who that is
    expect(answers.map(({ id, error }) => [id, error?.code])).toEqual([
      [1, -32600],
      [null, -32700],
    ]);
    expect((await client.call("read_file", { path: "a.txt" })).isError).toBe(false);
  });

  test("more cancelled calls than may be in flight leave the connection usable, and the server ends in good order", async () => {
    const client = await connectRpc(place);
    await lockOf(place, "a.txt");
    const edits = [{ operation: "replace", spec: "a", content: "b" }];
    for (let id = 1000; id < 1000 + CALLS_IN_FLIGHT_MAX + 10; id += 1) {
      void client.request("tools/call", { name: "edit_file", arguments: { path: "a.txt", edits } }, id);
      client.notify("notifications/cancelled", { requestId: id });
    }
    expect((await client.request("ping")).result).toEqual({});
    client.process.stdin.end();
    expect(await client.ended).toBe("0");
  });

  test("a message may come in pieces, and several in one piece", async () => {
    const client = await connectRpc(place);
    const ping = (id: number) => `${JSON.stringify({ jsonrpc: "2.0", id, method: "ping" })}\n`;
    client.write(ping(101).slice(0, 10));
    await new Promise((done) => setTimeout(done, 20));
    client.write(ping(101).slice(10) + ping(102) + ping(103).slice(0, 5));
    client.write(ping(103).slice(5));
    const answers = await client.answered(4);
    expect(answers.slice(1).map(({ id }) => id)).toEqual([101, 102, 103]);
  });

  test("a cancelled call is stopped, recorded as cancelled, and changes nothing", async () => {
    const client = await connectRpc(place);
    await lockOf(place, "a.txt");
    const edits = [{ operation: "replace", spec: "a", content: "b" }];
    void client.request("tools/call", { name: "edit_file", arguments: { path: "a.txt", edits } }, 900);
    const recorded = (find: (type: string, code: unknown) => boolean) => async () =>
      (await readEvidence(place.state)).some(({ entry, payload }) => find(entry.eventType, payload["errorCode"]));
    await until(recorded((type) => type === "tool_selected"));
    client.notify("notifications/cancelled", { requestId: 900, reason: "changed my mind" });
    await until(recorded((type, code) => type === "tool_executed" && code === "CANCELLED"));
    expect(readFileSync(join(place.workspace, "a.txt"), "utf8")).toBe("a\n");
    expect((await client.call("read_file", { path: "a.txt" })).isError).toBe(false);
  });

  test("what was asked before the input ended is still answered; then the session is revoked and the server ends", async () => {
    const client = await connectRpc(place);
    await client.call("write_file", { path: "a", content: "a" }); // what the first call loads is no part of the wait
    const calls = ["b", "c", "d"].map((name) => client.call("write_file", { path: name, content: name }));
    client.process.stdin.end();
    expect((await Promise.all(calls)).map((answer) => factsOf(answer).status)).toEqual([
      "success",
      "success",
      "success",
    ]);
    expect(await client.ended).toBe("0");
    expect((await readEvidence(place.state)).slice(-3).map(({ entry }) => entry.eventType)).toEqual([
      "session_revoked",
      "lease_released",
      "kernel_stopped",
    ]);
  });

  test.each(["SIGTERM", "SIGINT"] as const)("%s ends the server in good order", async (signal) => {
    const client = await connectRpc(place);
    client.process.kill(signal);
    expect(await client.ended).toBe("0");
    expect((await readEvidence(place.state)).slice(-3).map(({ entry }) => entry.eventType)).toEqual([
      "session_revoked",
      "lease_released",
      "kernel_stopped",
    ]);
  });

  test("a client that is killed takes its server with it", async () => {
    const pidFile = join(place.base, "server.pid");
    const script = `
      const { spawn } = require("node:child_process");
      const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", ${JSON.stringify(MAIN)}, "mcp"], { stdio: ["pipe", "pipe", "ignore"] });
      child.stdin.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\\n');
      child.stdout.once("data", () => require("node:fs").writeFileSync(${JSON.stringify(pidFile)}, String(child.pid)));`;
    const client = spawn(process.execPath, ["-e", script], {
      env: environmentOf(place),
      cwd: place.workspace,
      stdio: "ignore",
    });
    await until(() => existsSync(pidFile) && readFileSync(pidFile, "utf8") !== "");
    const server = Number(readFileSync(pidFile, "utf8"));
    expect(isRunning(server)).toBe(true);
    client.kill("SIGKILL");
    await once(client, "close");
    await until(() => !isRunning(server));
  });

  test("standard output carries messages alone, also when something is wrong", async () => {
    place.put("config/handrail.yaml", "no_such_key: 1\n");
    const client = startRpc(place);
    expect(await client.ended).toBe("1");
    expect(client.answers()).toEqual([]);
    expect(client.stderr()).toContain("handrail.yaml");
  });
});

function isRunning(processId: number): boolean {
  try {
    process.kill(processId, 0);
    return true;
  } catch {
    return false;
  }
}
