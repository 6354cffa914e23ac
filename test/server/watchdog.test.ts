// The watchdog of the kernel's thread: a thread that stood is noticed and named, one that works in slices is not, and
// an idle kernel is left alone.
import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { asStep, takeLongestStep } from "../../src/base/long-steps.ts";
import { type Stall, stallLine, threadTimes, WATCHDOG_LOOK_MS, Watchdog } from "../../src/server/watchdog.ts";

const STOOD_MS = 1500;

/** Stands, without using the processor. */
function stand(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, STOOD_MS);
}

/** Looks until the watchdog has looked, or has no reason to. */
async function untilReported(stalls: readonly Stall[]): Promise<void> {
  while (stalls.length === 0) await pause(10);
}

test("a thread that stood while a call was under way is noticed, with what it did", async () => {
  const stalls: Stall[] = [];
  const watchdog = new Watchdog((stall) => stalls.push(stall));
  const call = watchdog.during(async () => {
    await pause(1);
    asStep("planning mounts", stand);
    await untilReported(stalls);
  });
  await call;
  expect(stalls[0]).toMatchObject({ doing: "planning mounts", callsUnderWay: 1 });
  expect(stalls[0]?.durationMs).toBeGreaterThan(1000);
  expect(watchdog.stalls.count).toBeGreaterThanOrEqual(1);
  expect(watchdog.stalls.longestMs).toBeGreaterThan(1000);
  const line = stallLine(stalls[0] as Stall);
  expect(line).toMatch(/^the kernel's thread stood for \d+\.\d s: planning mounts \{/);
  expect(JSON.parse(line.slice(line.indexOf("{")))).toMatchObject({
    event: "kernel_stalled",
    doing: "planning mounts",
    callsUnderWay: 1,
  });
  watchdog.close();
});

test("what stood in the last moment of a call is noticed after it, and what has no name is said to have none", async () => {
  const stalls: Stall[] = [];
  const watchdog = new Watchdog((stall) => stalls.push(stall));
  await watchdog.during(async () => {
    await pause(1);
    stand();
  });
  await untilReported(stalls);
  expect(stalls[0]).toMatchObject({ doing: undefined, callsUnderWay: 0 });
  expect(stallLine(stalls[0] as Stall)).toContain("something without a name");
});

test("an idle kernel is woken once more and then not again, and what it does meanwhile is nobody's concern", async () => {
  const stalls: Stall[] = [];
  const watchdog = new Watchdog((stall) => stalls.push(stall));
  stand();
  await watchdog.during(async () => undefined);
  await watchdog.during(async () => undefined);
  while (watchdog.isWatching) await pause(WATCHDOG_LOOK_MS / 5);
  stand();
  await pause(2 * WATCHDOG_LOOK_MS);
  expect(stalls).toEqual([]);
});

test("a call that fails is watched like any other", async () => {
  const watchdog = new Watchdog(() => undefined);
  await expect(watchdog.during(() => Promise.reject(new Error("no")))).rejects.toThrow("no");
  watchdog.close();
});

test("of two steps within one another the inner one is named, and what took no time is not", () => {
  takeLongestStep();
  asStep("outer", () => asStep("inner", stand));
  expect(takeLongestStep()).toMatchObject({ what: "inner" });
  asStep("short", () => undefined);
  expect(takeLongestStep()).toBeUndefined();
});

test("time in which the machine had no processor for the thread is not its own", async () => {
  const seen: Record<number, number> = {};
  for (const queuedMs of [STOOD_MS, 100]) {
    let queued = 0;
    const stalls: Stall[] = [];
    const watchdog = new Watchdog(
      (stall) => stalls.push(stall),
      () => ({ ranMs: 0, queuedMs: queued }),
    );
    await watchdog.during(async () => {
      await pause(1);
      stand();
      queued += queuedMs;
    });
    while (watchdog.isWatching) await pause(WATCHDOG_LOOK_MS / 5);
    seen[queuedMs] = stalls.length;
  }
  expect(seen).toEqual({ [STOOD_MS]: 0, 100: 1 });
});

test("the machine counts what the thread ran", () => {
  const before = threadTimes().ranMs;
  const startedMs = performance.now();
  while (performance.now() < startedMs + 50);
  expect(threadTimes().ranMs).toBeGreaterThan(before);
});
