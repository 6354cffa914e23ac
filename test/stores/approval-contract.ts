/** What every store of approvals must do; two opened stores stand for two kernels that share a place. */
import { expect, test } from "vitest";
import type { ApprovalDecision, ApprovalStore, NewApproval } from "../../src/approval/requests/approval-store.ts";

const NOW_MS = 1_700_000_000_000;
const LIMITS = { pendingMax: 3, perMinuteMax: 5, perHourMax: 1e9, pendingTotalMax: 6 };
const APPROVE: ApprovalDecision = {
  approved: true,
  by: "ann",
  channel: "cli",
  atMs: NOW_MS + 10,
  scope: { kind: "once" },
};
const DENY: ApprovalDecision = { approved: false, by: "bob", channel: "rpc", atMs: NOW_MS + 20, reason: "not today" };

function digest(name: string): string {
  return Buffer.from(name).toString("hex").padEnd(64, "0").slice(0, 64);
}

/** A request called `name`, of a call of its own. */
function request(name: string, change: Partial<NewApproval> = {}): NewApproval {
  return {
    ref: `blake3:${digest(name)}`,
    call: digest(`call ${name}`),
    binding: digest(`binding ${name}`),
    userId: "ann",
    agentId: "agent",
    serviceRoot: "/srv/one",
    sessionId: "ses_one",
    sessionEndsAtMs: NOW_MS + 3_600_000,
    kind: "",
    tool: "write_file",
    createdAtMs: NOW_MS,
    expiresAtMs: NOW_MS + 900_000,
    document: `{"name":"${name}"}`,
    code: "code",
    inBand: true,
    ...change,
  };
}

/** The tests of the port; `open` gives one kernel's view of an empty place, `openTwice` two of the same. */
export function approvalContract(
  open: () => Promise<ApprovalStore>,
  openTwice: () => Promise<readonly [ApprovalStore, ApprovalStore]>,
): void {
  const one = request("one");
  const { ref, binding } = one;

  test("a request is seen as it was added, by everybody, by its reference and by the beginning of it", async () => {
    const [left, right] = await openTwice();
    expect(await left.add(one, LIMITS)).toEqual({ kind: "added" });
    const stored = { ...one, state: "pending", uses: 0, inBandAnswers: 0, joined: 0 };
    expect(await right.find(ref, NOW_MS)).toEqual(stored);
    expect(await right.live(one.call, NOW_MS)).toEqual([stored]);
    expect(await right.findByPrefix(ref.slice(7, 17), NOW_MS)).toEqual([stored]);
    expect(await right.list("pending", 10, NOW_MS)).toEqual([stored]);
    expect(await right.list("denied", 10, NOW_MS)).toEqual([]);
    expect([await right.find("blake3:none", NOW_MS), await right.live("none", NOW_MS)]).toEqual([undefined, []]);
  });

  test("the same call with the same binding is asked about once; with another binding once more", async () => {
    const [left, right] = await openTwice();
    await left.add(one, LIMITS);
    const again = { ...one, ref: `blake3:${digest("again")}` };
    expect(await right.add(again, LIMITS)).toEqual({
      kind: "shared",
      approval: { ...one, state: "pending", uses: 0, inBandAnswers: 0, joined: 0 },
    });
    expect(await right.add({ ...again, binding: digest("other") }, LIMITS)).toEqual({ kind: "added" });
    expect((await left.live(one.call, NOW_MS)).map((found) => found.binding)).toEqual([binding, digest("other")]);
  });

  test("of one hundred uses of an approval of one execution by two kernels one succeeds", async () => {
    const stores = await openTwice();
    await stores[0].add(one, LIMITS);
    await stores[0].decide(ref, APPROVE);
    const uses = Array.from({ length: 100 }, (_, index) =>
      stores[index % 2]?.consume({ ref, binding, requestId: `req-${index}` }, NOW_MS + 30),
    );
    expect((await Promise.all(uses)).filter(Boolean)).toHaveLength(1);
    expect(await stores[1].find(ref, NOW_MS + 30)).toMatchObject({ state: "consumed", uses: 1 });
  });

  test("an approval is used only with its binding, before its time is over, and after it was given", async () => {
    const store = await open();
    await store.add(one, LIMITS);
    expect(await store.consume({ ref, binding, requestId: "req" }, NOW_MS)).toBe(false);
    await store.decide(ref, APPROVE);
    expect(await store.consume({ ref, binding: digest("other"), requestId: "req" }, NOW_MS + 30)).toBe(false);
    expect(await store.consume({ ref, binding, requestId: "req" }, one.expiresAtMs)).toBe(false);
    expect(await store.consume({ ref, binding, requestId: "req" }, one.expiresAtMs - 1)).toBe(true);
  });

  test("an approval for the session, or until a time, is used again and again until it is over", async () => {
    const store = await open();
    const other = request("two");
    for (const each of [one, other]) await store.add(each, LIMITS);
    await store.decide(ref, { ...APPROVE, scope: { kind: "session" } });
    await store.decide(other.ref, { ...APPROVE, scope: { kind: "until", untilMs: NOW_MS + 5000 } });
    for (const time of [1, 2, 3])
      expect(await store.consume({ ref, binding, requestId: `req-${time}` }, NOW_MS + 1_000_000)).toBe(true);
    expect(await store.consume({ ref, binding, requestId: "req-late" }, one.sessionEndsAtMs)).toBe(false);
    expect(await store.consume({ ...other, requestId: "req" }, NOW_MS + 4999)).toBe(true);
    expect(await store.consume({ ...other, requestId: "req" }, NOW_MS + 5000)).toBe(false);
    expect(await store.find(ref, NOW_MS)).toMatchObject({ state: "approved", uses: 3, usedBy: "req-3" });
  });

  test("no approval outlives its session, however long it was given for", async () => {
    const store = await open();
    await store.add(one, LIMITS);
    await store.decide(ref, { ...APPROVE, scope: { kind: "until", untilMs: one.sessionEndsAtMs + 1000 } });
    expect(await store.find(ref, NOW_MS)).toMatchObject({ expiresAtMs: one.sessionEndsAtMs });
  });

  test("the first decision stands, but a denial takes back an approval that nobody has used", async () => {
    const [left, right] = await openTwice();
    const [two, three] = [request("two"), request("three")];
    for (const each of [one, two, three]) await left.add(each, LIMITS);
    // denied first
    expect((await left.decide(ref, DENY)).kind).toBe("decided");
    expect(await right.decide(ref, APPROVE)).toMatchObject({
      kind: "stands",
      approval: { state: "denied", decision: DENY },
    });
    // approved first, not used
    expect((await left.decide(two.ref, APPROVE)).kind).toBe("decided");
    expect((await right.decide(two.ref, APPROVE)).kind).toBe("stands");
    expect(await right.decide(two.ref, DENY)).toMatchObject({
      kind: "decided",
      approval: { state: "denied", decision: DENY },
    });
    expect(await left.consume({ ...two, requestId: "req" }, NOW_MS + 30)).toBe(false);
    // approved first, used
    await left.decide(three.ref, APPROVE);
    await left.consume({ ...three, requestId: "req" }, NOW_MS + 30);
    expect(await right.decide(three.ref, DENY)).toMatchObject({ kind: "stands", approval: { state: "consumed" } });
    expect(await left.giveBack(three.ref, "req")).toBe(false); // refused since
    expect(await left.decide("blake3:none", APPROVE)).toEqual({ kind: "unknown" });
  });

  test("an answer of the asking client is counted once, after those that it knows of; of one hundred at once one is", async () => {
    const [left, right] = await openTwice();
    await left.add(one, LIMITS);
    expect([await left.countInBandAnswer(ref, 1), await left.countInBandAnswer("blake3:none", 0)]).toEqual([
      false,
      false,
    ]);
    const answers = Array.from({ length: 100 }, (_, index) => [left, right][index % 2]?.countInBandAnswer(ref, 0));
    expect((await Promise.all(answers)).filter(Boolean)).toHaveLength(1);
    expect(await right.countInBandAnswer(ref, 1)).toBe(true);
    expect(await left.find(ref, NOW_MS)).toMatchObject({ state: "pending", inBandAnswers: 2 });
  });

  test("a use that came to nothing is given back by the one who made it, unless the call was asked about anew", async () => {
    const store = await open();
    await store.add(one, LIMITS);
    await store.decide(ref, APPROVE);
    await store.consume({ ref, binding, requestId: "req-1" }, NOW_MS + 30);
    expect(await store.giveBack(ref, "req-2")).toBe(false);
    expect(await store.giveBack(ref, "req-1")).toBe(true);
    expect(await store.giveBack(ref, "req-1")).toBe(false);
    expect(await store.consume({ ref, binding, requestId: "req-3" }, NOW_MS + 40)).toBe(true);
    await store.add({ ...one, ref: `blake3:${digest("anew")}` }, LIMITS);
    expect(await store.giveBack(ref, "req-3")).toBe(false);
  });

  test("what has expired says so from the very moment on, cannot be decided any more, and makes room", async () => {
    const store = await open();
    await store.add(one, LIMITS);
    expect(await store.find(ref, one.expiresAtMs - 1)).toMatchObject({ state: "pending" });
    expect(await store.find(ref, one.expiresAtMs)).toMatchObject({ state: "expired" });
    expect(await store.list("expired", 10, one.expiresAtMs)).toHaveLength(1);
    expect((await store.decide(ref, { ...APPROVE, atMs: one.expiresAtMs })).kind).toBe("stands");
    const again = {
      ...one,
      ref: `blake3:${digest("again")}`,
      createdAtMs: one.expiresAtMs,
      expiresAtMs: one.expiresAtMs + 1000,
    };
    // to be noted first
    expect(await store.add(again, LIMITS)).toMatchObject({ kind: "shared", approval: { ref, state: "expired" } });
    expect(await store.end(ref, "expired")).toBe(true);
    expect(await store.add(again, LIMITS)).toEqual({ kind: "added" });
  });

  test("a denial lasts as long as the request was to live, also where it takes back a longer approval", async () => {
    const store = await open();
    await store.add(one, LIMITS);
    await store.decide(ref, { ...APPROVE, scope: { kind: "session" } });
    await store.decide(ref, { ...DENY, atMs: NOW_MS + 100 });
    expect(await store.live(one.call, NOW_MS + 100 + 899_999)).toHaveLength(1);
    expect(await store.live(one.call, NOW_MS + 100 + 900_000)).toEqual([]);
  });

  test("one principal in one workspace may have so many requests wait, and make so many in a minute; others are not kept from it", async () => {
    const store = await open();
    const at = (index: number, afterMs: number, change: Partial<NewApproval> = {}) =>
      request(`r${index}`, { createdAtMs: NOW_MS + afterMs, expiresAtMs: NOW_MS + 900_000, ...change });
    for (const index of [1, 2, 3]) expect(await store.add(at(index, index), LIMITS)).toEqual({ kind: "added" });
    expect(await store.add(at(4, 10), LIMITS)).toMatchObject({ kind: "crowded" });
    expect(await store.room(at(4, 10, { serviceRoot: "/srv/two" }), LIMITS, NOW_MS + 10)).toBe(0);
    for (const index of [1, 2, 3]) await store.decide(at(index, 0).ref, DENY);
    for (const index of [4, 5]) expect(await store.add(at(index, 10 + index), LIMITS)).toEqual({ kind: "added" });
    expect(await store.add(at(6, 100), LIMITS)).toEqual({ kind: "crowded", retryAfterMs: 60_001 - 100 });
    expect(await store.add(at(6, 60_001), LIMITS)).toEqual({ kind: "added" });
  });

  test("a clock that goes backwards keeps nobody from asking", async () => {
    const store = await open();
    for (const index of [1, 2, 3, 4, 5]) {
      await store.add(request(`r${index}`), LIMITS);
      await store.decide(request(`r${index}`).ref, DENY);
    }
    expect(await store.room(one, LIMITS, NOW_MS)).toBe(60_000);
    expect(await store.room(one, LIMITS, NOW_MS - 3_600_000)).toBe(0);
  });

  test("all principals together may have so many requests wait", async () => {
    const store = await open();
    const agent = (index: number) => request(`r${index}`, { agentId: `agent-${index}` });
    for (const index of [1, 2, 3, 4, 5, 6]) expect(await store.add(agent(index), LIMITS)).toEqual({ kind: "added" });
    expect(await store.add(agent(7), LIMITS)).toMatchObject({ kind: "crowded" });
  });

  test("what was ended lets nothing through, and is ended once", async () => {
    const store = await open();
    await store.add(one, LIMITS);
    await store.decide(ref, APPROVE);
    expect([await store.end(ref, "void"), await store.end(ref, "expired")]).toEqual([true, false]);
    expect(await store.consume({ ref, binding, requestId: "req" }, NOW_MS + 30)).toBe(false);
    expect(await store.find(ref, NOW_MS)).toMatchObject({ state: "void" });
  });

  test("a sweep notes what has expired and forgets what was over long ago, a few at a time", async () => {
    const store = await open();
    const all = [1, 2, 3].map((index) => request(`r${index}`, { expiresAtMs: NOW_MS + index * 1000 }));
    for (const each of all) await store.add(each, LIMITS);
    const first = await store.sweep(NOW_MS + 2500, NOW_MS, 1);
    expect([first.expired.map((found) => found.ref), first.forgotten]).toEqual([[all[0]?.ref], []]);
    const second = await store.sweep(NOW_MS + 2500, NOW_MS + 1500, 10);
    expect([second.expired.map((found) => found.ref), second.forgotten]).toEqual([[all[1]?.ref], [all[0]?.ref]]);
    expect(await store.list(undefined, 10, NOW_MS)).toHaveLength(2);
  });
}
