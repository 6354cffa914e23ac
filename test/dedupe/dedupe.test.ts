/** Several kernels on one store, and what happens when some of them die. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { expect, onTestFinished, test, vi } from "vitest";
import { blake3Salted } from "../../src/base/hash.ts";
import { canonicalJson } from "../../src/base/json.ts";
import {
  type BegunCall,
  type Claim,
  callDigest,
  DEDUPE_KEPT_MS,
  DEDUPE_PURGE_ROWS_MAX,
  Dedupe,
  type Entry,
} from "../../src/dedupe/dedupe.ts";
import type { DedupeStore } from "../../src/dedupe/dedupe-store.ts";
import { DEDUPE_PURGE_PAUSE_MS, DEDUPE_WAIT_MS } from "../../src/dedupe/limits.ts";
import type { CallResponse, Outcome } from "../../src/model/tool/call.ts";
import { openDedupeStore } from "../../src/stores/embedded/dedupe-store.ts";

const LABEL = {
  trustLevel: "user",
  dataClass: "internal",
  source: { origin: "tool:t", timestamp: "2026-01-01T00:00:00.000Z" },
} as const;
const CALL = new Uint8Array(32).fill(1);
const KEYED = { sessionId: "ses_a", dedupeKey: "once", call: CALL, basis: "rules", repeatable: false };
const OTHER_RULES = { ...KEYED, basis: "other rules" };
const OTHER = { ...KEYED, call: new Uint8Array(32).fill(2) };
const WRITE = { effect: "write", ran: true, done: true } as const;
const READ = { effect: "read", ran: true, done: true } as const;

/** A state directory with kernels on it, a clock that the test moves, and the knowledge of who lives. */
function place() {
  const directory = mkdtempSync(join(tmpdir(), "handrail-dedupe-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const time = { nowMs: 1_700_000_000_000, monotonicMs: 0 };
  const alive = new Set<string>();
  const clock = { nowMs: () => time.nowMs, monotonicMs: () => time.monotonicMs + performance.now() };
  const stores: DedupeStore[] = [];
  onTestFinished(async () => {
    for (const store of stores) await store.close();
  });
  const errors: unknown[] = [];
  /** What was recorded, by intent. */
  const recorded = new Map<number, number>();
  const evidence = { executedAt: async ({ intent }: BegunCall) => recorded.get(intent) };
  const kernel = (instanceId: string) => {
    alive.add(instanceId);
    const store = openDedupeStore(directory);
    stores.push(store);
    const isAlive = async (id: string) => alive.has(id);
    const dedupe = new Dedupe({
      store,
      evidence,
      instanceId,
      isAlive,
      clock,
      onInternalError: (error) => void errors.push(error),
    });
    return {
      dedupe,
      store,
      enter: (keyed = KEYED, signal = new AbortController().signal) => dedupe.enter(keyed, signal),
    };
  };
  return { kernel, time, alive, errors, recorded };
}

function answerOf(
  mark: string,
  outcome: Outcome = { kind: "success", data: { mark }, label: LABEL, truncated: false },
): CallResponse {
  return { requestId: mark, outcome, durationMs: 1.5, rules: ["r"], ledgerSequence: 7 };
}

function claimOf(entry: Entry): Claim {
  if (entry.kind !== "go_on") throw new Error(`did not go on: ${JSON.stringify(entry)}`);
  return entry.claim;
}

/** Lets a call of `kernel` reach the store and find the key taken: once its store is open, that takes no other turn. */
async function waiter({
  enter,
}: Pick<ReturnType<ReturnType<typeof place>["kernel"]>, "enter">): Promise<{ readonly entry: Promise<Entry> }> {
  await enter({ ...KEYED, dedupeKey: "opens the store" });
  const entry = enter();
  await new Promise((done) => setTimeout(done, 5));
  return { entry };
}

const DENIED: Outcome = { kind: "denied", denial: { layer: "policy", reason: "r", ruleId: "R", message: "m" } };
const failed = (code: string) => ({ kind: "failure", failure: expect.objectContaining({ code }) });

test("another kernel, and the next one after a restart, give the first answer", async () => {
  const { kernel, alive } = place();
  const [left, right] = [kernel("ins_left"), kernel("ins_right")];
  const claim = claimOf(await left.enter());
  await claim.begin();
  const { entry } = await waiter(right);
  await claim.settle(answerOf("first"), WRITE);
  expect(await entry).toMatchObject({ kind: "replay", answer: answerOf("first"), waited: true });
  alive.clear();
  expect(await kernel("ins_next").enter()).toMatchObject({ kind: "replay", answer: answerOf("first") });
  expect(await kernel("ins_last").enter(OTHER)).toMatchObject(failed("DEDUPE_CONFLICT"));
});

test("an answer that rests on other rules is not given again: a call with an effect ends, one without is made again and kept anew", async () => {
  const { kernel } = place();
  const [left, right] = [kernel("ins_left"), kernel("ins_right")];
  await claimOf(await left.enter()).settle(answerOf("first"), WRITE);
  expect((await right.enter(OTHER_RULES)).kind).toBe("stale");
  expect((await right.enter()).kind).toBe("replay");
  await claimOf(await right.enter({ ...OTHER_RULES, repeatable: true })).settle(answerOf("second"), READ);
  expect(await left.enter(OTHER_RULES)).toMatchObject({ kind: "replay", answer: answerOf("second") });
  expect((await left.enter()).kind).toBe("stale");
});

test("calls that waited behind one under other rules: those with an effect end, those without go on one at a time", async () => {
  const { kernel } = place();
  const { enter } = kernel("ins_left");
  const first = claimOf(await enter());
  const repeatable = { ...OTHER_RULES, repeatable: true };
  const waiting = [enter(), enter(OTHER_RULES), enter(repeatable), enter(repeatable)];
  await first.settle(answerOf("first"), READ);
  const [same, effect, next, last] = waiting;
  expect([await same, await effect]).toMatchObject([
    { kind: "replay", answer: answerOf("first") },
    { kind: "stale", waited: true },
  ]);
  const again = await next;
  await claimOf(again as Entry).settle(answerOf("second"), READ);
  expect(again).toMatchObject({ waited: true });
  expect(await last).toMatchObject({ kind: "replay", answer: answerOf("second"), waited: true });
});

test("a session that has its share of the room is told so, and so is everyone who waits behind it", async () => {
  const { kernel } = place();
  const { enter, store } = kernel("ins_left");
  Object.assign(store, { claim: async () => ({ kind: "full" }) });
  for (const entry of await Promise.all([enter(), enter()])) {
    expect(entry).toMatchObject({ kind: "failure", failure: { code: "RESOURCE_BUSY", retryable: true } });
  }
});

test("another kernel waits for the first one's end and goes on when there is nothing to replay", async () => {
  const { kernel } = place();
  const [left, right] = [kernel("ins_left"), kernel("ins_right")];
  const claim = claimOf(await left.enter());
  const { entry } = await waiter(right);
  expect(await right.enter(OTHER)).toMatchObject(failed("DEDUPE_CONFLICT"));
  await claim.settle(answerOf("refused", DENIED), { effect: "write", ran: false, done: false });
  expect(await entry).toMatchObject({ kind: "go_on", waited: true });
});

test("a begun claim of a dead kernel: the outcome is unknown, for good, and for another call the key is taken", async () => {
  const { kernel, alive, time } = place();
  await claimOf(await kernel("ins_dead").enter()).begin();
  alive.delete("ins_dead");
  const next = kernel("ins_next");
  for (let round = 0; round < 2; round += 1) {
    expect(await next.enter()).toMatchObject({
      kind: "failure",
      failure: { code: "OUTCOME_UNKNOWN", retryable: false },
    });
    expect(await next.enter(OTHER)).toMatchObject(failed("DEDUPE_CONFLICT"));
  }
  time.nowMs += DEDUPE_KEPT_MS + 1;
  expect((await next.enter()).kind).toBe("go_on");
});

test("a kernel that dies while others wait for it leaves them with an unknown outcome", async () => {
  const { kernel, alive } = place();
  await claimOf(await kernel("ins_dead").enter()).begin();
  const next = kernel("ins_next");
  const waiting = [next.enter(), next.enter(), kernel("ins_third").enter()];
  alive.delete("ins_dead");
  for (const entry of await Promise.all(waiting)) expect(entry).toMatchObject(failed("OUTCOME_UNKNOWN"));
});

test("a claim of a dead kernel that had not begun is taken over, for whatever call, by one alone", async () => {
  const { kernel, alive } = place();
  claimOf(await kernel("ins_dead").enter());
  alive.delete("ins_dead");
  const kernels = ["ins_1", "ins_2", "ins_3"].map(kernel);
  const entries = kernels.map(({ enter }) => enter(OTHER));
  const first = await Promise.race(entries);
  await claimOf(first).begin();
  await claimOf(first).settle(answerOf("taken over"), WRITE);
  expect((await Promise.all(entries)).map(({ kind }) => kind).sort()).toEqual(["go_on", "replay", "replay"]);
});

test("a call that waited for another kernel too long is told to come back, and leaves no trace", async () => {
  const { kernel, time } = place();
  const claim = claimOf(await kernel("ins_left").enter());
  const right = kernel("ins_right");
  const { entry } = await waiter(right);
  time.monotonicMs += DEDUPE_WAIT_MS;
  expect(await entry).toMatchObject({ kind: "failure", failure: { code: "RESOURCE_BUSY", retryable: true } });
  await claim.settle(answerOf("late"), READ);
  expect((await right.enter()).kind).toBe("replay");
});

test("a call that waited in its own kernel too long is told to come back", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const { kernel } = place();
  const { enter } = kernel("ins_left");
  claimOf(await enter());
  const waiting = enter();
  vi.advanceTimersByTime(DEDUPE_WAIT_MS);
  expect(await waiting).toMatchObject({ kind: "failure", failure: { code: "RESOURCE_BUSY", retryable: true } });
});

test("a leader that is cancelled while another kernel executes leaves the lead to the next", async () => {
  const { kernel } = place();
  const claim = claimOf(await kernel("ins_left").enter());
  const right = kernel("ins_right");
  const cancel = new AbortController();
  const leader = right.enter(KEYED, cancel.signal);
  const { entry: follower } = await waiter(right);
  cancel.abort();
  expect(await leader).toMatchObject(failed("CANCELLED"));
  await claim.settle(answerOf("first"), WRITE);
  expect((await follower).kind).toBe("replay");
});

test("what is too old is forgotten little by little; claims of dead kernels too, of living ones never", async () => {
  const { kernel, time, alive } = place();
  const { enter, store } = kernel("ins_a");
  for (let index = 0; index < DEDUPE_PURGE_ROWS_MAX + 1; index += 1) {
    await claimOf(await enter({ ...KEYED, dedupeKey: `kept ${index}` })).settle(answerOf("old"), READ);
  }
  await kernel("ins_dead").enter({ ...KEYED, dedupeKey: "dead" });
  await kernel("ins_living").enter({ ...KEYED, dedupeKey: "living" });
  alive.delete("ins_dead");
  time.nowMs += DEDUPE_KEPT_MS + 1;
  time.monotonicMs += DEDUPE_PURGE_PAUSE_MS;
  await enter({ ...KEYED, dedupeKey: "new 1" });
  expect((await store.heldBefore(time.nowMs, 9)).map(({ dedupeKey }) => dedupeKey)).toEqual(["living"]);
  await enter({ ...KEYED, dedupeKey: "new 2" });
  expect(await store.purge(time.nowMs, 1)).toBe(0);
});

test("the digest tells tools, arguments and forms of reply apart, and equal arguments are equal in any order", () => {
  const key = new Uint8Array(32).fill(9);
  const digest = (tool: string, args: Record<string, string>, reply: "result" | "bytes" = "result") =>
    Buffer.from(callDigest(key, { tool, reply }, canonicalJson(args))).toString("hex");
  const different = [
    digest("a", { x: "1", y: "2" }),
    digest("b", { x: "1", y: "2" }),
    digest("a", { x: "1" }),
    digest("a", { x: "1", y: "2" }, "bytes"),
    Buffer.from(
      callDigest(new Uint8Array(32), { tool: "a", reply: "result" }, canonicalJson({ x: "1", y: "2" })),
    ).toString("hex"),
  ];
  expect(new Set(different).size).toBe(5);
  expect(digest("a", { y: "2", x: "1" })).toBe(different[0]);
  // What was kept before a kernel was renewed is found again.
  const whole = canonicalJson(["handrail.dedupe.v1", "a", "result", { x: "1", y: "2" }]);
  expect(different[0]).toBe(Buffer.from(blake3Salted(key, Buffer.from(whole))).toString("hex"));
});

/** What a caller, a tool or the machine does next. */
const STEP = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant("ask" as const), kernel: fc.nat(2), write: fc.boolean() }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("end" as const),
      pick: fc.nat(),
      end: fc.constantFrom("good", "denied", "passing"),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("die" as const), kernel: fc.nat(2) }) },
);
const PASSING: Outcome = {
  kind: "error",
  code: "IO_ERROR",
  message: "m",
  suggestion: "s",
  retryable: true,
  retryAfterMs: 1,
};

test("whatever the order: never two at a time, nothing after a kept answer or a lost effect, and all answers are equal", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(STEP, { maxLength: 25 }), async (steps) => {
      const { kernel, alive } = place();
      let names = 0;
      const kernels = [0, 1, 2].map(() => ({ id: `ins_${names}`, ...kernel(`ins_${names++}`) }));
      const running: { id: string; claim: Claim; write: boolean }[] = [];
      const answers: CallResponse[] = [];
      const asked: Promise<void>[] = [];
      const over = new AbortController();
      let decided: CallResponse | "lost" | undefined;
      const finish = async (one: (typeof running)[number], end: string) => {
        running.splice(running.indexOf(one), 1);
        const answer = end === "good" ? answerOf(`by ${one.id}`) : answerOf(end, end === "denied" ? DENIED : PASSING);
        if (end === "good") decided = answer;
        await one.claim.settle(answer, { ...(one.write ? WRITE : READ), done: end === "good" });
      };
      const take = async (id: string, write: boolean, entry: Entry) => {
        if (entry.kind === "replay") answers.push(entry.answer);
        if (entry.kind !== "go_on" || !alive.has(id)) return;
        expect([decided, running.filter((other) => alive.has(other.id))]).toEqual([undefined, []]);
        const one = { id, claim: entry.claim, write };
        running.push(one);
        if (write) await entry.claim.begin();
      };
      for (const step of steps) {
        if (step.kind === "ask") {
          const { id, enter } = kernels[step.kernel] as (typeof kernels)[number];
          if (alive.has(id)) asked.push(enter(KEYED, over.signal).then((entry) => take(id, step.write, entry)));
        } else if (step.kind === "end") {
          const one = running[step.pick % running.length];
          if (one !== undefined && alive.has(one.id)) await finish(one, step.end);
        } else {
          const { id } = kernels[step.kernel] as (typeof kernels)[number];
          alive.delete(id);
          if (running.some((one) => one.id === id && one.write)) decided ??= "lost";
          kernels[step.kernel] = { id: `ins_${names}`, ...kernel(`ins_${names++}`) };
        }
        await new Promise((done) => setImmediate(done));
      }
      over.abort();
      for (const one of [...running]) if (alive.has(one.id)) await finish(one, "denied");
      await Promise.all(asked);
      for (const answer of answers) expect(answer).toEqual(decided);
    }),
    { numRuns: 60 },
  );
});

test("a kernel that is gone leaves its answer, if the evidence says that the call was executed", async () => {
  const { kernel, alive, recorded } = place();
  for (const dedupeKey of ["recorded", "not recorded"]) {
    const claim = claimOf(await kernel("ins_gone").enter({ ...KEYED, dedupeKey }));
    await claim.begin();
    const { ledgerSequence: _, ...answer } = answerOf("first");
    await claim.prepare(answer, WRITE, { intent: dedupeKey === "recorded" ? 5 : 6 });
  }
  recorded.set(5, 7);
  const living = kernel("ins_next");
  // While its kernel lives, the evidence is not asked.
  const { entry } = await waiter({ enter: (keyed) => living.enter({ ...KEYED, dedupeKey: "recorded", ...keyed }) });
  alive.delete("ins_gone");
  expect(await entry).toMatchObject({ kind: "replay", answer: answerOf("first") });
  alive.clear();
  expect(await kernel("ins_later").enter({ ...KEYED, dedupeKey: "recorded" })).toMatchObject({
    kind: "replay",
    answer: answerOf("first"),
  });
  expect(await kernel("ins_later").enter({ ...OTHER_RULES, dedupeKey: "recorded" })).toMatchObject({ kind: "stale" });
  expect(await kernel("ins_later").enter({ ...KEYED, dedupeKey: "not recorded" })).toMatchObject(
    failed("OUTCOME_UNKNOWN"),
  );
});
