/** Plugins in meao's shape: what they are given, what they answer, and what becomes of those that do it wrong. */
import { expect, test } from "vitest";
import { z } from "zod";
import type { PluginContext, ToolPlugin } from "../../../src/tools/plugin/plugin.ts";
import { pluginPlace, unasked } from "../../support/plugin-place.ts";

type Execute = ToolPlugin<Record<string, unknown>>["execute"];

function plugin(execute: Execute, more: Partial<ToolPlugin<Record<string, unknown>>> = {}): ToolPlugin<never> {
  return {
    name: "own",
    description: "Does something of its own.",
    parameters: z.object({
      path: z.string().optional(),
      command: z.string().optional(),
      list: z.array(z.string()).optional(),
    }),
    capability: { approval: { level: "auto" } },
    execute,
    ...more,
  } as ToolPlugin<never>;
}

const said = (output: string) => async () => ({ success: true, output });

test("a plugin without an analysis asks for every call, whatever it declares", async () => {
  const asking = await pluginPlace([plugin(said("x"))], { preset: "dev", settings: unasked("own") });
  expect(await asking.call("own", {})).toMatchObject({ kind: "denied", denial: { reason: "tool_approval_required" } });
  const { call } = await pluginPlace([plugin(said("x"))]);
  expect(await call("own", {})).toMatchObject({ kind: "success", data: { success: true, output: "x" } });
});

test("a plugin that is always denied stays so", async () => {
  const { call } = await pluginPlace([plugin(said("x"), { capability: { approval: { level: "always_deny" } } })]);
  expect(await call("own", {})).toMatchObject({ kind: "denied", denial: { reason: "tool_approval_denied" } });
});

test("meao's schemas let unknown properties through, and the kernel's do not", async () => {
  const { call } = await pluginPlace([plugin(said("x"))], { settings: unasked("own") });
  expect(await call("own", { surprise: 1 })).toMatchObject({
    kind: "denied",
    denial: { reason: "tool_input_invalid" },
  });
});

test("a plugin that fails has run: what it says is its answer, without secrets", async () => {
  const token = `ghp_${"Ab3dE6gH".repeat(5)}`;
  const failing = plugin(async () => ({ success: false, output: `tried ${token}`, error: "Exit code: 3" }));
  const { call } = await pluginPlace([failing], { settings: unasked("own") });
  const outcome = await call("own", {});
  expect(outcome).toMatchObject({ kind: "success", data: { success: false, error: "Exit code: 3" } });
  expect(JSON.stringify(outcome)).not.toContain(token);
});

test("with an analysis it runs the command that it names, in the sandbox, and no other", async () => {
  const named = { resource: { kind: "command", binary: "echo", line: "echo out", arguments: ["out"], dynamic: false } };
  const analyse = () => [
    {
      resource: { ...named.resource, inputFrom: [], via: [], dangers: [], characters: [] },
      effect: "exec",
      shellText: "echo out",
    },
  ];
  const running = plugin(
    async ({ command }, context: PluginContext) => {
      const { success, stdout, stderr, exitCode } = await context.sandbox.runContainer({
        command: String(command),
        workDir: context.workDir,
        memory: "512m",
        networkMode: "none",
      });
      return { success, output: stdout + stderr, error: success ? undefined : `Exit code: ${exitCode}` };
    },
    { analyse: analyse as never, capability: { effect: "exec", risk: "low", approval: { level: "auto" } } },
  );
  const { call } = await pluginPlace([running]);
  expect(await call("own", { command: "echo out" })).toMatchObject({ data: { success: true, output: "out\n" } });
  expect(await call("own", { command: "echo other" })).toMatchObject({ kind: "denied" });
});

const WRONG: readonly (readonly [string, () => Promise<unknown>, object])[] = [
  [
    "throws",
    async (): Promise<never> => {
      throw new Error("broken");
    },
    { kind: "success", data: { success: false, error: "broken" } },
  ],
  ["answers nothing", async () => undefined, { kind: "error", code: "OUTCOME_UNKNOWN" }],
  ["answers a text", async () => "text", { kind: "error", code: "OUTCOME_UNKNOWN" }],
  ["answers another shape", async () => ({ success: "yes", output: "" }), { kind: "error", code: "OUTCOME_UNKNOWN" }],
  [
    "answers too much",
    async () => ({ success: true, output: "x".repeat(17 * 1024 * 1024) }),
    { kind: "error", code: "OUTPUT_LIMIT" },
  ],
];

test.each(WRONG)("one that %s is contained, and the next call is answered", async (_, execute, outcome) => {
  const { call } = await pluginPlace([plugin(execute as never)], { settings: unasked("own") });
  expect(await call("own", {})).toMatchObject(outcome);
  expect(await call("read_file", { path: "a.txt" })).toMatchObject({ kind: "success" });
});

test("what it does to its arguments, to its approvals and to its answer afterwards nobody sees", async () => {
  const answer = { success: true, output: "first" };
  const mutating = plugin(async (args, context) => {
    (args["list"] as string[]).push("more");
    context.approvals.push("all:of:them");
    setTimeout(() => {
      answer.output = "later";
    }, 0);
    return answer;
  });
  const { call } = await pluginPlace([mutating], { settings: unasked("own") });
  const args = { list: ["one"] };
  expect(await call("own", args)).toMatchObject({ data: { output: "first" } });
  expect(args).toEqual({ list: ["one"] });
});

test("a context that is kept does nothing once the call has ended", async () => {
  let kept: PluginContext | undefined;
  const keeping = plugin(
    async ({ path }, context) => {
      kept = context;
      const { bytes } = await context.files.read(String(path), { bytesMax: 100 });
      return { success: true, output: Buffer.from(bytes).toString() };
    },
    {
      analyse: (({ path }: { path: string }) => [{ resource: { kind: "file", path }, effect: "read" }]) as never,
      capability: { effect: "read", risk: "low", approval: { level: "auto" } },
    },
  );
  const { call } = await pluginPlace([keeping]);
  expect(await call("own", { path: "a.txt" })).toMatchObject({ data: { output: "one\n" } });
  await expect(async () => kept?.files.read("a.txt", { bytesMax: 100 })).rejects.toThrow("the call has ended");
  await expect(kept?.sandbox.runContainer({ command: "true" })).rejects.toThrow("the call has ended");
  await expect(kept?.audit.log("own", "late")).rejects.toThrow("the call has ended");
});

test("a file that its analysis did not name is refused; the one that it named is read", async () => {
  const other = plugin(
    async (_, { files }) => {
      const { bytes } = await files.read("a.txt", { bytesMax: 100 });
      return { success: true, output: Buffer.from(bytes).toString() };
    },
    {
      analyse: (({ path = "a.txt" }: { path?: string }) => [
        { resource: { kind: "file", path }, effect: "read" },
      ]) as never,
      capability: { effect: "read", risk: "low", approval: { level: "auto" } },
    },
  );
  const { call } = await pluginPlace([other]);
  expect(await call("own", {})).toMatchObject({ data: { output: "one\n" } });
  expect(await call("own", { path: "b.txt" })).toMatchObject({ kind: "denied" });
});

test("without an analysis there are no files and no commands", async () => {
  const grasping = plugin(async (_, { files }) => {
    await files.read("a.txt", { bytesMax: 100 });
    return { success: true, output: "" };
  });
  const running = plugin(
    async (_, { sandbox }) => {
      await sandbox.runContainer({ command: "true" });
      return { success: true, output: "" };
    },
    { name: "running" },
  );
  const { call } = await pluginPlace([grasping, running], { settings: unasked("own", "running") });
  for (const tool of ["own", "running"])
    expect(await call(tool, {})).toMatchObject({ kind: "denied", denial: { ruleId: `ANALYSE:${tool}` } });
});

test.each([
  ["a built-in's name", { name: "shell" }, "already registered"],
  ["a name that is none", { name: "Bad Name" }, "must match"],
  ["a schema that is no object", { parameters: z.string() }, "must be a `z.object`"],
  [
    "output that it wants logged",
    { capability: { approval: { level: "auto" }, audit: { logOutput: true } } },
    "never logged",
  ],
  ["no code", { execute: undefined }, "has no `execute`"],
] as const)("a plugin with %s is refused at the start", async (_, more, words) => {
  await expect(pluginPlace([{ ...plugin(said("x")), ...more } as never])).rejects.toThrow(words);
});

test("arguments named like members of all objects stay arguments", async () => {
  const seen: string[] = [];
  const looking = plugin(async (args) => {
    seen.push(...Object.keys(args));
    return { success: true, output: String(({} as Record<string, unknown>)["polluted"]) };
  });
  const { call } = await pluginPlace([looking], { settings: unasked("own") });
  await call("own", JSON.parse('{"__proto__":{"polluted":"yes"}}'));
  expect(await call("own", {})).toMatchObject({ data: { output: "undefined" } });
});
