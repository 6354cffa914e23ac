/** What every store of token buckets must do; two opened stores stand for two kernels that share a place. */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { BucketWish, RateStore, TakeRequest } from "../../src/budget/rate-store.ts";

const NOW_MS = 1_700_000_000_000;
/** One call in a second. */
const LIMIT = { callsPerMinute: 60, burst: 4 };

function bucket(change: Partial<BucketWish> = {}): BucketWish {
  return { key: "session:ses_one", limit: LIMIT, most: 1, returned: 0, ...change };
}

function request(change: Partial<TakeRequest> = {}): TakeRequest {
  const nowMs = change.nowMs ?? NOW_MS;
  return { instance: "ins_a", buckets: [bucket()], nowMs, untilMs: nowMs + 500, ...change };
}

/** The tests of the port; `openTwice` gives two kernels' views of the same empty place. */
export function rateContract(openTwice: () => Promise<readonly [RateStore, RateStore]>): void {
  test("a new bucket is full; an empty one says how long to wait, and fills with time", async () => {
    const [left, right] = await openTwice();
    for (let call = 0; call < 4; call += 1)
      expect(await [left, right][call % 2]?.take(request())).toEqual({ kind: "granted", calls: [1] });
    expect(await right.take(request())).toEqual({ kind: "empty", key: "session:ses_one", retryAfterMs: 1000 });
    expect(await right.take(request({ nowMs: NOW_MS + 400 }))).toMatchObject({ kind: "empty", retryAfterMs: 600 });
    expect(await right.take(request({ nowMs: NOW_MS + 999 }))).toMatchObject({ retryAfterMs: 1 });
    expect(await left.take(request({ nowMs: NOW_MS + 1000 }))).toEqual({ kind: "granted", calls: [1] });
    expect((await left.take(request({ nowMs: NOW_MS + 1000 }))).kind).toBe("empty");
  });

  test("a bucket never holds more than its burst, however long nothing happens", async () => {
    const [left] = await openTwice();
    await left.take(request());
    const day = { nowMs: NOW_MS + 86_400_000 };
    expect(await left.take(request({ ...day, buckets: [bucket({ most: 99 })] }))).toEqual({
      kind: "granted",
      calls: [4],
    });
    expect((await left.take(request({ ...day, instance: "ins_b" }))).kind).toBe("empty");
  });

  test("of several buckets all grant, or none is touched; the longest wait counts", async () => {
    const [left] = await openTwice();
    const slow = bucket({ key: "tool:shell:p", limit: { callsPerMinute: 1, burst: 1 } });
    expect(await left.take(request({ buckets: [bucket(), slow] }))).toEqual({ kind: "granted", calls: [1, 1] });
    expect(await left.take(request({ buckets: [bucket(), slow] }))).toEqual({
      kind: "empty",
      key: "tool:shell:p",
      retryAfterMs: 60_000,
    });
    expect(await left.take(request({ buckets: [bucket({ most: 9 })] }))).toEqual({ kind: "granted", calls: [3] });
  });

  test("what another kernel holds is not refilled until its time is over; what is given back can be taken at once", async () => {
    const [left, right] = await openTwice();
    expect(await left.take(request({ buckets: [bucket({ most: 4 })] }))).toEqual({ kind: "granted", calls: [4] });
    const other = (nowMs: number) => right.take(request({ instance: "ins_b", nowMs, buckets: [bucket({ most: 9 })] }));
    expect((await other(NOW_MS + 400)).kind).toBe("empty");
    expect(await left.take(request({ nowMs: NOW_MS + 400, buckets: [bucket({ returned: 3 })] }))).toEqual({
      kind: "granted",
      calls: [1],
    });
    expect(await other(NOW_MS + 400)).toEqual({ kind: "granted", calls: [2] });
  });

  test("what another kernel holds leaves no room for what time adds, until its time is over", async () => {
    const [left, right] = await openTwice();
    const fast = bucket({ most: 9, limit: { callsPerMinute: 60_000, burst: 4 } });
    expect(await left.take(request({ buckets: [fast] }))).toEqual({ kind: "granted", calls: [4] });
    const other = (nowMs: number) => right.take(request({ instance: "ins_b", nowMs, untilMs: nowMs, buckets: [fast] }));
    expect(await other(NOW_MS + 499)).toEqual({ kind: "granted", calls: [1] });
    expect(await other(NOW_MS + 520)).toEqual({ kind: "granted", calls: [4] });
  });

  test("no more is given back than was taken, and it is given back once", async () => {
    const [left] = await openTwice();
    await left.take(request({ buckets: [bucket({ most: 3 })] }));
    const leftover = { key: "session:ses_one", limit: LIMIT, calls: 99 };
    await left.giveBack("ins_b", [leftover], NOW_MS);
    expect((await left.listBuckets(10))[0]?.calls).toBe(1);
    for (let time = 0; time < 2; time += 1) await left.giveBack("ins_a", [leftover], NOW_MS);
    expect((await left.listBuckets(10))[0]?.calls).toBe(3);
  });

  test("what a kernel held too long does not come back once another one has taken its room", async () => {
    const [left, right] = await openTwice();
    await left.take(request({ buckets: [bucket({ most: LIMIT.burst })], untilMs: NOW_MS + 250 }));
    const later = NOW_MS + 60_000; // the bucket is full by then
    const all = { instance: "ins_b", buckets: [bucket({ most: LIMIT.burst })], nowMs: later, untilMs: later + 250 };
    expect((await right.take(all)).kind).toBe("granted");
    await left.giveBack("ins_a", [{ key: "session:ses_one", limit: LIMIT, calls: LIMIT.burst - 1 }], later);
    expect((await left.listBuckets(10))[0]?.calls).toBe(0);
  });

  test("a clock that goes backwards refills nothing, and one that was far ahead does not stop a bucket", async () => {
    const [left] = await openTwice();
    await left.take(request({ buckets: [bucket({ most: 4 })], untilMs: NOW_MS }));
    expect((await left.take(request({ nowMs: NOW_MS - 1000 }))).kind).toBe("empty");
    expect((await left.take(request({ nowMs: NOW_MS + 999 }))).kind).toBe("empty");
    const yesterday = NOW_MS - 86_400_000;
    expect((await left.take(request({ nowMs: yesterday, untilMs: yesterday }))).kind).toBe("empty");
    await left.purge(0, 10);
    expect((await left.take(request({ nowMs: NOW_MS + 1000 }))).kind).toBe("granted");
  });

  test("full buckets are forgotten, others are not", async () => {
    const [left] = await openTwice();
    await left.take(request());
    await left.take(request({ buckets: [bucket({ key: "session:other", most: 4 })] }));
    await left.purge(NOW_MS + 2000, 10);
    expect((await left.listBuckets(10)).map(({ key, calls }) => [key, calls])).toEqual([["session:other", 0]]);
  });

  test("whatever kernels take, hold and give back, in no span of time are more calls used than the rate allows", async () => {
    const step = fc.record({
      kernel: fc.constantFrom(0 as const, 1 as const),
      waitMs: fc.nat({ max: 900 }),
      most: fc.integer({ min: 1, max: 4 }),
    });
    const stores = await openTwice();
    let run = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const key = `session:run_${run++}`;
        const held = [
          { calls: 0, untilMs: 0 },
          { calls: 0, untilMs: 0 },
        ] as const;
        const used: number[] = [];
        let nowMs = NOW_MS;
        for (const { kernel, waitMs, most } of steps) {
          nowMs += waitMs;
          const slice = held[kernel] as { calls: number; untilMs: number };
          if (slice.calls > 0 && nowMs < slice.untilMs) slice.calls -= 1;
          else {
            const untilMs = nowMs + 250;
            const buckets = [bucket({ key, most, returned: slice.calls })];
            const taken = await stores[kernel].take({ instance: `ins_${kernel}`, buckets, nowMs, untilMs });
            if (taken.kind === "empty") continue;
            Object.assign(slice, { calls: (taken.calls[0] ?? 1) - 1, untilMs });
          }
          used.push(nowMs);
        }
        for (const [from, first] of used.entries()) {
          for (const [to, last] of used.entries()) {
            if (to >= from) expect(to - from + 1).toBeLessThanOrEqual(LIMIT.burst + (last - first) / 1000);
          }
        }
      }),
      { numRuns: 60 },
    );
  });
}
