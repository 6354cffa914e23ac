/** Operations of one session at once: eight run, the rest wait their turn, and then say why. */
import { expect, test } from "vitest";
import { Holdings } from "../../src/kernel/call/holdings.ts";
import type { Granted } from "../../src/kernel/call/stages.ts";
import { Turns } from "../../src/kernel/turns.ts";
import type { EffectClass } from "../../src/model/outcome/effect.ts";
import { type MemoryKernelOptions, memoryKernel, testTool } from "../support/memory-kernel.ts";
import { comesTrue } from "../support/waiting.ts";

/** A kernel with a tool that runs until it is let go, and how many of it run. */
async function holding(effect: EffectClass, options: Partial<MemoryKernelOptions> = {}) {
  const open: (() => void)[] = [];
  let most = 0;
  let atWork = 0;
  const hold = testTool(
    "hold",
    async () => {
      atWork += 1;
      most = Math.max(most, atWork);
      await new Promise<void>((done) => open.push(done));
      atWork -= 1;
      return { kind: "data", data: {} };
    },
    // what one of them prints must not decide about the next
    { effect, labels: { outputTrust: "verified", outputDataClass: "internal", acceptsUntrusted: true } },
  );
  const policies = `@id("test.hold")\n@message("m")\npermit (principal, action == Handrail::Action::"hold", resource);`;
  const kernel = await memoryKernel({ tools: [hold], policies, ...options });
  const begun = async (count: number) => expect(await comesTrue(() => open.length === count)).toBe(true);
  return {
    kernel,
    open,
    begun,
    most: () => most,
    start: (path = "a", more = {}) => kernel.call("hold", { path }, more),
  };
}

test("of ten operations of a session eight run at once; the others run when those have ended", async () => {
  const { open, begun, most, start } = await holding("exec");
  const calls = Array.from({ length: 10 }, (_, index) => start(`f${index}`));
  await begun(8);
  for (let index = 0; index < 10; index += 1) {
    await begun(Math.min(10, 8 + index));
    open[index]?.();
  }
  expect((await Promise.all(calls)).map(({ outcome }) => outcome.kind)).toEqual(Array(10).fill("success"));
  expect(most()).toBe(8);
});

test("the operator says how many", async () => {
  const { open, begun, most, start } = await holding("exec", { settings: { operationsAtOnce: 1 } });
  const calls = [start("a"), start("b")];
  await begun(1);
  open[0]?.();
  await begun(2);
  open[1]?.();
  await Promise.all(calls);
  expect(most()).toBe(1);
});

test.each(["read", "write"] as const)("what starts no processes takes no turn: %s", async (effect) => {
  const { open, begun, start } = await holding(effect, { settings: { operationsAtOnce: 1 } });
  const calls = ["a", "b", "c"].map((path) => start(path));
  await begun(3);
  for (const done of open) done();
  expect((await Promise.all(calls)).map(({ outcome }) => outcome.kind)).toEqual(Array(3).fill("success"));
});

test("a call that waits for its turn can be cancelled, and was never begun", async () => {
  const { kernel, open, begun, start } = await holding("exec", { settings: { operationsAtOnce: 1 } });
  const first = start("a");
  await begun(1);
  const cancel = new AbortController();
  const second = start("b", { signal: cancel.signal });
  cancel.abort();
  expect((await second).outcome).toMatchObject({ kind: "error", code: "CANCELLED" });
  expect(kernel.ledger.of("tool_selected")).toHaveLength(1);
  open[0]?.();
  expect((await first).outcome.kind).toBe("success");
});

test("one that waited is checked again: what was taken away meanwhile refuses it", async () => {
  const { kernel, open, begun, start } = await holding("exec", { settings: { operationsAtOnce: 1 } });
  const calls = [start("a"), start("b")];
  await begun(1);
  await kernel.sessions.updateSession(kernel.session.id, { revokedAtMs: kernel.time.nowMs });
  open[0]?.();
  const [, second] = await Promise.all(calls);
  expect(second?.outcome).toMatchObject({ kind: "denied", denial: { reason: "session_revoked" } });
  expect(open).toHaveLength(1);
});

/** As much of a call as turns look at. */
function granted(session: string, effect: EffectClass = "exec"): Granted {
  return {
    session: { id: session },
    tool: { capability: { effect } },
    holdings: new Holdings(),
  } as unknown as Granted;
}

const NEVER = new AbortController().signal;

test("who waited in vain is told why, may try again, and holds no turn; another session is not concerned", async () => {
  const turns = new Turns(() => 1, 1);
  const first = granted("s");
  expect(turns.take(first, NEVER)).toBeUndefined();
  const late = granted("s");
  expect(await turns.take(late, NEVER)).toMatchObject({
    kind: "failure",
    failure: {
      code: "RESOURCE_BUSY",
      message: "this session does 1 operations at once, and none ended within 0.001 s, so this one was not begun",
      suggestion: expect.stringContaining("limits.operations_at_once"),
      retryable: true,
    },
  });
  expect(turns.take(granted("other"), NEVER)).toBeUndefined();
  late.holdings.endTurn(); // holds none
  first.holdings.endTurn();
  first.holdings.endTurn(); // once is enough
  expect(turns.take(granted("s"), NEVER)).toBeUndefined();
  expect(await turns.take(granted("s"), NEVER)).toMatchObject({ kind: "failure" });
});

test("turns are given in the order in which they were asked for, and no more than there are now", async () => {
  let atOnce = 2;
  const turns = new Turns(() => atOnce);
  const held = [granted("s"), granted("s")];
  for (const one of held) expect(turns.take(one, NEVER)).toBeUndefined();
  const order: string[] = [];
  const waiting = ["a", "b"].map((name) => {
    const call = granted("s");
    return { call, taken: Promise.resolve(turns.take(call, NEVER)).then(() => order.push(name)) };
  });
  atOnce = 1;
  held[0]?.holdings.endTurn(); // one is still at work, and that is all there may be
  held[1]?.holdings.endTurn();
  await waiting[0]?.taken;
  expect(order).toEqual(["a"]);
  waiting[0]?.call.holdings.endTurn();
  await waiting[1]?.taken;
  expect(order).toEqual(["a", "b"]);
});
