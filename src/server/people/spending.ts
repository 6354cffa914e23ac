/**
 * Opens the budgets and rate limits of one kernel.
 *
 * These are their stores, what the pipeline uses of them, and what the operator sees.
 */
import type { Clock } from "../../base/clock.ts";
import type { RandomBytes } from "../../base/ids.ts";
import { Budgets } from "../../budget/budget.ts";
import { settleOrphans } from "../../budget/orphans.ts";
import { Rates } from "../../budget/rates.ts";
import type { EventSink } from "../../model/outcome/event.ts";
import type { SpendingLimits } from "../../model/spending/spending-limits.ts";
import type { SessionStore } from "../../session/session-store.ts";
import { openBudgetStores } from "../../stores/embedded/budgets/budget-stores.ts";
import { BudgetAdministration } from "./budget-administration.ts";

/** What spending needs of its kernel. */
export interface SpendingParts {
  readonly stateDirectory: string;
  readonly instanceId: string;
  readonly isAlive: (instanceId: string) => Promise<boolean>;
  readonly limits: () => SpendingLimits;
  readonly sessions: SessionStore;
  readonly ledger: EventSink;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly onInternalError: (error: unknown) => void;
}

/** Budgets and rate limits. */
export interface OpenSpending {
  readonly budgets: Budgets;
  readonly rates: Rates;
  readonly administration: BudgetAdministration;
  /** Counts as spent what dead kernels had reserved. */
  readonly settleOrphans: () => Promise<number>;
  readonly close: () => Promise<void>;
}

/** Opens them; their database is touched when there is something to count. */
export function openSpending(parts: SpendingParts): OpenSpending {
  const { stateDirectory, instanceId, isAlive, limits, sessions, ledger, clock, random, onInternalError } = parts;
  const stores = openBudgetStores(stateDirectory);
  const rates = new Rates({ store: stores.rates, instanceId, clock, onInternalError });
  return {
    budgets: new Budgets({ store: stores.budgets, instanceId, clock, random, onInternalError }),
    rates,
    administration: new BudgetAdministration({ stores, sessions, limits, clock }),
    settleOrphans: () => settleOrphans({ store: stores.budgets, instanceId, isAlive, ledger, nowMs: clock.nowMs() }),
    close: async () => {
      await rates.close();
      await stores.budgets.close();
    },
  };
}
