/**
 * Cancellation: a call that nobody waits for does not start, or is told to stop; either way it is answered and
 * recorded.
 */
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { CANCEL_GRACE_MS } from "../../src/base/limits.ts";
import { ToolFailure } from "../../src/model/outcome/failure.ts";
import type { ToolContext } from "../../src/model/tool/tool.ts";
import { memoryKernel, testTool } from "../support/memory-kernel.ts";

afterEach(() => void vi.useRealTimers());

test("a call that was cancelled before it ran has no effect, and its intent is closed", async () => {
  const { call, root, ledger } = await memoryKernel();
  const { outcome } = await call("write_file", { path: "a.txt", content: "new" }, { signal: AbortSignal.abort() });
  expect(outcome).toEqual({
    kind: "error",
    code: "CANCELLED",
    message: "the call was cancelled before it ran",
    suggestion: "send it again if it is still wanted",
    retryable: false,
    retryAfterMs: 0,
  });
  expect(existsSync(join(root, "a.txt"))).toBe(false);
  expect(ledger.events.map(({ type, closes, payload }) => [type, closes, payload["errorCode"]])).toEqual([
    ["tool_selected", undefined, undefined],
    ["tool_executed", 1, "CANCELLED"],
  ]);
  expect(ledger.of("tool_executed")[0]?.payload["ran"]).toBe(false);
});

test("a call that is cancelled while its intent is recorded does not run", async () => {
  const cancel = new AbortController();
  const { call, ledger, root } = await memoryKernel();
  ledger.before = ({ type }) => (type === "tool_selected" ? cancel.abort() : undefined);
  const { outcome } = await call("write_file", { path: "a.txt", content: "new" }, { signal: cancel.signal });
  expect(outcome).toMatchObject({ kind: "error", code: "CANCELLED" });
  expect(existsSync(join(root, "a.txt"))).toBe(false);
});

test("a running tool that heeds its signal ends by itself", async () => {
  const cancel = new AbortController();
  const patient = testTool("patient", async (_, { signal }: ToolContext) => {
    cancel.abort();
    if (!signal.aborted) await once(signal, "abort");
    throw new ToolFailure("CANCELLED", "stopped half way", "send it again");
  });
  const { call, ledger } = await memoryKernel({ tools: [patient] });
  const { outcome } = await call("patient", { path: "a" }, { signal: cancel.signal });
  expect(outcome).toMatchObject({ kind: "error", code: "CANCELLED", message: "stopped half way" });
  expect(ledger.of("tool_executed")[0]).toMatchObject({ closes: 1, payload: { errorCode: "CANCELLED" } });
  expect(ledger.of("tool_executed")[0]?.payload).not.toHaveProperty("ran");
});

test("a running tool that throws why it was cancelled met no internal error, and has changed nothing", async () => {
  const cancel = new AbortController();
  const obedient = testTool("obedient", async (_, { signal }: ToolContext) => {
    cancel.abort();
    await new Promise((done) => setImmediate(done));
    signal.throwIfAborted();
    return { kind: "data", data: {} };
  });
  const { call, internalErrors } = await memoryKernel({ tools: [obedient] });
  const { outcome } = await call("obedient", { path: "a" }, { signal: cancel.signal });
  expect([outcome, internalErrors]).toEqual([
    expect.objectContaining({ code: "CANCELLED", message: "the call was cancelled before it had changed anything" }),
    [],
  ]);
});

test("a running tool that ends well within the grace period has succeeded", async () => {
  const cancel = new AbortController();
  const quick = testTool("quick", async () => {
    cancel.abort();
    await new Promise((done) => setImmediate(done));
    return { kind: "data", data: { done: true } };
  });
  const { call } = await memoryKernel({ tools: [quick] });
  expect((await call("quick", { path: "a" }, { signal: cancel.signal })).outcome).toMatchObject({
    kind: "success",
    data: { done: true },
  });
});

test("a running tool that ignores its signal is abandoned after the grace period, with an unknown outcome", async () => {
  const started = Promise.withResolvers<void>();
  const deaf = testTool("deaf", () => {
    started.resolve();
    return Promise.withResolvers<never>().promise;
  });
  const cancel = new AbortController();
  const { call, ledger } = await memoryKernel({ tools: [deaf] });
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  let answered = false;
  const response = call("deaf", { path: "a" }, { signal: cancel.signal }).finally(() => {
    answered = true;
  });
  await started.promise;
  cancel.abort();
  await vi.advanceTimersByTimeAsync(CANCEL_GRACE_MS - 1);
  expect(answered).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect((await response).outcome).toMatchObject({ kind: "error", code: "OUTCOME_UNKNOWN", retryable: false });
  expect(ledger.of("tool_executed")[0]).toMatchObject({ closes: 1, payload: { errorCode: "OUTCOME_UNKNOWN" } });
});

test("a tool that fails after it was abandoned disturbs nobody", async () => {
  const started = Promise.withResolvers<void>();
  const late = Promise.withResolvers<never>();
  const slow = testTool("slow", () => {
    started.resolve();
    return late.promise;
  });
  const cancel = new AbortController();
  const { call, internalErrors } = await memoryKernel({ tools: [slow] });
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const response = call("slow", { path: "a" }, { signal: cancel.signal });
  await started.promise;
  cancel.abort();
  await vi.advanceTimersByTimeAsync(CANCEL_GRACE_MS);
  await response;
  late.reject(new Error("too late"));
  await new Promise((done) => setImmediate(done));
  expect(internalErrors).toEqual([]);
});
