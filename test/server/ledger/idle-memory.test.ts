// When memory is given back, and that collecting really frees it.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { keepLargeBlocksApart, releaseFreeMemory } from "../../../src/sandbox/native/free-memory.ts";
import { collectHeap, IDLE_HEAP_BYTES_MIN, IdleMemory } from "../../../src/server/ledger/idle-memory.ts";
import { freshPlace } from "../../support/place.ts";

describe("when memory is given back", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test("once after each time of activity, and never during it", () => {
    let given = 0;
    const idle = new IdleMemory(() => (given += 1), { lookMs: 100, pauseMs: 1000 });
    for (let count = 0; count < 10; count += 1) {
      idle.touch();
      vi.advanceTimersByTime(90);
    }
    expect(given).toBe(0);
    vi.advanceTimersByTime(200);
    expect(given).toBe(1);
    vi.advanceTimersByTime(10_000);
    expect(given).toBe(1);
    idle.touch();
    vi.advanceTimersByTime(200);
    expect(given).toBe(2);
  });

  test("bursts of calls wait for the end of the pause, and then for a time without calls", () => {
    let given = 0;
    const idle = new IdleMemory(() => (given += 1), { lookMs: 100, pauseMs: 1000 });
    idle.touch();
    vi.advanceTimersByTime(200);
    expect(given).toBe(1);
    for (let burst = 0; burst < 3; burst += 1) {
      idle.touch();
      vi.advanceTimersByTime(300);
    }
    expect(given).toBe(1);
    vi.advanceTimersByTime(400);
    expect(given).toBe(2);
    expect(vi.getTimerCount()).toBe(1); // the pause alone
    vi.advanceTimersByTime(10_000);
    expect(given).toBe(2);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("a call that takes long is not disturbed, nor what follows it at once", async () => {
    let given = 0;
    const idle = new IdleMemory(() => (given += 1), { lookMs: 100, pauseMs: 1000 });
    const end = Promise.withResolvers<number>();
    const call = idle.during(() => end.promise);
    vi.advanceTimersByTime(5000);
    expect(given).toBe(0);
    end.resolve(7);
    expect(await call).toBe(7);
    vi.advanceTimersByTime(99);
    expect(given).toBe(0);
    vi.advanceTimersByTime(200);
    expect(given).toBe(1);
    await expect(idle.during(() => Promise.reject(new Error("no")))).rejects.toThrow("no");
    vi.advanceTimersByTime(2000);
    expect(given).toBe(2);
  });

  test("who stays idle rests once, and not while a call comes or runs in between", async () => {
    const done: string[] = [];
    const options = { lookMs: 100, pauseMs: 1000, rest: () => done.push("rest"), restMs: 5000 };
    const idle = new IdleMemory(() => done.push("give"), options);
    idle.touch();
    vi.advanceTimersByTime(5100);
    expect(done).toEqual(["give"]);
    idle.touch();
    vi.advanceTimersByTime(5100);
    expect(done).toEqual(["give", "give"]);
    vi.advanceTimersByTime(100);
    expect(done).toEqual(["give", "give", "rest"]);
    vi.advanceTimersByTime(100_000);
    expect(done).toEqual(["give", "give", "rest"]);
    const end = Promise.withResolvers<void>();
    const call = idle.during(() => end.promise);
    vi.advanceTimersByTime(100_000);
    expect(done.length).toBe(3);
    end.resolve();
    await call;
    await Promise.resolve();
    vi.advanceTimersByTime(5400);
    expect(done).toEqual(["give", "give", "rest", "give", "rest"]);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("nothing happens and no timer runs before there was any activity", () => {
    const giveBack = vi.fn();
    new IdleMemory(giveBack, { lookMs: 100 });
    expect(vi.getTimerCount()).toBe(0);
    vi.advanceTimersByTime(10_000);
    expect(giveBack).not.toHaveBeenCalled();
  });
});

describe("collecting", () => {
  const heldBeyondUse = () => {
    const { total_physical_size: held, used_heap_size: used } = getHeapStatistics();
    return held - used;
  };

  test("a heap with much garbage shrinks, and the collector is exposed to nobody", () => {
    const wasExposed = globalThis.gc !== undefined;
    let kept: unknown[] = Array.from({ length: 1_000_000 }, (_, index) => ({ index }));
    const before = getHeapStatistics().total_physical_size;
    expect(kept.length).toBe(1_000_000);
    kept = [];
    expect(heldBeyondUse()).toBeGreaterThan(IDLE_HEAP_BYTES_MIN);
    collectHeap();
    expect(getHeapStatistics().total_physical_size).toBeLessThan(before - 10 * 1024 * 1024);
    expect(globalThis.gc !== undefined).toBe(wasExposed);
  });

  test("compiled WebAssembly, which other threads may be running, stays; the control: the bare collector throws it away", async () => {
    const isUncompiled = withFlag(
      "allow-natives-syntax",
      () => new Function("run", "return %IsUncompiledWasmFunction(run)"),
    );
    const bareCollector = withFlag("expose-gc", () => runInNewContext("globalThis.gc") as NodeJS.GCFunction);
    const run = await constantFunction();
    expect([isUncompiled(run), run(), isUncompiled(run)]).toEqual([true, 7, false]);
    const garbage = Array.from({ length: 1_000_000 }, (_, index) => ({ index }));
    garbage.length = 0;
    expect(heldBeyondUse()).toBeGreaterThan(IDLE_HEAP_BYTES_MIN);
    collectHeap();
    expect([heldBeyondUse() > IDLE_HEAP_BYTES_MIN, isUncompiled(run)]).toEqual([false, false]);
    setFlagsFromString("--flush-liftoff-code"); // as it is by default
    bareCollector({ type: "major", execution: "sync", flavor: "last-resort" });
    expect([isUncompiled(run), run()]).toEqual([true, 7]);
  });

  test("compiled code that was read is let go of, and what is new is written for the next start", () => {
    const cache = join(freshPlace().base, "cache");
    const script = `
      const { releaseCompileCache } = await import(${JSON.stringify(new URL("../../../src/server/ledger/idle-memory.ts", import.meta.url))});
      const { readdirSync } = await import("node:fs");
      const isWritten = () => readdirSync(${JSON.stringify(cache)}, { recursive: true, withFileTypes: true }).some((entry) => entry.isFile());
      const before = isWritten();
      releaseCompileCache();
      console.log([before, isWritten()].join());
    `;
    const run = () => {
      const environment = { PATH: process.env["PATH"], NODE_COMPILE_CACHE: cache, NODE_DEBUG_NATIVE: "COMPILE_CACHE" };
      const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", script], {
        env: environment,
        encoding: "utf8",
      });
      return [
        stdout,
        stderr.includes("was accepted"),
        /Clear deserialized cache\.\s.*flushCompileCache\(\) finished/.test(stderr),
      ];
    };
    expect(run()).toEqual(["false,true\n", false, true]);
    expect(run()).toEqual(["true,true\n", true, true]);
  });

  test("free memory of the C library can be given back on this machine", () => {
    const glibc =
      (process.report.getReport() as { header: { glibcVersionRuntime?: string } }).header.glibcVersionRuntime !==
      undefined;
    expect(releaseFreeMemory()).toBe(glibc);
    expect(releaseFreeMemory()).toBe(glibc);
    expect(keepLargeBlocksApart()).toBe(glibc);
  });
});

/** What `work` makes while a flag of V8 is on. */
function withFlag<T>(flag: string, work: () => T): T {
  setFlagsFromString(`--${flag}`);
  try {
    return work();
  } finally {
    setFlagsFromString(`--no-${flag}`);
  }
}

/** A WebAssembly function without parameters that returns 7. */
async function constantFunction(): Promise<() => number> {
  const header = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
  const sections = [
    [1, 5, 1, 0x60, 0, 1, 0x7f], // type: () -> i32
    [3, 2, 1, 0], // one function of it
    [7, 5, 1, 1, 0x66, 0, 0], // exported as `f`
    [10, 6, 1, 4, 0, 0x41, 7, 0x0b], // i32.const 7
  ];
  const { instantiate } = Reflect.get(globalThis, "WebAssembly") as {
    instantiate: (bytes: Uint8Array) => Promise<{ instance: { exports: Record<string, unknown> } }>;
  };
  const { instance } = await instantiate(Uint8Array.from([...header, ...sections.flat()]));
  return instance.exports["f"] as () => number;
}
