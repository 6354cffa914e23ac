/** `done` ends a turn and is heard of; `create_task` writes tasks for a foreman where the operator wants them. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createKernel, type SessionOptions } from "../../../src/server/doors/library.ts";
import { freshPlace, type Place } from "../../support/place.ts";

async function opened(wish: Omit<SessionOptions, "workspace"> = {}, settings = "", place: Place = freshPlace()) {
  place.put("config/handrail.yaml", settings);
  const options = { stateDirectory: place.state, configDirectory: place.config, environment: {} };
  const kernel = await createKernel(options);
  onTestFinished(() => kernel.close());
  const session = await kernel.openSession({ workspace: place.workspace, ...wish });
  const call = async (tool: string, args: object) => (await session.call(tool, args as never)).response.outcome;
  return { place, kernel, session, call };
}

const TASKS = "tasks:\n  directory: plans/tasks\n";

test("the end of a turn is answered, and told to whoever opened the session; the session goes on", async () => {
  const heard: string[] = [];
  const { call } = await opened({ onDone: (summary) => heard.push(summary) });
  expect(await call("done", { summary: "all tests pass" })).toMatchObject({
    kind: "success",
    data: { done: true, summary: "all tests pass" },
  });
  expect(heard).toEqual(["all tests pass"]);
  expect(await call("list_files", { path: "." })).toMatchObject({ kind: "success" });
});

test("a summary's secret is neither answered nor told", async () => {
  const heard: string[] = [];
  const { call } = await opened({ onDone: (summary) => heard.push(summary) });
  const outcome = await call("done", { summary: `used ghp_${"a1B2".repeat(9)} for it` });
  expect(JSON.stringify([outcome, heard])).not.toContain("a1B2a1B2");
  expect(heard[0]).toContain("[REDACTED:");
});

test("a foreman's task is a file, created once", async () => {
  const { place, call } = await opened({ mode: "foreman" }, TASKS);
  const task = { title: "Mend the Größe of ../baskets/", description: "It is wrong." };
  const first = await call("create_task", task);
  expect(first).toMatchObject({ kind: "success" });
  const [name = ""] = readdirSync(join(place.workspace, "plans/tasks"));
  expect(name).toMatch(/^mend-the-gro-e-of-baskets-[0-9a-f]{8}\.md$/);
  expect(readFileSync(join(place.workspace, "plans/tasks", name), "utf8")).toBe(
    "# Mend the Größe of ../baskets/\n\nIt is wrong.\n",
  );
  expect(await call("create_task", task)).toMatchObject({ kind: "error", code: "FILE_EXISTS" });
  expect(await call("create_task", { title: "two\nlines" })).toMatchObject({ kind: "denied" });
  expect(await call("read_file", { path: `plans/tasks/${name}` })).toMatchObject({ kind: "denied" });
});

test.each(["default", "coder", "smart"])("a session in the mode %s cannot create tasks", async (mode) => {
  const { call } = await opened({ mode }, TASKS);
  expect(await call("create_task", { title: "a" })).toMatchObject({
    kind: "denied",
    denial: { reason: expect.stringMatching(/^(permission_denied|tool_not_allowed)$/), ruleId: `MODE:${mode}` },
  });
});

test("where the operator keeps no tasks there is no tool for them", async () => {
  const { kernel, call } = await opened({ mode: "foreman" });
  expect(kernel.tools().map(({ name }) => name)).not.toContain("create_task");
  expect(await call("create_task", { title: "a" })).toMatchObject({ kind: "denied" });
});

test.each(["/tmp", "../x", "a/../b", "a//b", ""])("tasks cannot be kept in %j", async (directory) => {
  await expect(opened({}, `tasks:\n  directory: ${JSON.stringify(directory)}\n`)).rejects.toThrow("tasks.directory");
});

const ALL = [
  ["done", { summary: "s" }],
  ["read_file", { path: "a.txt" }],
  ["list_files", { path: "." }],
  ["write_file", { path: "b.txt", content: "b" }],
  ["shell", { command: "true" }],
  ["list_branches", {}],
  ["create_task", { title: "t" }],
  ["search_file", { path: ".", regex: "a" }],
  ["delete_file", { path: "a.txt" }],
] as const;

test.each([
  ["coder", "done read_file list_files write_file"],
  ["reviewer", "done read_file list_files"],
  ["council", "done"],
  ["foreman", "done create_task"],
  ["smart", "done read_file list_files write_file shell list_branches"],
])("a %s has the tools of Brio's table, and no other", async (mode, tools) => {
  const place = freshPlace();
  place.put("workspace/a.txt", "a\n");
  const { call } = await opened({ mode }, `preset: open\n${TASKS}`, place);
  const left: string[] = [];
  for (const [tool, args] of ALL) {
    const outcome = await call(tool, args);
    if (outcome.kind === "success") left.push(tool);
    else expect([tool, outcome.kind === "denied" && outcome.denial.layer]).toEqual([tool, "scope"]);
  }
  expect(left.sort()).toEqual(tools.split(" ").sort());
});
