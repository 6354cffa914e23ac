/**
 * Opens the stores of `budget.db`: budgets and rate limits, on one connection.
 *
 * The connection is opened with the first call that has a budget or a rate limit.
 */
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { KernelError } from "../../../base/errors.ts";
import type { BudgetStore } from "../../../budget/budget-store.ts";
import type { RateStore } from "../../../budget/rate-store.ts";
import { guarded, openDatabase } from "../state/database.ts";
import { LogSync } from "../state/log-sync.ts";
import { BUDGET_SCHEMA } from "../state/schema.ts";
import { errorCode, prepareStateDirectory } from "../state/state-directory.ts";
import { EmbeddedBudgetStore } from "./budget-store.ts";
import { EmbeddedRateStore } from "./rate-store.ts";

/** What `budget.db` keeps. Closing the budgets closes it. */
export interface BudgetStores {
  readonly budgets: BudgetStore;
  readonly rates: RateStore;
}

const FILE = "budget.db";

interface Opened {
  readonly budgets: EmbeddedBudgetStore;
  readonly rates: EmbeddedRateStore;
}

/** The stores of a state directory. Touches nothing until something is counted. */
export function openBudgetStores(stateDirectory: string): BudgetStores {
  let opening: Promise<Opened> | undefined;
  const opened = (): Promise<Opened> => {
    opening ??= open(stateDirectory).catch((error: unknown) => {
      opening = undefined; // what kept it from opening may be gone the next time
      throw error;
    });
    return opening;
  };
  return {
    budgets: {
      reserve: async (wish, spender) => (await opened()).budgets.reserve(wish, spender),
      extend: async (wish) => (await opened()).budgets.extend(wish),
      settle: async (id, instance, spent) => (await opened()).budgets.settle(id, instance, spent),
      holds: async (id, instance) => (await opened()).budgets.holds(id, instance),
      sync: async () => (await opened()).budgets.sync(),
      holders: async (limit) => {
        const isUnused = opening === undefined && !(await exists(join(stateDirectory, FILE)));
        return isUnused ? [] : (await opened()).budgets.holders(limit);
      },
      adopt: async (from, to, limit) => (await opened()).budgets.adopt(from, to, limit),
      listAccounts: async (limit) => (await opened()).budgets.listAccounts(limit),
      close: async () => (await opening)?.budgets.close(),
    },
    rates: {
      take: async (request) => (await opened()).rates.take(request),
      giveBack: async (instance, leftovers, nowMs) => (await opened()).rates.giveBack(instance, leftovers, nowMs),
      purge: async (beforeMs, limit) => (await opened()).rates.purge(beforeMs, limit),
      listBuckets: async (limit) => (await opened()).rates.listBuckets(limit),
    },
  };
}

async function open(stateDirectory: string): Promise<Opened> {
  await prepareStateDirectory(stateDirectory);
  const path = join(stateDirectory, FILE);
  const database = await openDatabase(path, BUDGET_SCHEMA, "STORE_UNAVAILABLE");
  try {
    // The log exists from the first read on; commits are made durable by `LogSync` where it matters.
    guarded(path, "STORE_UNAVAILABLE", () => database.pragma("synchronous = NORMAL"));
    guarded(path, "STORE_UNAVAILABLE", () => database.prepare("SELECT count(*) FROM sqlite_schema").get());
    const log = await LogSync.open(path);
    return { budgets: new EmbeddedBudgetStore(database, path, log), rates: new EmbeddedRateStore(database, path) };
  } catch (error) {
    database.close();
    throw error;
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if (errorCode(error) === "ENOENT") return false;
    throw new KernelError(
      "STORE_UNAVAILABLE",
      `a file of the state directory cannot be looked at (${errorCode(error)})`,
      error,
    );
  }
}
