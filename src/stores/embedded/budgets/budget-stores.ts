/**
 * Opens the stores of `budget.db`: budgets and rate limits, on one connection.
 *
 * The connection is opened with the first call that has a budget or a rate limit.
 */
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { errorCode, storeUnavailable } from "../../../base/errors.ts";
import type { BudgetStore } from "../../../budget/budget-store.ts";
import type { RateStore } from "../../../budget/rate-store.ts";
import { BUDGET_SCHEMA } from "../state/schema.ts";
import { lazily, withSynced } from "../state/store.ts";
import { EmbeddedBudgetStore } from "./budget-store.ts";
import { EmbeddedRateStore } from "./rate-store.ts";

/** What `budget.db` keeps. Closing the budgets closes it. */
export interface BudgetStores {
  readonly budgets: BudgetStore;
  readonly rates: RateStore;
}

const FILE = "budget.db";

/** The stores of a state directory. Touches nothing until something is counted. */
export function openBudgetStores(stateDirectory: string): BudgetStores {
  const { open, opened } = lazily(() =>
    withSynced({ stateDirectory, file: FILE, schema: BUDGET_SCHEMA }, (database) => ({
      budgets: new EmbeddedBudgetStore(database),
      rates: new EmbeddedRateStore(database),
    })),
  );
  return {
    budgets: {
      reserve: async (wish, spender) => (await open()).budgets.reserve(wish, spender),
      extend: async (wish) => (await open()).budgets.extend(wish),
      settle: async (id, instance, spent) => (await open()).budgets.settle(id, instance, spent),
      holds: async (id, instance) => (await open()).budgets.holds(id, instance),
      sync: async () => (await open()).budgets.sync(),
      holders: async (limit) => {
        const isUnused = opened() === undefined && !(await exists(join(stateDirectory, FILE)));
        return isUnused ? [] : (await open()).budgets.holders(limit);
      },
      adopt: async (from, to, limit) => (await open()).budgets.adopt(from, to, limit),
      listAccounts: async (limit) => (await open()).budgets.listAccounts(limit),
      close: async () => (await opened())?.budgets.close(),
    },
    rates: {
      take: async (request) => (await open()).rates.take(request),
      giveBack: async (instance, leftovers, nowMs) => (await open()).rates.giveBack(instance, leftovers, nowMs),
      purge: async (beforeMs, limit) => (await open()).rates.purge(beforeMs, limit),
      listBuckets: async (limit) => (await open()).rates.listBuckets(limit),
    },
  };
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if (errorCode(error) === "ENOENT") return false;
    throw storeUnavailable(`a file of the state directory cannot be looked at (${errorCode(error)})`, error);
  }
}
