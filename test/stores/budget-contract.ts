/** What every store of budgets must do; two opened stores stand for two kernels that share a place. */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { BudgetStore, LimitedAccount, Wish } from "../../src/budget/budget-store.ts";
import type { LeaseBudget } from "../../src/model/people/lease.ts";
import { type Amounts, BUDGET_MEMBERS, NOTHING } from "../../src/model/spending/budget.ts";

const HOUR_MS = 3_600_000;
/** The beginning of an hour. */
const NOON_MS = 472_222 * HOUR_MS;
const SPENDER = { sessionId: "ses_one", actor: "ann/agent", requestId: "req" };

function account(limit: LeaseBudget, change: Partial<LimitedAccount> = {}): LimitedAccount {
  return { key: "lease:lea_one", limit, ...change };
}

/** A wish of instance `ins_a` for one call, with what is different. */
function wish(
  id: string,
  accounts: readonly LimitedAccount[],
  change: Partial<Wish> & { readonly least?: Amounts } = {},
): Wish {
  const least = change.least ?? { ...NOTHING, calls: 1 };
  return { id, instance: "ins_a", accounts, least, most: least, nowMs: NOON_MS, ...change };
}

/** The tests of the port; `open` gives one kernel's view of an empty place, `openTwice` two of the same. */
export function budgetContract(
  open: () => Promise<BudgetStore>,
  openTwice: () => Promise<readonly [BudgetStore, BudgetStore]>,
): void {
  test("what is reserved is kept from every kernel, what is settled is spent, the rest is free again", async () => {
    const [left, right] = await openTwice();
    const accounts = [account({ bytes: 100 })];
    const sixty = { ...NOTHING, bytes: 60 };
    expect(await left.reserve(wish("one", accounts, { least: sixty }), SPENDER)).toEqual({
      kind: "reserved",
      granted: sixty,
    });
    expect(await right.reserve(wish("two", accounts, { least: sixty }), SPENDER)).toEqual({
      kind: "exhausted",
      key: "lease:lea_one",
      member: "bytes",
      limit: 100,
      spent: 0,
      reserved: 60,
      needed: 60,
    });
    expect(await left.settle("one", "ins_a", { ...NOTHING, bytes: 40 })).toBe(true);
    expect((await right.reserve(wish("two", accounts, { least: sixty }), SPENDER)).kind).toBe("reserved");
    expect((await left.reserve(wish("three", accounts, { least: { ...NOTHING, bytes: 1 } }), SPENDER)).kind).toBe(
      "exhausted",
    );
    expect(await left.listAccounts(10)).toEqual([
      { key: "lease:lea_one", spent: { ...NOTHING, bytes: 40 }, reserved: sixty, beganMs: 0 },
    ]);
  });

  test("more than the least is granted as far as there is more", async () => {
    const store = await open();
    const amounts = { least: { ...NOTHING, bytes: 10 }, most: { ...NOTHING, bytes: 80, tokens: 7 } };
    const accounts = [account({ bytes: 100 }), account({ bytes: 90, tokens: 5 }, { key: "session:ses_one" })];
    const first = await store.reserve(wish("one", accounts, amounts), SPENDER);
    expect(first).toEqual({ kind: "reserved", granted: { ...NOTHING, bytes: 80, tokens: 5 } });
    const second = await store.reserve(wish("two", accounts, amounts), SPENDER);
    expect(second).toEqual({ kind: "reserved", granted: { ...NOTHING, bytes: 10 } });
    expect(await store.reserve(wish("three", accounts, amounts), SPENDER)).toMatchObject({
      kind: "exhausted",
      key: "session:ses_one",
    });
  });

  test("a budget of nothing admits nothing, and what is not limited is only counted", async () => {
    const store = await open();
    expect((await store.reserve(wish("none", [account({ calls: 0 })]), SPENDER)).kind).toBe("exhausted");
    const least = { calls: 1, durationMs: 5, bytes: 6, tokens: 7, costMicros: 8 };
    expect(await store.reserve(wish("all", [account({ calls: 1 })], { least }), SPENDER)).toEqual({
      kind: "reserved",
      granted: least,
    });
    await store.settle("all", "ins_a", least);
    expect((await store.listAccounts(10))[0]).toMatchObject({ spent: least, reserved: NOTHING });
  });

  test("one account without enough left, and no account is charged", async () => {
    const store = await open();
    const accounts = [account({ calls: 5 }), account({ calls: 0 }, { key: "principal:p" })];
    expect(await store.reserve(wish("one", accounts), SPENDER)).toMatchObject({
      kind: "exhausted",
      key: "principal:p",
    });
    expect((await store.listAccounts(10)).map(({ reserved }) => reserved.calls)).toEqual([0, 0]);
  });

  test("a reservation ends once, and only its instance ends it", async () => {
    const [left, right] = await openTwice();
    await left.reserve(wish("one", [account({ calls: 5 })]), SPENDER);
    expect(await right.settle("one", "ins_b", NOTHING)).toBe(false);
    expect([await left.holds("one", "ins_a"), await right.holds("one", "ins_b")]).toEqual([true, false]);
    expect(await left.settle("one", "ins_a", { ...NOTHING, calls: 1 })).toBe(true);
    expect(await left.settle("one", "ins_a", { ...NOTHING, calls: 1 })).toBe(false);
    expect(await left.holds("one", "ins_a")).toBe(false);
    expect((await left.listAccounts(10))[0]?.spent.calls).toBe(1);
  });

  test("a reservation grows as far as there is more, and one that is gone does not", async () => {
    const store = await open();
    const accounts = [account({ durationMs: 100 })];
    const most = (durationMs: number) => ({ least: { ...NOTHING, durationMs: 1 }, most: { ...NOTHING, durationMs } });
    await store.reserve(wish("one", accounts, most(40)), SPENDER);
    expect(await store.extend(wish("one", accounts, most(50)))).toEqual({
      kind: "reserved",
      granted: { ...NOTHING, durationMs: 50 },
    });
    expect(await store.extend(wish("one", accounts, most(50)))).toEqual({
      kind: "reserved",
      granted: { ...NOTHING, durationMs: 10 },
    });
    expect((await store.extend(wish("one", accounts, most(50)))).kind).toBe("exhausted");
    expect((await store.listAccounts(10))[0]?.reserved.durationMs).toBe(100);
    await store.settle("one", "ins_a", NOTHING);
    await expect(store.extend(wish("one", accounts, most(50)))).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  });

  test("amounts that cannot be counted stay at the end of what can, and leave nothing", async () => {
    const store = await open();
    const huge = { ...NOTHING, tokens: Number.MAX_SAFE_INTEGER };
    const accounts = [account({ tokens: Number.MAX_SAFE_INTEGER })];
    for (const id of ["one", "two"]) {
      await store.reserve(wish(id, [account({ calls: 9 })], { least: huge }), SPENDER);
      await store.settle(id, "ins_a", huge);
    }
    expect((await store.listAccounts(10))[0]?.spent).toEqual(huge);
    expect((await store.reserve(wish("three", accounts, { least: { ...NOTHING, tokens: 1 } }), SPENDER)).kind).toBe(
      "exhausted",
    );
  });

  test("a period begins anew at its multiple, and what was reserved before counts for the one before", async () => {
    const store = await open();
    const accounts = [account({ calls: 1 }, { periodMs: HOUR_MS })];
    const at = (id: string, nowMs: number) => store.reserve(wish(id, accounts, { nowMs }), SPENDER);
    expect((await at("one", NOON_MS + HOUR_MS - 1)).kind).toBe("reserved");
    expect(await at("two", NOON_MS + HOUR_MS - 1)).toMatchObject({ kind: "exhausted", renewsAtMs: NOON_MS + HOUR_MS });
    expect((await at("two", NOON_MS + HOUR_MS)).kind).toBe("reserved");
    await store.settle("one", "ins_a", { ...NOTHING, calls: 1 });
    expect((await store.listAccounts(10))[0]).toMatchObject({
      spent: NOTHING,
      reserved: { calls: 1 },
      beganMs: NOON_MS + HOUR_MS,
    });
  });

  test("a reservation that grows in a later period is paid there in whole", async () => {
    const store = await open();
    const accounts = [account({ bytes: 100 }, { periodMs: HOUR_MS })];
    await store.reserve(wish("one", accounts, { least: { ...NOTHING, bytes: 70 } }), SPENDER);
    const later = { nowMs: NOON_MS + HOUR_MS };
    expect((await store.extend(wish("one", accounts, { ...later, least: { ...NOTHING, bytes: 31 } }))).kind).toBe(
      "exhausted",
    );
    expect((await store.extend(wish("one", accounts, { ...later, least: { ...NOTHING, bytes: 30 } }))).kind).toBe(
      "reserved",
    );
    expect(
      (await store.reserve(wish("two", accounts, { ...later, least: { ...NOTHING, bytes: 1 } }), SPENDER)).kind,
    ).toBe("exhausted");
  });

  test("a clock that goes backwards refills nothing, by a little or by far", async () => {
    const store = await open();
    const accounts = [account({ calls: 2 }, { periodMs: HOUR_MS })];
    const at = async (id: string, nowMs: number) => (await store.reserve(wish(id, accounts, { nowMs }), SPENDER)).kind;
    expect(await at("one", NOON_MS)).toBe("reserved");
    await store.settle("one", "ins_a", { ...NOTHING, calls: 1 });
    expect(await at("two", NOON_MS - 1)).toBe("reserved");
    expect(await at("three", NOON_MS - 1)).toBe("exhausted");
    expect(await at("three", NOON_MS - 30 * HOUR_MS)).toBe("exhausted");
    await store.settle("two", "ins_a", { ...NOTHING, calls: 1 });
    expect(await at("three", NOON_MS - 30 * HOUR_MS)).toBe("exhausted");
    expect(await at("three", NOON_MS - 29 * HOUR_MS)).toBe("reserved");
  });

  test("what a dead kernel reserved is adopted once, and settled by whoever adopted it", async () => {
    const [left, right] = await openTwice();
    const accounts = [account({ calls: 5 }), account({ calls: 9 }, { key: "session:ses_one" })];
    await left.reserve(wish("one", accounts, { instance: "ins_dead" }), SPENDER);
    await left.reserve(wish("two", accounts), SPENDER);
    expect(await right.holders(10)).toEqual(["ins_a", "ins_dead"]);
    const adopted = await Promise.all([left.adopt("ins_dead", "ins_a", 10), right.adopt("ins_dead", "ins_b", 10)]);
    const orphan = {
      id: "one",
      accounts: ["lease:lea_one", "session:ses_one"],
      amounts: { ...NOTHING, calls: 1 },
      atMs: NOON_MS,
      ...SPENDER,
    };
    expect(adopted.flat()).toEqual([orphan]);
    const by = adopted[0]?.length === 1 ? "ins_a" : "ins_b";
    expect(await right.settle("one", by, orphan.amounts)).toBe(true);
    expect((await left.listAccounts(10)).map(({ spent, reserved }) => [spent.calls, reserved.calls])).toEqual([
      [1, 1],
      [1, 1],
    ]);
  });

  test("reservations survive a store that is opened again", async () => {
    const [left, right] = await openTwice();
    await left.reserve(wish("one", [account({ calls: 1 })]), SPENDER);
    await left.sync();
    await left.close();
    expect((await right.reserve(wish("two", [account({ calls: 1 })]), SPENDER)).kind).toBe("exhausted");
  });

  test("whatever two kernels do in whatever order, no account spends and reserves more than its limit", async () => {
    const amount = fc.nat({ max: 6 });
    const some = fc.record({ calls: amount, durationMs: amount, bytes: amount, tokens: amount, costMicros: amount });
    const step = fc.record({
      kernel: fc.constantFrom(0 as const, 1 as const),
      act: fc.constantFrom("reserve", "reserve", "extend", "settle", "release", "die"),
      which: fc.nat({ max: 30 }),
      least: some,
      extra: some,
      used: fc.double({ min: 0, max: 1, noNaN: true }),
      hours: fc.constantFrom(0, 0, 0, 1, -1, -5),
    });
    const limits = fc.record(
      { calls: amount, bytes: fc.nat({ max: 20 }), tokens: fc.nat({ max: 20 }) },
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(limits, limits, fc.array(step, { maxLength: 40 }), async (ofLease, ofPrincipal, steps) => {
        const stores = await openTwice();
        const accounts = [account(ofLease), account(ofPrincipal, { key: "principal:p", periodMs: HOUR_MS })];
        const held = new Map<string, { instance: string; granted: Amounts }>();
        let nowMs = NOON_MS;
        for (const [index, { kernel, act, which, least, extra, used, hours }] of steps.entries()) {
          const store = stores[kernel];
          nowMs += hours * HOUR_MS;
          const most = sum(least, extra);
          const [id, hold] = [...held][which % Math.max(1, held.size)] ?? [];
          if (act === "reserve") {
            const instance = `ins_${kernel}`;
            const reserved = await store.reserve(
              { id: `hold ${index}`, instance, accounts, least, most, nowMs },
              SPENDER,
            );
            if (reserved.kind === "reserved") held.set(`hold ${index}`, { instance, granted: reserved.granted });
          } else if (id !== undefined && hold !== undefined) {
            const { instance, granted } = hold;
            if (act === "extend") {
              const more = await store.extend({ id, instance, accounts, least, most, nowMs });
              if (more.kind === "reserved") held.set(id, { instance, granted: sum(granted, more.granted) });
            } else if (act === "die") {
              const [orphan] = await store.adopt(instance, "ins_heir", 1);
              if (orphan !== undefined) held.set(orphan.id, { instance: "ins_heir", granted: orphan.amounts });
            } else {
              const part = act === "release" ? 0 : used;
              const spent = Object.fromEntries(
                BUDGET_MEMBERS.map((member) => [member, Math.floor(granted[member] * part)]),
              ) as Amounts;
              expect(await store.settle(id, instance, spent)).toBe(true);
              held.delete(id);
            }
          }
          for (const { key, spent, reserved } of await store.listAccounts(10)) {
            const { limit } = accounts.find((each) => each.key === key) as LimitedAccount;
            for (const member of BUDGET_MEMBERS)
              expect(spent[member] + reserved[member]).toBeLessThanOrEqual(limit[member] ?? Infinity);
          }
        }
        await Promise.all(stores.map((store) => store.close()));
      }),
      { numRuns: 60 },
    );
  });
}

function sum(left: Amounts, right: Amounts): Amounts {
  return Object.fromEntries(BUDGET_MEMBERS.map((member) => [member, left[member] + right[member]])) as Amounts;
}
