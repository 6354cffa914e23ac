/** `handrail mcp` in both eras, as programs that nobody here wrote meet it, and by the lines of the documentation. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Client, ProtocolError } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { AjvJsonSchemaValidator } from "@modelcontextprotocol/server/validators/ajv";
import { describe, expect, onTestFinished, test } from "vitest";
import { environmentOf, handrail, linesOf, until } from "../../../support/command-line.ts";
import { DELETES_ANYTHING } from "../../../support/deleting.ts";
import { readEvidence } from "../../../support/evidence.ts";
import { lockOf } from "../../../support/file-lock.ts";
import { initialize, legacy, modern } from "../../../support/mcp-connection.ts";
import { inspect, mcpdo, serverCommand } from "../../../support/mcp-programs.ts";
import { facts, factsOf, textsOf } from "../../../support/mcp-result.ts";
import { freshPlace, type Place } from "../../../support/place.ts";
import { MAIN, PROJECT } from "../../../support/program.ts";

const TOOLS = ["edit_file", "list_files", "read_file", "write_file"];
const ERAS = ["modern", "legacy"] as const;

function placeWithFiles(): Place {
  const place = freshPlace();
  place.put("workspace/a.txt", "one\n");
  place.put("workspace/b.txt", "two\n");
  place.put("workspace/.env", "KEY=1\n");
  place.put("config/policy/deletes.cedar", DELETES_ANYTHING);
  return place;
}

/** The official client, connected in one era, or in the one that it finds out. */
async function connected(place: Place, era: "modern" | "legacy" | "auto"): Promise<Client> {
  const mode = era === "modern" ? { pin: "2026-07-28" } : era;
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
  const [command, ...args] = serverCommand(place);
  onTestFinished(() => client.close());
  await client.connect(new StdioClientTransport({ command, args, env: environmentOf(place), stderr: "inherit" }));
  return client;
}

describe.each([...ERAS, "auto"] as const)("the official client (%s)", (era) => {
  test("is told who serves it, lists, calls and is refused", async () => {
    const place = placeWithFiles();
    const client = await connected(place, era);
    expect(client.getNegotiatedProtocolVersion()).toBe(era === "legacy" ? "2025-11-25" : "2026-07-28");
    expect(client.getServerVersion()).toMatchObject({ name: "handrail", title: "Handrail" });
    expect(client.getInstructions()).toContain("Role `dev`, preset `dev`");
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(TOOLS));
    expect(tools.map(({ name }) => name)).toEqual(tools.map(({ name }) => name).sort());
    const call = (name: string, args: Record<string, unknown>) => client.callTool({ name, arguments: args });
    expect(await call("read_file", { path: "a.txt" })).toMatchObject({
      content: [{ type: "text", text: "one\n" }],
      ...facts({ status: "success" }),
    });
    expect(await call("write_file", { path: "new.txt", content: "new\n" })).toMatchObject({
      ...facts({ status: "success" }),
    });
    expect(await call("read_file", { path: ".env" })).toMatchObject({
      isError: true,
      ...facts({ error: { rule_id: "ZONE:secret" } }),
    });
    expect(await call("read_file", { file: "a.txt" })).toMatchObject({
      isError: true,
      ...facts({ error: { code: "TOOL_INPUT_INVALID" } }),
    });
  });

  test("cancels a call, which is stopped and recorded", async () => {
    const place = placeWithFiles();
    const client = await connected(place, era);
    await lockOf(place, "a.txt");
    const cancelling = new AbortController();
    const edits = [{ operation: "replace", spec: "one", content: "two" }];
    const call = client.callTool(
      { name: "edit_file", arguments: { path: "a.txt", edits } },
      { signal: cancelling.signal },
    );
    const failed = expect(call).rejects.toThrow();
    const recorded = (type: string, code?: string) => async () =>
      (await readEvidence(place.state)).some(
        ({ entry, payload }) => entry.eventType === type && (code === undefined || payload["errorCode"] === code),
      );
    await until(recorded("tool_selected"));
    cancelling.abort();
    await failed;
    await until(recorded("tool_executed", "CANCELLED"));
    expect(readFileSync(`${place.workspace}/a.txt`, "utf8")).toBe("one\n");
  });
});

test("an unknown tool is an error of the protocol in the modern era, a result before, and recorded in both", async () => {
  const place = placeWithFiles();
  const [modern, legacy] = await Promise.all([connected(place, "modern"), connected(place, "legacy")]);
  const call = { name: "no_such_tool", arguments: {} };
  const error = await modern.callTool(call).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ProtocolError);
  expect(error).toMatchObject({ code: -32602, data: { error: { code: "TOOL_SPEC_MISSING" } } });
  expect(await legacy.callTool(call)).toMatchObject({
    isError: true,
    ...facts({ error: { code: "TOOL_SPEC_MISSING" } }),
  });
  await Promise.all([modern.close(), legacy.close()]);
  const refused = async () =>
    (await readEvidence(place.state)).filter(({ entry }) => entry.eventType === "tool_execution_denied");
  await until(async () => (await refused()).length === 2);
});

describe("the protocol library", () => {
  const reportLoads = `import { registerHooks } from "node:module";
    registerHooks({ load(url, context, next) {
      if (url.includes("@modelcontextprotocol")) process.stderr.write("loads the library\\n");
      return next(url, context);
    } });`;
  const NODE_OPTIONS = `--import data:text/javascript,${encodeURIComponent(reportLoads)}`;
  const call = { name: "read_file", arguments: { path: "a.txt" } };
  const plain = {
    modern: [modern(1, "server/discover"), modern(2, "tools/list"), modern(3, "tools/call", call)],
    legacy: [initialize(), legacy(1, "tools/list"), legacy(2, "ping"), legacy(3, "tools/call", call)],
  };
  const unusual = { modern: modern(4, "no/such"), legacy: legacy(4, "no/such") };
  const served = async (requests: readonly object[]) => {
    const place = placeWithFiles();
    const input = requests.map((request) => `${JSON.stringify(request)}\n`).join("");
    const { stdout, stderr } = await handrail(place, ["mcp", "--workspace", place.workspace], {
      input,
      environment: { NODE_OPTIONS },
    });
    return { answers: linesOf(stdout).length, isLoaded: stderr.includes("loads the library") };
  };

  test.each(ERAS)("is not loaded for a plain client (%s), only for one that asks for more", async (era) => {
    const requests = plain[era];
    expect(await served(requests)).toEqual({ answers: requests.length, isLoaded: false });
    expect(await served([...requests, unusual[era]])).toEqual({ answers: requests.length + 1, isLoaded: true });
  });
});

test("a subscription is acknowledged for what changes, and lasts until its client ends it", async () => {
  const client = await connected(placeWithFiles(), "modern");
  const subscription = await client.listen({ toolsListChanged: true, promptsListChanged: true });
  expect(subscription.honoredFilter).toEqual({ toolsListChanged: true });
  await subscription.close();
});

type Schema = Parameters<AjvJsonSchemaValidator["getValidator"]>[0];

const CONTENT = "hello";
const CONTENT_HASH = "ea8f163db38682925e4491c5e58d4bb3506ef8c14eb78a86e908c5624a67200f";

/** A call of each tool that succeeds once the content is stored and there is a branch. */
const SUCCEEDING: Readonly<Record<string, object>> = {
  artifact_fetch: { content_hash: CONTENT_HASH },
  artifact_publish: { artifact_id: "a", category: "report", content_hash: CONTENT_HASH },
  branch_diff: { name: "first" },
  count_matches: { path: ".", regex: "o" },
  create_branch: { name: "second" },
  drop_branch: { name: "second" },
  list_branches: {},
  delete_file: { path: "b.txt" },
  done: { summary: "all is done" },
  put_content: { content: CONTENT },
  search_file: { path: ".", regex: "o" },
  search_knowledge: { query: "one" },
  find_usage: { symbol: "one" },
  diagnostics: { paths: ["a.txt"] },
  get_related_tests: { file_path: "a.txt" },
  get_system_map: {},
  get_task_context: { task_id: "T-1" },
  edit_file: { path: "a.txt", edits: [{ operation: "replace", spec: "one", content: "two" }] },
  list_files: { path: "." },
  read_file: { path: "a.txt" },
  write_file: { path: "c.txt", content: "c" },
};
/**
 * Tools that no call runs here: the preset stages or asks about them, or the workspace says nothing of tests, has no
 * repository, or no language server.
 */
const NOT_RUN = [
  ...["git", "git_add", "git_checkout", "git_commit", "git_diff", "git_status"],
  ...["install_dependencies", "merge_branch", "rename_symbol", "run_lint", "run_test", "shell", "web_fetch"],
];

/** A call that is refused by policy, one that fails, and one whose arguments do not fit. */
const FAILING = [
  ["read_file", { path: ".env" }],
  ["read_file", { path: "none" }],
  ["shell", { command: "ls" }],
  ["run_test", {}],
  ["git", { operation: "STATUS" }],
  ["install_dependencies", { manager: "npm" }],
  ["write_file", { path: "../x", content: "" }],
  ["edit_file", { path: "a.txt", edits: [{ operation: "replace", spec: "absent", content: "" }] }],
] as const;

test.each(ERAS)(
  "every result of the %s era is text that stands in it once, and structured where its tool declares a schema",
  async (era) => {
    const place = placeWithFiles();
    place.put("workspace/status.md", "# Task T-1: one\n");
    for (let file = 0; file < 2000; file += 1)
      place.put(`workspace/many/a-file-with-a-name-of-some-length-${file}.txt`, "");
    const client = await connected(place, era);
    const { tools } = await client.listTools();
    const validate = new AjvJsonSchemaValidator();
    const call = (name: string, args: object) => client.callTool({ name, arguments: { ...args } });
    /** What is wrong with a result. */
    const problem = (name: string, result: Awaited<ReturnType<typeof call>>): string | undefined => {
      const schema = tools.find((tool) => tool.name === name)?.outputSchema as Schema | undefined;
      if (textsOf(result).length === 0 || factsOf(result) === undefined)
        return "there is no text, or there are no facts";
      const { structuredContent } = result;
      if (result.isError || schema === undefined)
        return structuredContent === undefined ? undefined : "there is structured content beside the text";
      return validate.getValidator(schema)(structuredContent).errorMessage;
    };
    await call("put_content", { content: CONTENT });
    await call("create_branch", { name: "first" });
    for (const { name } of tools) {
      expect.soft(problem(name, await call(name, { no_such_argument: true }))).toBeUndefined();
      if (NOT_RUN.includes(name)) continue;
      const succeeded = await call(name, { ...SUCCEEDING[name] });
      expect.soft([name, succeeded.isError, problem(name, succeeded)]).toEqual([name, false, undefined]);
    }
    for (const [name, args] of FAILING) expect.soft(problem(name, await call(name, args))).toBeUndefined();
    const structured = tools.filter(({ outputSchema }) => outputSchema !== undefined).map(({ name }) => name);
    expect(structured).toEqual(["artifact_publish", "put_content"]);
    const large = await call("list_files", { path: "many", max_entries: 2000 });
    expect(textsOf(large)[1]).toMatch(/^\[the result has \d+ bytes of JSON.*"tool":"artifact_fetch"/);
    // The control: what does not fit is found.
    const schema = tools.find(({ name }) => name === "put_content")?.outputSchema as Schema;
    expect(validate.getValidator(schema)({ status: "fine" }).valid).toBe(false);
  },
);

describe.each(ERAS)("the Inspector (%s)", (era) => {
  test("lists tools whose schemas any client can take, and calls one", async () => {
    const place = placeWithFiles();
    const [listed, read] = await Promise.all([
      inspect(place, ["--protocol-era", era, "--method", "tools/list", "--strict"]),
      inspect(place, [
        "--protocol-era",
        era,
        "--method",
        "tools/call",
        "--tool-name",
        "read_file",
        "--tool-arg",
        "path=a.txt",
      ]),
    ]);
    expect(listed).toMatchObject({
      tools: expect.arrayContaining(TOOLS.map((name) => expect.objectContaining({ name }))),
    });
    expect(read).toMatchObject({ content: [{ type: "text", text: "one\n" }] });
  });

  test("mcpdo keeps a connection over several commands", async () => {
    const place = placeWithFiles();
    const run = mcpdo(place);
    const connection = JSON.parse(
      await run("--format", "json", "connect", "--era", era, "--", ...serverCommand(place)),
    ) as {
      name: string;
    };
    expect(connection).toMatchObject({ protocolEra: era });
    const ask = async (...args: readonly string[]) =>
      JSON.parse(await run("--format", "json", "--connection", connection.name, ...args)) as unknown;
    expect(await ask("tools/call", "write_file", "path:=d.txt", "content:=d")).toMatchObject({
      ...facts({ status: "success" }),
    });
    expect(await ask("tools/call", "read_file", "path:=d.txt")).toMatchObject({
      content: [{ type: "text", text: "d" }],
    });
  });
});

describe("the documentation's raw lines", () => {
  const documented = (file: string): string => {
    const text = readFileSync(fileURLToPath(new URL(`../../../../${file}`, import.meta.url)), "utf8");
    const example = /```sh\n(printf[^`]*\| \.\/handrail mcp[^\n]*)\n```/.exec(text)?.[1];
    if (example === undefined) throw new Error(`${file} has no raw line example`);
    return example;
  };

  test("answer as the page says", async () => {
    const place = freshPlace();
    place.put("workspace/README.md", "# Mine\n");
    const launcher = `${process.execPath} --disable-warning=ExperimentalWarning ${MAIN}`;
    const command = documented("docs/reference/protocol.md")
      .replace("./handrail", launcher)
      .replace("--workspace .", `--workspace ${place.workspace}`);
    const { stdout } = await promisify(execFile)("sh", ["-c", command], { cwd: PROJECT, env: environmentOf(place) });
    const answers = linesOf(stdout).map((line) => JSON.parse(line) as { readonly id: number });
    expect(answers.sort((left, right) => left.id - right.id)).toMatchObject([
      { id: 1, result: { resultType: "complete", supportedVersions: ["2026-07-28"] } },
      { id: 2, result: { resultType: "complete", content: [{ type: "text", text: "# Mine\n" }], isError: false } },
    ]);
  });
});
