/** Rate limits through the whole pipeline: an error that says when to come again, never a denial. */
import { expect, onTestFinished, test, vi } from "vitest";
import { KernelError } from "../../src/base/errors.ts";
import { RATE_SLICE_MS, Rates } from "../../src/budget/rates.ts";
import type { SpendingLimits } from "../../src/model/spending/spending-limits.ts";
import type { Tool } from "../../src/model/tool/tool.ts";
import { openBudgetStores } from "../../src/stores/embedded/budgets/budget-stores.ts";
import { SAMPLE_SESSION } from "../stores/contract.ts";
import { type MemoryKernelOptions, memoryKernel, START_MS, testTool } from "../support/memory-kernel.ts";
import { freshDirectory } from "../support/store-place.ts";

const READ = { path: "a.txt" };
const done: Tool["execute"] = () => ({ kind: "data", data: {} });
type RateWishes = Partial<NonNullable<SpendingLimits["rates"]>>;

function limits(rates: RateWishes): SpendingLimits {
  return { id: "test", rates: { tools: new Map(), ...rates } };
}

function paced(rates: RateWishes, more: MemoryKernelOptions = {}) {
  const tools = [testTool("probe", done, { effect: "read" }), testTool("other", done, { effect: "read" })];
  return memoryKernel({ settings: { limits: limits(rates) }, tools, ...more });
}

test("a call too many is answered with an error that says when to send it again, and then it runs", async () => {
  const kernel = await paced({ principal: { callsPerMinute: 60, burst: 2 } });
  expect((await kernel.call("probe", READ)).outcome.kind).toBe("success");
  expect((await kernel.call("probe", READ)).outcome.kind).toBe("success");
  expect((await kernel.call("probe", READ)).outcome).toEqual({
    kind: "error",
    code: "RATE_LIMITED",
    message: "calls of this agent come faster than the operator allows, so that this one was not made",
    suggestion: "send it again in 1000 ms",
    retryable: true,
    retryAfterMs: 1000,
  });
  kernel.time.nowMs = START_MS + 999;
  expect((await kernel.call("probe", READ)).outcome).toMatchObject({ code: "RATE_LIMITED", retryAfterMs: 1 });
  kernel.time.nowMs = START_MS + 1000;
  expect((await kernel.call("probe", READ)).outcome.kind).toBe("success");
});

test("a session and a tool have rates of their own; a call that one refuses takes nothing of the others", async () => {
  const tools = new Map([["probe", { callsPerMinute: 1, burst: 1 }]]);
  const kernel = await paced({ session: { callsPerMinute: 60, burst: 3 }, tools });
  expect((await kernel.call("probe", READ)).outcome.kind).toBe("success");
  expect((await kernel.call("probe", READ)).outcome).toMatchObject({ code: "RATE_LIMITED", retryAfterMs: 60_000 });
  expect((await kernel.call("other", READ)).outcome.kind).toBe("success");
  expect((await kernel.call("other", READ)).outcome.kind).toBe("success");
  expect((await kernel.call("other", READ)).outcome).toMatchObject({ code: "RATE_LIMITED", retryAfterMs: 1000 });
});

test("a call that one bucket refuses takes nothing of what the kernel holds of another", async () => {
  const tools = new Map([["probe", { callsPerMinute: 1, burst: 1 }]]);
  const kernel = await paced({ session: { callsPerMinute: 60, burst: 32 }, tools });
  expect((await kernel.call("probe", READ)).outcome.kind).toBe("success");
  for (let refused = 0; refused < 4; refused += 1)
    expect((await kernel.call("probe", READ)).outcome).toMatchObject({ code: "RATE_LIMITED" });
  let admitted = 0;
  while ((await kernel.call("other", READ)).outcome.kind === "success" && admitted < 40) admitted += 1;
  expect(admitted).toBe(31);
});

test("replays and calls that are denied before take nothing, and a limited call keeps its dedupe key free", async () => {
  const kernel = await paced({ principal: { callsPerMinute: 60, burst: 2 } });
  await kernel.call("probe", READ, { dedupeKey: "one" });
  for (let again = 0; again < 5; again += 1) {
    expect((await kernel.call("probe", READ, { dedupeKey: "one" })).outcome.kind).toBe("success");
    expect((await kernel.call("probe", { path: ".env" })).outcome.kind).toBe("denied");
  }
  expect((await kernel.call("probe", READ)).outcome.kind).toBe("success");
  expect((await kernel.call("probe", READ, { dedupeKey: "two" })).outcome).toMatchObject({ code: "RATE_LIMITED" });
  kernel.time.nowMs = START_MS + 1000;
  expect((await kernel.call("probe", READ, { dedupeKey: "two" })).outcome.kind).toBe("success");
});

test("a store that cannot say refuses the call", async () => {
  const kernel = await paced({ principal: { callsPerMinute: 60, burst: 2 } });
  kernel.paced.take = () => Promise.reject(new KernelError("STORE_UNAVAILABLE", "the disk is gone"));
  expect((await kernel.call("probe", READ)).outcome).toMatchObject({ code: "STORE_UNAVAILABLE", retryable: true });
});

test("limited calls beyond a rate are only counted in the ledger", async () => {
  const kernel = await paced({ principal: { callsPerMinute: 1, burst: 1 } });
  for (let call = 0; call < 60; call += 1) await kernel.call("probe", READ);
  expect(kernel.ledger.of("tool_executed").length).toBeLessThan(30);
  await kernel.door.flush();
  expect(kernel.ledger.of("requests_refused").length).toBeGreaterThan(0);
});

/** Two kernels with rate limits over one directory, and a clock that the test moves. */
async function twoKernels(burst: number) {
  const directory = await freshDirectory();
  const time = { nowMs: START_MS };
  const clock = { nowMs: () => time.nowMs, monotonicMs: () => time.nowMs };
  let takes = 0;
  const kernels = ["ins_a", "ins_b"].map((instanceId) => {
    const { rates } = openBudgetStores(`${directory}/state`);
    const store = {
      ...rates,
      take: (request: Parameters<typeof rates.take>[0]) => {
        takes += 1;
        return rates.take(request);
      },
    };
    return new Rates({ store, instanceId, clock, onInternalError: (error) => expect(error).toBeUndefined() });
  });
  const given = limits({ principal: { callsPerMinute: 60, burst } });
  const admit = async (kernel: number) => (await kernels[kernel]?.admit(SAMPLE_SESSION, "probe", given)) === undefined;
  const close = async (kernel: number) => kernels[kernel]?.close();
  return { time, admit, close, takes: () => takes };
}

test("two kernels together admit no more than the rate, and ask the store seldom", async () => {
  const { time, admit, takes } = await twoKernels(64);
  const admitted = await Promise.all(Array.from({ length: 200 }, (_, call) => admit(call % 2)));
  const first = admitted.filter((yes) => yes).length;
  expect(first).toBeLessThanOrEqual(64);
  expect(first).toBeGreaterThanOrEqual(64 - 8);
  expect(takes()).toBeLessThan(200);
  time.nowMs += 10_000;
  const later = await Promise.all(Array.from({ length: 200 }, (_, call) => admit(call % 2)));
  expect(first + later.filter((yes) => yes).length).toBeLessThanOrEqual(64 + 10);
});

/** How many calls in a row a kernel admits. */
async function admittedBy(admit: () => Promise<boolean>): Promise<number> {
  let admitted = 0;
  while (admitted < 99 && (await admit())) admitted += 1;
  return admitted;
}

test("what a kernel took and did not use goes back when it closes, and the other finds it", async () => {
  const { admit, close } = await twoKernels(32);
  expect(await admit(0)).toBe(true);
  await close(0);
  expect(await admittedBy(() => admit(1))).toBe(31);
});

test("what a kernel took and did not use goes back by itself after a while", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const { time, admit } = await twoKernels(32);
  expect(await admit(0)).toBe(true);
  time.nowMs += RATE_SLICE_MS;
  await vi.advanceTimersByTimeAsync(RATE_SLICE_MS);
  expect(await admittedBy(() => admit(1))).toBe(31);
});

test("a kernel does not use what it took after its time", async () => {
  const { time, admit, takes } = await twoKernels(32);
  await admit(0);
  const before = takes();
  await admit(0);
  expect(takes()).toBe(before);
  time.nowMs += RATE_SLICE_MS;
  await admit(0);
  expect(takes()).toBe(before + 1);
});

test("a call that this kernel holds a part for is admitted without a wait", async () => {
  const { rates } = openBudgetStores(`${await freshDirectory()}/state`);
  const clock = { nowMs: () => START_MS, monotonicMs: () => START_MS };
  const pace = new Rates({ store: rates, instanceId: "ins_a", clock, onInternalError: () => undefined });
  const given = limits({ principal: { callsPerMinute: 60, burst: 64 } });
  expect(pace.admit(SAMPLE_SESSION, "probe", given)).toBeInstanceOf(Promise);
  await pace.admit(SAMPLE_SESSION, "probe", given);
  expect(pace.admit(SAMPLE_SESSION, "probe", given)).toBeUndefined();
  expect(pace.admit(SAMPLE_SESSION, "probe", { id: "" })).toBeUndefined();
});
