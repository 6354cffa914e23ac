/**
 * Many requests that wait: what they take of memory and time; and that any interleaving of uses lets one execution
 * through.
 */

import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { expect, onTestFinished, test, vi } from "vitest";
import type { ApprovalState, NewApproval, StoredApproval } from "../../src/approval/requests/approval-store.ts";
import { judgeStanding } from "../../src/approval/requests/standing.ts";
import { openApprovalStore } from "../../src/stores/embedded/approvals/approval-store.ts";
import { approve, ask, askingKernel, pending } from "../support/asking.ts";
import { freshDirectory } from "../support/store-place.ts";
import { SOON } from "../support/waiting.ts";

const NOW_MS = 1_700_000_000_000;
const NO_LIMITS = { pendingMax: 1e9, perMinuteMax: 1e9, perHourMax: 1e9, pendingTotalMax: 1e9 };
const MIB = 1024 * 1024;

function request(index: number, change: Partial<NewApproval> = {}): NewApproval {
  const digest = index.toString(16).padStart(64, "0");
  return {
    ref: `blake3:${digest}`,
    call: digest,
    binding: digest,
    userId: "ann",
    agentId: `agent-${index % 100}`,
    serviceRoot: "/srv/one",
    sessionId: "ses_one",
    sessionEndsAtMs: NOW_MS + 3_600_000,
    kind: "",
    tool: "write_file",
    createdAtMs: NOW_MS,
    expiresAtMs: NOW_MS + 900_000,
    document: JSON.stringify({ summary: "x".repeat(1500), index }),
    code: "code",
    inBand: true,
    ...change,
  };
}

/**
 * Bytes that are held once everything that nobody needs is collected: what the process has of the machine depends on
 * when it collects.
 */
function heldBytes(): number {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

test("ten thousand requests that wait take at most 50 MiB of memory", async () => {
  const store = openApprovalStore(join(await freshDirectory(), "state"));
  onTestFinished(() => store.close());
  await store.add(request(0), NO_LIMITS);
  const before = heldBytes();
  for (let index = 1; index <= 10_000; index += 1) await store.add(request(index), NO_LIMITS);
  expect(heldBytes() - before).toBeLessThan(50 * MIB);
  expect(await store.find(request(7777).ref, NOW_MS)).toMatchObject({ state: "pending" });
  expect(await store.list("pending", 5, NOW_MS)).toHaveLength(5);
});

type Act = {
  readonly kind: "use" | "approve" | "deny" | "give back" | "void";
  readonly kernel: number;
  readonly by: number;
};

test("a call that waits looks at its request when it begins to and when a bell rings, and not in between", async () => {
  const kernel = await askingKernel();
  let looks = 0;
  const { find } = kernel.asked;
  kernel.asked.find = (ref, nowMs) => {
    looks += 1;
    return find(ref, nowMs);
  };
  const calling = ask(kernel);
  const { ref } = await pending(kernel);
  await vi.waitFor(() => expect(looks).toBeGreaterThan(0), SOON);
  // The ring of the request itself is heard some time; then half a second passes without a look.
  const isQuiet = async () => {
    const before = looks;
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(looks).toBe(before);
  };
  await vi.waitFor(isQuiet, SOON);
  await approve(kernel, ref);
  expect((await calling).outcome.kind).toBe("success");
});

test("whatever two kernels and any people do in whatever order, an approval of one execution is in use once at most, and never after a denial", async () => {
  const directory = join(await freshDirectory(), "state");
  const kernels = [openApprovalStore(directory), openApprovalStore(directory)] as const;
  onTestFinished(async () => void (await Promise.all(kernels.map((kernel) => kernel.close()))));
  let next = 0;
  const act = fc.record<Act>({
    kind: fc.constantFrom("use", "use", "use", "approve", "deny", "give back", "void"),
    kernel: fc.integer({ min: 0, max: 1 }),
    by: fc.integer({ min: 0, max: 3 }),
  });
  const property = fc.asyncProperty(
    fc.array(fc.array(act, { minLength: 1, maxLength: 4 }), { maxLength: 12 }),
    async (rounds) => {
      next += 1;
      const { ref, binding, ...rest } = request(next);
      await kernels[0].add({ ref, binding, ...rest }, NO_LIMITS);
      const holding = new Set<number>();
      let denied = false;
      for (const round of rounds) {
        const done = await Promise.all(
          round.map(async ({ kind, kernel, by }) => {
            const store = kernels[kernel] ?? kernels[0];
            const decision = { by: `${by}`, channel: "cli", atMs: NOW_MS } as const;
            if (kind === "use")
              return { kind, by, done: await store.consume({ ref, binding, requestId: `req-${by}` }, NOW_MS) };
            if (kind === "give back")
              return { kind, by, done: holding.has(by) && (await store.giveBack(ref, `req-${by}`)) };
            if (kind === "void") return { kind, by, done: await store.end(ref, "void") };
            const outcome = await store.decide(ref, {
              ...decision,
              approved: kind === "approve",
              scope: { kind: "once" },
            });
            return { kind, by, done: outcome.kind === "decided" };
          }),
        );
        for (const { kind, by, done: happened } of done) if (happened && kind === "give back") holding.delete(by);
        for (const { kind, by, done: happened } of done) {
          if (!happened) continue;
          if (kind === "use") {
            expect(denied).toBe(false);
            holding.add(by);
          }
        }
        if (done.some(({ kind, done: happened }) => kind === "deny" && happened)) denied = true;
        expect(holding.size).toBeLessThanOrEqual(1);
      }
    },
  );
  await fc.assert(property, { numRuns: 60 });
});

test("what stands about a call lets it through only by an approval with its very binding, and never beside a denial", () => {
  const stored = fc
    .record({
      state: fc.constantFrom<ApprovalState>("pending", "approved", "denied", "expired"),
      binding: fc.constantFrom("same", "other"),
      uses: fc.integer({ min: 0, max: 1 }),
    })
    .map(({ state, binding, uses }): StoredApproval => ({ ...request(1), state, binding, uses }) as StoredApproval);
  fc.assert(
    fc.property(fc.array(stored, { maxLength: 6 }), (live) => {
      const { verdict, over } = judgeStanding(live, { call: "", binding: "same" });
      if (live.some(({ state }) => state === "denied")) expect(verdict.kind).toBe("denied");
      if (verdict.kind === "granted") expect(verdict.approval).toMatchObject({ state: "approved", binding: "same" });
      for (const one of over)
        expect(one.state === "expired" || (one.binding === "other" && one.uses === 0 && one.state !== "denied")).toBe(
          true,
        );
    }),
  );
});
