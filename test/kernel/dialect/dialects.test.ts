/** Dialects: each system's names, arguments, results and errors, with the kernel's own words in the evidence. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { DIALECT_NAMES } from "../../../src/model/people/dialect.ts";
import { dialectPlace } from "../../support/dialect-place.ts";
import { readEvidence } from "../../support/evidence.ts";

test("Flow: the kernel's names, and its own spelling of errors", async () => {
  const { speaking } = await dialectPlace("preset: dev\n");
  const { call } = await speaking("flow");
  expect(await call("read_file", { path: "a.txt" })).toMatchObject({
    status: "success",
    data: { content: "one\ntwo\n" },
    metadata: { security_checks: "passed" },
  });
  const codeOf = async (tool: string, args: object) => {
    const { error } = (await call(tool, args as never)) as { error?: { code: string } };
    return error?.code;
  };
  expect(await codeOf("read_file", { path: "none.txt" })).toBe("FileNotFound");
  expect(await codeOf("read_file", { path: "../x" })).toBe("SecurityError");
  expect(await codeOf("read_file", { path: ".env" })).toBe("SecurityError");
  expect(await codeOf("git_push", { remote: "origin", branch: "main" })).toBe("PermissionDenied");
  expect(await codeOf("read_file", { path: 7 })).toBe("InvalidArgument");
  expect(await codeOf("read_file", { path: "src" })).toBe("NotAFile");
  expect(await codeOf("run_command", { command: "ls" })).toBe("ToolNotFound");
  expect(await codeOf("write_file", { path: "a.txt", content: "x", create_only: true })).toBe("FileExists");
  expect(await call("rag_search_knowledge", { query: "three" })).toMatchObject({ status: "success" });
});

test("meao: its five names, results as success and output, a failed command as its exit code", async () => {
  const { place, speaking } = await dialectPlace();
  const { call, text } = await speaking("meao");
  expect(await call("read", { path: "a.txt" })).toMatchObject({
    data: {
      success: true,
      output: "one\ntwo\n",
      truncated: false,
      label: { trustLevel: "verified", source: { origin: "tool:read_file" } },
      executionTime: expect.any(Number),
    },
  });
  await call("write", { path: "new.txt", content: "new" });
  await call("edit", { path: "new.txt", oldText: "new", newText: "newer" });
  expect(readFileSync(join(place.workspace, "new.txt"), "utf8")).toBe("newer");
  expect(
    await call("bash", { command: "echo out; echo err >&2; exit 3", workDir: "src", timeout: 60_000 }),
  ).toMatchObject({
    status: "success",
    data: { success: false, output: "out\n\nSTDERR:\nerr\n", error: "Exit code: 3" },
  });
  expect(await text("bash", { command: "pwd", workDir: "src" })).toBe("/workspace/src\n");
  expect(await text("read", { path: "none.txt" })).toMatch(/^`?none\.txt/);
  expect(await text("list_files", { path: "." })).toContain(
    "the dialect `meao` has no tool `list_files`; use one of read",
  );
});

test("meao: what needs approval says so in its words", async () => {
  const { speaking } = await dialectPlace("preset: meao\n");
  const { text } = await speaking("meao");
  expect(await text("bash", { command: "ls" })).toMatch(/^Approval denied: /);
  expect(await text("web_fetch", { url: "http://169.254.169.254/" })).toMatch(/^Network blocked: /);
});

test("Brio: text in, text out", async () => {
  const { place, speaking } = await dialectPlace();
  const { text } = await speaking("brio");
  expect(await text("read_file", { path: "a.txt" })).toBe("one\ntwo\n");
  expect(await text("write_file", { path: "c.txt", content: "abc" })).toBe("wrote 3 bytes to c.txt");
  expect(readFileSync(join(place.workspace, "c.txt"), "utf8")).toBe("abc");
  expect(await text("ls", {})).toBe("a.txt\nc.txt\nsrc/");
  expect(await text("grep", { pattern: "two" })).toBe("a.txt:2:two\nsrc/b.txt:1:two three");
  expect(await text("grep", { pattern: "t.o" })).toBe("");
  expect(await text("shell", { command: "cat a.txt" })).toBe("one\ntwo\n");
  expect(await text("shell", { command: "cat none" })).toContain("Exit code: 1");
  expect(await text("done", { summary: "finished" })).toBe("finished");
  expect(await text("list_branches", {})).toBe("");
});

test("APM2: the variants of the wire by name", async () => {
  const { place, speaking } = await dialectPlace();
  const { call } = await speaking("apm2");
  expect(await call("file_read", { path: "a.txt", offset: 4, limit: 0 })).toMatchObject({ data: { content: "two\n" } });
  expect(await call("file_write", { path: "d.txt", content: "d", create_only: true })).toMatchObject({
    status: "success",
  });
  expect(await call("file_edit", { path: "d.txt", old_content: "d", new_content: "e" })).toMatchObject({
    status: "success",
  });
  expect(readFileSync(join(place.workspace, "d.txt"), "utf8")).toBe("e");
  expect(await call("shell_exec", { command: "echo $A", env: ["A=b"] })).toMatchObject({ data: { stdout: "b\n" } });
  expect(await call("git_op", { operation: "STATUS" })).toHaveProperty("status");
});

test.each(DIALECT_NAMES)("the evidence of a call in %s has the kernel's name of the tool", async (dialect) => {
  const { place, kernel, speaking } = await dialectPlace();
  const session = await speaking(dialect);
  const words = { flow: "write_file", meao: "write", brio: "write_file", apm2: "file_write" };
  await session.call(words[dialect], { path: "new.txt", content: "x" });
  await kernel.close();
  const evidence = await readEvidence(place.state);
  const created = evidence.find(({ entry }) => entry.eventType === "session_created");
  const executed = evidence.find(({ entry }) => entry.eventType === "tool_executed");
  expect([created?.payload?.["dialect"], executed?.payload?.["tool"]]).toEqual([dialect, "write_file"]);
});

test("there are no other dialects", async () => {
  const { speaking } = await dialectPlace();
  await expect(speaking("klingon")).rejects.toThrow("use one of flow, meao, brio, apm2");
});
