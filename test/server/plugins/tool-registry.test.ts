/** The registry, its builder and the executor, as meao's and Brio's programs use them. */
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { ApprovalManager } from "../../../src/approval/handler.ts";
import { createKernel } from "../../../src/server/doors/library.ts";
import { ToolExecutor } from "../../../src/server/doors/tool-executor.ts";
import { ToolRegistryBuilder } from "../../../src/server/plugins/registry-builder.ts";
import { registerBuiltinTools, ToolRegistry } from "../../../src/server/plugins/tool-registry.ts";
import type { ToolPlugin } from "../../../src/tools/plugin/plugin.ts";
import { freshPlace } from "../../support/place.ts";

const greet: ToolPlugin<{ name: string }> = {
  name: "greet",
  description: "Greets.",
  parameters: z.object({ name: z.string(), loud: z.boolean().optional() }),
  capability: { approval: { level: "auto" } },
  execute: async ({ name }) => ({ success: true, output: `Hello, ${name}` }),
};

test("meao: tools are registered once, found, listed and described", () => {
  const registry = new ToolRegistry();
  registry.register(greet);
  expect(() => registry.register(greet)).toThrow("already registered");
  expect(registry.get("greet")).toBe(greet);
  expect(registry.get("none")).toBeUndefined();
  expect(registry.getAll()).toEqual([greet]);
  expect(registry.getToolDefinitions()).toEqual([
    {
      name: "greet",
      description: "Greets.",
      parameters: expect.objectContaining({ type: "object", required: ["name"], additionalProperties: false }),
    },
  ]);
  expect(registry.help_text()).toBe("greet: Greets.\n  takes name, loud?");
  registerBuiltinTools(registry);
  expect(registry.getAll().map(({ name }) => name)).toContain("shell");
});

test("a registry without a session calls nothing", async () => {
  const registry = new ToolRegistry().register(greet);
  await expect(registry.execute("greet", { name: "a" })).rejects.toThrow("createKernel({ registry })");
});

async function built(registry: ToolRegistry) {
  const place = freshPlace();
  place.put("config/handrail.yaml", "preset: open\n");
  place.put("workspace/a.txt", "x".repeat(2000));
  place.put("workspace/one/two/three/deep.txt", "deep");
  place.put("workspace/package.json", "{}");
  const kernel = await createKernel({
    stateDirectory: place.state,
    configDirectory: place.config,
    environment: {},
    registry,
  });
  onTestFinished(() => kernel.close());
  await kernel.openSession({ workspace: place.workspace });
  return { place, kernel };
}

test("Brio: a built registry has what it was built with, within its limits, and nothing else", async () => {
  const registry = new ToolRegistryBuilder()
    .withDoneTool()
    .withReadTool(1000)
    .withListTool(2)
    .withWriteTool()
    .withShellTool(["cat", "npm ci"])
    .build();
  const { kernel } = await built(registry);
  expect(kernel.tools().map(({ name }) => name)).toEqual(["done", "list_files", "read_file", "shell", "write_file"]);
  const said = async (name: string, args: object) => {
    const { success, output, error } = await registry.execute(name, args as never);
    return success ? output : `failed: ${error ?? output}`;
  };
  expect(await said("read_file", { path: "a.txt" })).toContain("failed: ");
  expect(await said("read_file", { path: "a.txt", max_bytes: 100_000 })).toContain("failed: ");
  expect(await said("read_file", { path: "one/two/three/deep.txt" })).toBe("deep");
  expect(await said("list_files", { path: ".", recursive: true, max_depth: 9 })).not.toContain("deep.txt");
  expect(await said("shell", { command: "cat one/two/three/deep.txt" })).toBe("deep");
  for (const command of ["ls", "npm install", "cat a.txt; ls", "cat $(ls)", "env cat a.txt", "npm", 'eval "ls"'])
    expect([command, await said("shell", { command })]).toEqual([
      command,
      expect.stringContaining("may only run cat, npm ci"),
    ]);
  expect(await said("shell", { command: "npm ci --dry-run" })).not.toContain("may only run");
  await expect(registry.execute("delete_file", { path: "a.txt" })).rejects.toThrow("has no tool");
});

test("Brio: several calls are made in order, and stop at the first that fails unless they are to go on", async () => {
  const registry = new ToolRegistryBuilder().withReadTool().withWriteTool().build();
  await built(registry);
  const calls = [
    { name: "write_file", args: { path: "b.txt", content: "b" } },
    { name: "read_file", args: { path: "none.txt" } },
    { name: "read_file", args: { path: "b.txt" } },
  ];
  const successes = (results: readonly { readonly success: boolean }[]) => results.map(({ success }) => success);
  expect(successes(await registry.execute_all(calls))).toEqual([true, false]);
  expect(successes(await registry.executeAll(calls, { stopOnError: false }))).toEqual([true, false, true]);
});

test("meao: an executor on an approval manager calls in the session that its context names", async () => {
  const place = freshPlace();
  const approvals = new ApprovalManager();
  const answers = [true, false];
  approvals.setHandler({ request: async () => answers.shift() ?? false });
  const executor = new ToolExecutor(approvals);
  await expect(executor.execute(greet, { name: "a" }, { sessionId: "none" })).rejects.toThrow("no kernel was opened");
  const kernel = await createKernel({
    stateDirectory: place.state,
    configDirectory: place.config,
    environment: {},
    approvals,
    plugins: [greet],
  });
  onTestFinished(() => kernel.close());
  const session = await kernel.openSession({ workspace: place.workspace });
  const context = { sessionId: session.session.id };
  expect(await executor.execute(greet, { name: "a" }, context)).toMatchObject({ success: true, output: "Hello, a" });
  expect(await executor.execute(greet, { name: "b" }, context)).toMatchObject({
    success: false,
    label: { trustLevel: "system" },
    executionTime: expect.any(Number),
  });
  expect(await executor.execute("shell", { command: "echo o; echo e >&2; exit 3" }, context)).toMatchObject({
    success: false,
    output: "o\n\nSTDERR:\ne\n",
    error: "Exit code: 3",
    truncated: false,
  });
  await session.end();
  await expect(executor.execute(greet, { name: "a" }, context)).rejects.toThrow("no open session");
});
