/** What an observer of the kernel hears: one call for each answer, its stages in order, and no word of its content. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ToolFailure } from "../../../src/model/outcome/failure.ts";
import { CALL_STAGES, type ObservedCall } from "../../../src/model/outcome/observed-call.ts";
import { type MemoryKernelOptions, memoryKernel, testTool } from "../../support/memory-kernel.ts";

const PERMIT = `@id("test.permit")\n@message("m")\npermit (principal, action == Handrail::Action::"probe", resource);\n`;

async function observed(options: Partial<MemoryKernelOptions> = {}) {
  const calls: ObservedCall[] = [];
  const kernel = await memoryKernel({ observer: (call) => void calls.push(call), ...options });
  writeFileSync(join(kernel.root, "a.txt"), "one\n");
  const last = () => {
    expect(calls).toHaveLength(1);
    const [call] = calls;
    if (call === undefined) throw new Error("nothing was observed");
    return call;
  };
  return { ...kernel, calls, last };
}

test("a read is observed with its stages in the pipeline's order, which fill its time", async () => {
  const { call, session, last } = await observed();
  await call("read_file", { path: "a.txt" });
  const { stages, durationMs, ...rest } = last();
  expect(rest).toMatchObject({
    tool: "read_file",
    effect: "read",
    outcome: "success",
    sessionId: session.id,
    role: session.role,
    preset: "dev",
    hasRun: true,
    truncated: false,
    secretsFound: 0,
    commands: [],
  });
  expect(rest.outputBytes).toBeGreaterThan(0);
  const names = stages.map(({ stage }) => stage);
  expect(names).toEqual(CALL_STAGES);
  const sum = stages.reduce((total, stage) => total + stage.durationMs, 0);
  expect(Math.abs(sum - durationMs)).toBeLessThan(1);
  expect(stages.every((stage, index) => stage.startMs >= (stages[index - 1]?.startMs ?? 0))).toBe(true);
});

test("a refusal is observed in the stage that refused, with layer, reason and rule, and no message", async () => {
  const { call, last } = await observed();
  await call("read_file", { path: ".env" });
  const { stages, denial, hasRun, outcome } = last();
  expect({ outcome, hasRun, denial }).toMatchObject({
    outcome: "denied",
    hasRun: false,
    denial: { layer: "workspace", reason: "workspace_blocked_zone", ruleId: "ZONE:secret" },
  });
  expect(stages.map(({ stage }) => stage).slice(-2)).toEqual(["scope", "record"]);
  expect(Object.keys(denial ?? {})).toEqual(["layer", "reason", "ruleId"]);
});

test("a failure is observed with its code", async () => {
  const broken = testTool("probe", () => {
    throw new ToolFailure("IO_ERROR", "it broke", "mend it");
  });
  const { call, last } = await observed({ tools: [broken], policies: PERMIT });
  await call("probe", { path: "a.txt" });
  expect(last()).toMatchObject({ tool: "probe", outcome: "error", errorCode: "IO_ERROR", hasRun: true });
});

test("a name of no registered tool is not observed; a registered one is, also when the call was refused early", async () => {
  const { call, calls } = await observed();
  await call("no_such_tool", {});
  await call("read_file", { path: "a.txt" }, { token: "ses_wrong.guess" });
  expect(calls.map(({ tool, outcome }) => [tool, outcome])).toEqual([
    [undefined, "denied"],
    ["read_file", "denied"],
  ]);
});

test("a call that is answered again is observed as replayed, and not as run", async () => {
  const { call, calls } = await observed();
  await call("write_file", { path: "b.txt", content: "x" }, { dedupeKey: "key" });
  await call("write_file", { path: "b.txt", content: "x" }, { dedupeKey: "key" });
  expect(calls.map(({ outcome, hasRun }) => [outcome, hasRun])).toEqual([
    ["success", true],
    ["replayed", false],
  ]);
});

test("an observer that throws is reported, and the call is answered all the same", async () => {
  const kernel = await memoryKernel({
    observer: () => {
      throw new Error("observer broke");
    },
  });
  writeFileSync(join(kernel.root, "a.txt"), "one\n");
  const { outcome } = await kernel.call("read_file", { path: "a.txt" });
  expect(outcome.kind).toBe("success");
  expect(kernel.internalErrors).toMatchObject([{ message: "observer broke" }]);
});

test("what is observed holds no argument, output or path", async () => {
  const { call, last, root } = await observed();
  await call("write_file", { path: "names/canary-path.txt", content: "canary-content" });
  const told = JSON.stringify(last());
  expect(told).not.toContain("canary");
  expect(told).not.toContain(root);
});
