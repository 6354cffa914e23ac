/**
 * What is particular to budgets and buckets in a file: made when needed, for the owner alone, and never trusted when it
 * is damaged.
 */
import { readdir, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import type { Wish } from "../../src/budget/budget-store.ts";
import { NOTHING } from "../../src/model/spending/budget.ts";
import { openBudgetStores } from "../../src/stores/embedded/budgets/budget-stores.ts";
import { freshDirectory } from "../support/store-place.ts";

const SPENDER = { sessionId: "ses_one", actor: "ann/agent", requestId: "req" };
const ONE = { ...NOTHING, calls: 1 };
const TAKE = {
  instance: "ins_a",
  buckets: [{ key: "session:one", limit: { callsPerMinute: 60, burst: 4 }, most: 1, returned: 0 }],
  nowMs: 1_700_000_000_000,
  untilMs: 1_700_000_000_000,
};

function wish(id: string): Wish {
  return {
    id,
    instance: "ins_a",
    accounts: [{ key: "lease:one", limit: { calls: 5 } }],
    least: ONE,
    most: ONE,
    nowMs: 0,
  };
}

function opened(directory: string) {
  const stores = openBudgetStores(directory);
  onTestFinished(() => stores.budgets.close());
  return stores;
}

function damage(directory: string, sql: string): void {
  const database = new Sqlite(join(directory, "budget.db"));
  database.exec(sql);
  database.close();
}

test("budget.db is made with the first thing to count, for the owner alone; asking for orphans makes none", async () => {
  const directory = await freshDirectory();
  const { budgets } = opened(directory);
  expect([await budgets.holders(10), await readdir(directory)]).toEqual([[], []]);
  await budgets.reserve(wish("one"), SPENDER);
  for (const name of ["budget.db", "budget.db-wal"]) expect((await stat(join(directory, name))).mode & 0o077).toBe(0);
  expect(await opened(directory).budgets.holders(10)).toEqual(["ins_a"]);
});

test("a budget.db that cannot be opened is tried again", async () => {
  const directory = join(await freshDirectory(), "state");
  await writeFile(directory, "in the way");
  const { budgets } = opened(directory);
  await expect(budgets.reserve(wish("one"), SPENDER)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  await rm(directory);
  expect((await budgets.reserve(wish("one"), SPENDER)).kind).toBe("reserved");
});

test("a newer budget.db is refused, one that is no database too", async () => {
  const directory = await freshDirectory();
  await opened(directory).budgets.reserve(wish("one"), SPENDER);
  damage(directory, "PRAGMA user_version = 99");
  await expect(opened(directory).budgets.reserve(wish("two"), SPENDER)).rejects.toThrow("made by a newer handrail");
  const other = await freshDirectory();
  await writeFile(join(other, "budget.db"), "x".repeat(5000), { mode: 0o600 });
  await expect(opened(other).budgets.reserve(wish("one"), SPENDER)).rejects.toMatchObject({ code: "STORE_CORRUPT" });
});

test.each(["calls = -5", "bytes = 9007199254740992"])(
  "an account whose %s is refused instead of refilled",
  async (change) => {
    const directory = await freshDirectory();
    const { budgets } = opened(directory);
    await budgets.reserve(wish("one"), SPENDER);
    damage(directory, `UPDATE accounts SET ${change}`);
    await expect(budgets.reserve(wish("two"), SPENDER)).rejects.toMatchObject({ code: "STORE_CORRUPT" });
    await expect(budgets.listAccounts(10)).rejects.toMatchObject({ code: "STORE_CORRUPT" });
  },
);

test("a bucket that holds less than nothing is refused", async () => {
  const directory = await freshDirectory();
  const { rates } = opened(directory);
  await rates.take(TAKE);
  damage(directory, "UPDATE buckets SET units = -1");
  await expect(rates.take(TAKE)).rejects.toMatchObject({ code: "STORE_CORRUPT" });
});
