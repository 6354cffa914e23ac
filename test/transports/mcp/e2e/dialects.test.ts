/** `handrail mcp --dialect`: a client sees the system's tools, and reads its results. */
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { expect, onTestFinished, test } from "vitest";
import { environmentOf, handrail } from "../../../support/command-line.ts";
import { freshPlace } from "../../../support/place.ts";
import { MAIN } from "../../../support/program.ts";

async function clientOf(...flags: readonly string[]) {
  const place = freshPlace();
  place.put("workspace/a.txt", "one\ntwo\n");
  const client = new Client({ name: "test", version: "1" });
  const args = ["--disable-warning=ExperimentalWarning", MAIN, "mcp", "--workspace", place.workspace, ...flags];
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args, env: environmentOf(place), stderr: "inherit" }),
  );
  onTestFinished(() => client.close());
  const call = async (name: string, args: Record<string, unknown>) => {
    const { content, isError } = await client.callTool({ name, arguments: args });
    const [first] = content as readonly { readonly text?: string }[];
    return [isError === true, first?.text];
  };
  return { place, client, call };
}

test("meao's tools by their names, with what they take", async () => {
  const { client, call } = await clientOf("--dialect", "meao", "--preset", "open");
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(["bash", "edit", "read", "web_fetch", "write"]);
  expect(tools.find(({ name }) => name === "bash")?.inputSchema).toMatchObject({
    required: ["command"],
    properties: { workDir: { type: "string" } },
    additionalProperties: false,
  });
  expect(tools.find(({ name }) => name === "read")?.annotations).toMatchObject({ readOnlyHint: true });
  expect(await call("read", { path: "a.txt" })).toEqual([false, "one\ntwo\n"]);
  expect(await call("bash", { command: "echo out; exit 3" })).toEqual([false, "out\n\nExit code: 3"]);
  expect(await call("read_file", { path: "a.txt" })).toEqual([
    true,
    "the dialect `meao` has no tool `read_file`; use one of read, write, edit, bash, web_fetch",
  ]);
});

test("Brio's tools, as its mode leaves them", async () => {
  const { client, call } = await clientOf("--dialect", "brio", "--mode", "reviewer");
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(["done", "ls", "read_file"]);
  expect(await call("ls", {})).toEqual([false, "a.txt"]);
  expect(await call("read_file", { path: "/etc/passwd" })).toEqual([
    true,
    "the arguments do not fit `read_file`: `path`: absolute paths are refused; name it from the workspace's root",
  ]);
});

test("the command line lists a dialect's tools, and names the dialects to who asks for another", async () => {
  const place = freshPlace();
  const listed = await handrail(place, ["tools", "--dialect", "apm2", "--workspace", place.workspace, "--json"]);
  expect(JSON.parse(listed.stdout).data.map(({ name }: { name: string }) => name)).toEqual([
    "artifact_publish",
    "file_edit",
    "file_read",
    "file_write",
    "git_op",
    "shell_exec",
  ]);
  const wrong = await handrail(place, ["tools", "--dialect", "latin", "--workspace", place.workspace]);
  expect([wrong.code, wrong.stderr]).toEqual([64, expect.stringContaining("use one of flow, meao, brio, apm2")]);
  const called = await handrail(place, [
    ...["call", "--dialect", "brio", "--workspace", place.workspace],
    ...["write_file", "path=b.txt", "content=b", "--json"],
  ]);
  expect(JSON.parse(called.stdout)).toMatchObject({ data: { output: "wrote 1 bytes to b.txt" } });
});
