/**
 * Lists budgets for the operator: what is limited, spent, reserved and left.
 *
 * It also lists what token buckets hold.
 */
import type { Clock } from "../../base/clock.ts";
import { BUDGET_LIST_MAX } from "../../base/limits.ts";
import { type AccountKind, leaseKey } from "../../budget/accounts.ts";
import type { AccountState, BudgetStore } from "../../budget/budget-store.ts";
import type { BucketState, RateStore } from "../../budget/rate-store.ts";
import type { LeaseBudget } from "../../model/people/lease.ts";
import { type Amounts, BUDGET_MEMBERS, type BudgetMember, isLimited, NOTHING } from "../../model/spending/budget.ts";
import type { PeriodBudget, SpendingLimits } from "../../model/spending/spending-limits.ts";
import type { SessionStore } from "../../session/session-store.ts";

/** What the listing looks at. */
export interface BudgetAdministrationParts {
  readonly stores: { readonly budgets: BudgetStore; readonly rates: RateStore };
  readonly sessions: SessionStore;
  readonly limits: () => SpendingLimits;
  readonly clock: Clock;
}

/** One amount of an account: without a limit it is only counted. */
export interface BudgetLine {
  readonly member: BudgetMember;
  readonly limit?: number;
  readonly spent: number;
  readonly reserved: number;
  readonly left?: number;
}

/** An account as the operator sees it. */
export interface BudgetAccount {
  readonly kind: AccountKind;
  /** Id of the lease or session; user, agent and workspace of a principal. */
  readonly name: string;
  readonly lines: readonly BudgetLine[];
  readonly renewsAtMs?: number;
}

/** Budgets as they are now. */
export class BudgetAdministration {
  readonly #parts: BudgetAdministrationParts;

  constructor(parts: BudgetAdministrationParts) {
    this.#parts = parts;
  }

  /** Every account that is limited or was charged: leases, then principals, then sessions. */
  async list(): Promise<readonly BudgetAccount[]> {
    const { stores, sessions, limits, clock } = this.#parts;
    const states = new Map((await stores.budgets.listAccounts(BUDGET_LIST_MAX)).map((state) => [state.key, state]));
    const leases = (await sessions.listLeases()).filter(({ budget }) => isLimited(budget));
    const ofLeases = leases.map(({ id, budget }) =>
      account({ kind: "lease", name: id, limit: { budget }, state: states.get(leaseKey(id)) }, clock.nowMs()),
    );
    const { session, principal } = limits();
    const others = [...states.values()].flatMap((state) => {
      const [kind, name] = namedIn(state.key);
      const limit = kind === "session" ? session : kind === "principal" ? principal : undefined;
      return limit === undefined || kind === undefined ? [] : [account({ kind, name, limit, state }, clock.nowMs())];
    });
    return [...ofLeases, ...others];
  }

  /** What token buckets hold that are not full. */
  buckets(): Promise<readonly BucketState[]> {
    return this.#parts.stores.rates.listBuckets(BUDGET_LIST_MAX);
  }
}

/** An account as it is limited, and as the store has it, if anything was charged to it. */
interface KnownAccount {
  readonly kind: AccountKind;
  readonly name: string;
  readonly limit: PeriodBudget;
  readonly state: AccountState | undefined;
}

function account({ kind, name, limit, state }: KnownAccount, nowMs: number): BudgetAccount {
  const { budget, periodMs } = limit;
  const beganMs = state?.beganMs ?? 0;
  const isOver = periodMs !== undefined && nowMs >= beganMs + periodMs;
  const spent = isOver || state === undefined ? NOTHING : state.spent;
  const reserved = isOver || state === undefined ? NOTHING : state.reserved;
  const renewsAtMs = periodMs === undefined || isOver || state === undefined ? undefined : beganMs + periodMs;
  return { kind, name, lines: linesOf(budget, spent, reserved), ...(renewsAtMs !== undefined && { renewsAtMs }) };
}

function linesOf(budget: LeaseBudget, spent: Amounts, reserved: Amounts): readonly BudgetLine[] {
  return BUDGET_MEMBERS.flatMap((member) => {
    const limit = budget[member];
    const line = { member, spent: spent[member], reserved: reserved[member] };
    if (limit === undefined) return line.spent + line.reserved === 0 ? [] : [line];
    return [{ ...line, limit, left: Math.max(0, limit - line.spent - line.reserved) }];
  });
}

/** What an account's key names. */
function namedIn(key: string): readonly [AccountKind | undefined, string] {
  const at = key.indexOf(":");
  const kind = (["lease", "session", "principal"] as const).find((candidate) => candidate === key.slice(0, at));
  return [kind, key.slice(at + 1)];
}
