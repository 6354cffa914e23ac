/** What every store of claims and kept answers must do; two opened stores stand for two kernels that share a place. */
import { expect, test } from "vitest";
import type { ClaimRequest, DedupeStore } from "../../src/dedupe/dedupe-store.ts";

const KEY = { sessionId: "ses_one", dedupeKey: "once" };
const CALL = Buffer.alloc(32, 1);
const OTHER = Buffer.alloc(32, 2);
const NOW_MS = 1_700_000_000_000;
const RECORD = { text: '{"a":"ü\\u0000"}', bytes: Buffer.from([0, 255, 128]) };

/** A wish of instance `holder`, with what is different from the usual one. */
function wish(holder: string, change: Partial<ClaimRequest> = {}): ClaimRequest {
  return { ...KEY, call: CALL, holder, nowMs: NOW_MS, forgetBeforeMs: NOW_MS - 1000, ...change };
}

/** The tests of the port; `open` gives one kernel's view of an empty place, `openTwice` two of the same. */
export function dedupeContract(
  open: () => Promise<DedupeStore>,
  openTwice: () => Promise<readonly [DedupeStore, DedupeStore]>,
): void {
  test("one kernel gets the claim; everybody else, the same kernel too, sees who holds it", async () => {
    const [left, right] = await openTwice();
    expect(await left.claim(wish("ins_a"))).toEqual({ kind: "claimed" });
    const held = { kind: "held", call: CALL, holder: "ins_a", begun: false, sinceMs: NOW_MS };
    expect(await right.claim(wish("ins_b", { call: OTHER }))).toEqual(held);
    expect(await left.claim(wish("ins_a"))).toEqual(held);
    expect(await right.claim(wish("ins_b", { dedupeKey: "other" }))).toEqual({ kind: "claimed" });
    expect(await right.claim(wish("ins_b", { sessionId: "ses_two" }))).toEqual({ kind: "claimed" });
  });

  test("of many kernels' claims at once one succeeds", async () => {
    const stores = await openTwice();
    const wishes = Array.from({ length: 50 }, (_, index) => stores[index % 2]?.claim(wish(`ins_${index}`)));
    expect((await Promise.all(wishes)).filter((outcome) => outcome?.kind === "claimed")).toHaveLength(1);
  });

  test("a begun claim is seen as begun; it can be begun once, and by its holder alone", async () => {
    const [left, right] = await openTwice();
    await left.claim(wish("ins_a"));
    expect(await right.begin(KEY, "ins_b")).toBe(false);
    expect(await left.begin(KEY, "ins_a")).toBe(true);
    expect(await left.begin(KEY, "ins_a")).toBe(false);
    expect(await right.claim(wish("ins_b"))).toMatchObject({ kind: "held", holder: "ins_a", begun: true });
    expect(await left.begin({ ...KEY, dedupeKey: "never claimed" }, "ins_a")).toBe(false);
  });

  test("a kept answer comes back as it was, to everybody; it is kept once, and by the holder alone", async () => {
    const [left, right] = await openTwice();
    await left.claim(wish("ins_a"));
    expect(await right.keep(KEY, "ins_b", { ...RECORD, nowMs: NOW_MS })).toBe(false);
    await left.begin(KEY, "ins_a");
    expect(await left.keep(KEY, "ins_a", { ...RECORD, nowMs: NOW_MS + 5 })).toBe(true);
    expect(await left.keep(KEY, "ins_a", { ...RECORD, text: "{}", nowMs: NOW_MS })).toBe(false);
    expect(await right.claim(wish("ins_b"))).toEqual({ kind: "kept", call: CALL, record: RECORD });
    expect(await left.claim(wish("ins_a"))).toEqual({ kind: "kept", call: CALL, record: RECORD });
  });

  test("an answer is put aside beside a begun claim, by its holder alone, and goes with the claim", async () => {
    const [left, right] = await openTwice();
    await left.claim(wish("ins_a"));
    expect(await left.prepare(KEY, "ins_a", RECORD)).toBe(false);
    await left.begin(KEY, "ins_a");
    expect(await right.prepare(KEY, "ins_b", RECORD)).toBe(false);
    expect(await left.prepare(KEY, "ins_a", RECORD)).toBe(true);
    const held = { kind: "held", call: CALL, holder: "ins_a", begun: true, sinceMs: NOW_MS } as const;
    expect(await right.claim(wish("ins_b"))).toEqual({ ...held, prepared: RECORD });
    expect(await right.takeOver(wish("ins_b"), held)).toBe(true);
    expect(await left.claim(wish("ins_a"))).toEqual({ ...held, holder: "ins_b", begun: false });
  });

  test("a kept answer becomes a claim again, once, and nothing else does", async () => {
    const [left, right] = await openTwice();
    expect(await right.supersede(wish("ins_b"))).toBe(false);
    await left.claim(wish("ins_a"));
    expect(await right.supersede(wish("ins_b"))).toBe(false);
    await left.keep(KEY, "ins_a", { ...RECORD, nowMs: NOW_MS });
    expect(await right.supersede(wish("ins_b", { nowMs: NOW_MS + 7 }))).toBe(true);
    expect(await left.supersede(wish("ins_a"))).toBe(false);
    const held = { kind: "held", call: CALL, holder: "ins_b", begun: false, sinceMs: NOW_MS + 7 };
    expect(await left.claim(wish("ins_a"))).toEqual(held);
    expect(await right.keep(KEY, "ins_b", { ...RECORD, text: "{}", nowMs: NOW_MS })).toBe(true);
    expect(await left.claim(wish("ins_a"))).toMatchObject({ kind: "kept", record: { text: "{}" } });
  });

  test("many begins at once are all acknowledged", async () => {
    const store = await open();
    const keys = Array.from({ length: 40 }, (_, index) => ({ ...KEY, dedupeKey: `key ${index}` }));
    for (const key of keys) await store.claim(wish("ins_a", key));
    expect(new Set(await Promise.all(keys.map((key) => store.begin(key, "ins_a"))))).toEqual(new Set([true]));
  });

  test("a released claim is free; only its holder can release it, and no answer can be released", async () => {
    const [left, right] = await openTwice();
    await left.claim(wish("ins_a"));
    await right.release(KEY, "ins_b");
    expect((await right.claim(wish("ins_b"))).kind).toBe("held");
    await left.release(KEY, "ins_a");
    expect((await right.claim(wish("ins_b", { call: OTHER }))).kind).toBe("claimed");
    await right.keep(KEY, "ins_b", { ...RECORD, nowMs: NOW_MS });
    await right.release(KEY, "ins_b");
    expect(await left.claim(wish("ins_a"))).toMatchObject({ kind: "kept", call: OTHER });
  });

  test("a claim is taken over once, and only as it was seen", async () => {
    const [left, right] = await openTwice();
    await left.claim(wish("ins_dead"));
    const seen = { holder: "ins_dead", begun: false, sinceMs: NOW_MS };
    expect(await right.takeOver(wish("ins_b"), { ...seen, begun: true })).toBe(false);
    expect(await right.takeOver(wish("ins_b"), { ...seen, holder: "ins_x" })).toBe(false);
    expect(await right.takeOver(wish("ins_b", { call: OTHER, nowMs: NOW_MS + 7 }), seen)).toBe(true);
    expect(await left.takeOver(wish("ins_a"), seen)).toBe(false);
    const held = { kind: "held", call: OTHER, holder: "ins_b", begun: false, sinceMs: NOW_MS + 7 };
    expect(await left.claim(wish("ins_a"))).toEqual(held);
    expect(await left.keep(KEY, "ins_dead", { ...RECORD, nowMs: NOW_MS })).toBe(false);
  });

  test("an answer counts as gone from the millisecond on that is named; a held claim never does", async () => {
    const store = await open();
    await store.claim(wish("ins_a"));
    expect((await store.claim(wish("ins_b", { forgetBeforeMs: NOW_MS + 1 }))).kind).toBe("held");
    await store.keep(KEY, "ins_a", { ...RECORD, nowMs: NOW_MS });
    expect((await store.claim(wish("ins_b", { forgetBeforeMs: NOW_MS }))).kind).toBe("kept");
    expect((await store.claim(wish("ins_b", { forgetBeforeMs: NOW_MS + 1 }))).kind).toBe("claimed");
  });

  test("a purge deletes old answers up to its limit, the oldest first, and no claims", async () => {
    const store = await open();
    for (const [index, dedupeKey] of ["c", "a", "b"].entries()) {
      await store.claim(wish("ins_a", { dedupeKey }));
      await store.keep({ ...KEY, dedupeKey }, "ins_a", { ...RECORD, nowMs: NOW_MS - index });
    }
    await store.claim(wish("ins_a", { dedupeKey: "held", nowMs: NOW_MS - 9 }));
    expect(await store.purge(NOW_MS, 1)).toBe(1);
    const kindOf = async (dedupeKey: string) => (await store.claim(wish("ins_z", { dedupeKey }))).kind;
    expect([await kindOf("a"), await kindOf("b"), await kindOf("c")]).toEqual(["kept", "claimed", "kept"]);
    expect(await store.purge(NOW_MS, 10)).toBe(1);
    expect(await store.purge(NOW_MS, 10)).toBe(0);
    expect([await kindOf("a"), await kindOf("c"), await kindOf("held")]).toEqual(["claimed", "kept", "held"]);
  });

  test("old claims are listed, the oldest first, up to the limit", async () => {
    const store = await open();
    for (const [index, dedupeKey] of ["young", "old", "older"].entries()) {
      await store.claim(wish("ins_a", { dedupeKey, nowMs: NOW_MS - index }));
    }
    await store.begin({ ...KEY, dedupeKey: "older" }, "ins_a");
    const older = { ...KEY, dedupeKey: "older", holder: "ins_a", begun: true, sinceMs: NOW_MS - 2 };
    const old = { ...KEY, dedupeKey: "old", holder: "ins_a", begun: false, sinceMs: NOW_MS - 1 };
    expect(await store.heldBefore(NOW_MS, 10)).toEqual([older, old]);
    expect(await store.heldBefore(NOW_MS, 1)).toEqual([older]);
  });
}
