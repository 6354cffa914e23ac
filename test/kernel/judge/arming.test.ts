/** Arming: what needs it runs only while it is armed, and arming that ends while a call waits ends the call. */
import { expect, test } from "vitest";
import { ARMING_MAX_MS } from "../../../src/base/limits.ts";
import type { CallResponse } from "../../../src/model/tool/call.ts";
import { type MemoryKernel, memoryKernel, START_MS, testTool } from "../../support/memory-kernel.ts";

const PERMIT = `@id("test.permit")\n@message("m")\npermit (principal, action == Handrail::Action::"probe", resource);\n`;
const ARMED_RULE = `@id("test.armed")\n@message("m")\nforbid (principal, action == Handrail::Action::"probe", resource) when { context.armed };\n`;
const ARM_RULE = `@id("test.arm")\n@message("m")\n@arm\npermit (principal, action == Handrail::Action::"probe", resource);\n`;
const probe = (capability: { readonly requiresArming?: boolean } = { requiresArming: true }) =>
  testTool("probe", () => ({ kind: "data", data: {} }), capability);

function endOf({ outcome }: CallResponse): readonly unknown[] {
  if (outcome.kind === "denied") return [outcome.denial.layer, outcome.denial.reason, outcome.denial.ruleId];
  return [outcome.kind];
}

const call = async (kernel: MemoryKernel) => endOf(await kernel.call("probe", { path: "a.txt" }));
const NEEDS_ARMING = ["gates", "tool_requires_arming", "CAPABILITY:probe"];

test("a tool that needs arming runs while its session is armed: not before, and not from the end on", async () => {
  const kernel = await memoryKernel({ tools: [probe()], policies: PERMIT });
  const arming = { sessionId: kernel.session.id, armedAtMs: START_MS, untilMs: START_MS + 1000, armedBy: "ada" };
  expect(await call(kernel)).toEqual(NEEDS_ARMING);
  await kernel.armings.putArming(arming);
  expect(await call(kernel)).toEqual(["success"]);
  kernel.time.nowMs = START_MS + 999;
  expect(await call(kernel)).toEqual(["success"]);
  kernel.time.nowMs = START_MS + 1000;
  expect(await call(kernel)).toEqual(NEEDS_ARMING);
});

test("a clock that was set back lengthens no arming beyond the longest that there is", async () => {
  const kernel = await memoryKernel({ tools: [probe()], policies: PERMIT });
  await kernel.armings.putArming({ armedAtMs: START_MS, untilMs: START_MS + ARMING_MAX_MS, armedBy: "ada" });
  expect(await call(kernel)).toEqual(["success"]);
  kernel.time.nowMs = START_MS - 1;
  expect(await call(kernel)).toEqual(NEEDS_ARMING);
});

test("another session's arming arms nobody else; an arming of all does", async () => {
  const kernel = await memoryKernel({ tools: [probe()], policies: PERMIT });
  await kernel.armings.putArming({
    sessionId: "ses_other",
    armedAtMs: START_MS,
    untilMs: START_MS + 1000,
    armedBy: "ada",
  });
  expect(await call(kernel)).toEqual(NEEDS_ARMING);
  await kernel.armings.putArming({ armedAtMs: START_MS, untilMs: START_MS + 1000, armedBy: "ada" });
  expect(await call(kernel)).toEqual(["success"]);
  await kernel.armings.removeArmings(undefined);
  expect(await call(kernel)).toEqual(NEEDS_ARMING);
});

test("a process that was started armed stays so", async () => {
  const kernel = await memoryKernel({ tools: [probe()], policies: PERMIT, settings: { armed: true } });
  expect(await call(kernel)).toEqual(["success"]);
});

test("a rule that arms is met by arming, and policy sees `context.armed`", async () => {
  const unarmed = await memoryKernel({ tools: [probe({})], policies: ARM_RULE });
  expect(await call(unarmed)).toEqual(["gates", "tool_requires_arming", "test.arm"]);
  const armed = await memoryKernel({ tools: [probe({})], policies: ARM_RULE, settings: { armed: true } });
  expect(await call(armed)).toEqual(["success"]);
  const seen = await memoryKernel({ tools: [probe({})], policies: PERMIT + ARMED_RULE, settings: { armed: true } });
  expect(await call(seen)).toEqual(["policy", "probe_denied", "test.armed"]);
  const unseen = await memoryKernel({ tools: [probe({})], policies: PERMIT + ARMED_RULE });
  expect(await call(unseen)).toEqual(["success"]);
});

test("arming that lapses while the intent is recorded ends the call before its effect", async () => {
  let ran = 0;
  const tool = testTool("probe", () => ({ kind: "data", data: { ran: ++ran } }), { requiresArming: true });
  const kernel = await memoryKernel({ tools: [tool], policies: PERMIT });
  await kernel.armings.putArming({ armedAtMs: START_MS, untilMs: START_MS + 1000, armedBy: "ada" });
  kernel.ledger.before = (event) => {
    if (event.type === "tool_selected") kernel.time.nowMs = START_MS + 1000;
  };
  expect(await call(kernel)).toEqual(NEEDS_ARMING);
  expect(ran).toBe(0);
});

test("a store of armings that fails denies, and runs nothing", async () => {
  const kernel = await memoryKernel({ tools: [probe()], policies: PERMIT });
  await kernel.marks.findMark(kernel.session);
  Object.assign(kernel.armings, { findArmedUntil: () => Promise.reject(new Error("broken")) });
  expect(await call(kernel)).toEqual(["error"]);
});
