/**
 * Budgets: what a call may spend is reserved before it runs and settled once after it.
 *
 * Trusts the store to add up. INVARIANT: what cannot be reserved is not executed; what cannot be settled stays
 * reserved, so that a budget may be used less than it allows and never more.
 */
import type { Clock } from "../base/clock.ts";
import { KernelError } from "../base/errors.ts";
import { newId, type RandomBytes } from "../base/ids.ts";

import { allow, deny, type Verdict } from "../model/outcome/decision.ts";
import { type Amounts, addAmounts, BUDGET_MEMBERS, type BudgetMember, NOTHING } from "../model/spending/budget.ts";
import type { Account } from "./accounts.ts";
import type { BudgetStore, Spender, Wish } from "./budget-store.ts";
import { exceeded } from "./exceeded.ts";

/**
 * Settlements that could not be written and are tried again; beyond it the oldest stay reserved until the kernel has
 * ended.
 */
const UNSETTLED_MAX = 4096;

/** What budgets need of their kernel. */
export interface BudgetParts {
  readonly store: BudgetStore;
  readonly instanceId: string;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly onInternalError: (error: unknown) => void;
}

/** What a call needs at least, and what it takes if there is that much. */
export interface Need {
  readonly least: Amounts;
  readonly most: Amounts;
}

/** What a call may spend. */
export interface Reservation {
  readonly granted: Amounts;
  /** What is limited at all; the rest is only counted. */
  readonly limited: ReadonlySet<BudgetMember>;
  /**
   * Reserves more; the denial says what is exhausted. @throws KernelError when the store cannot say; nothing more is
   * granted then
   */
  readonly extend: (more: Need) => Promise<Verdict<Amounts>>;
  /** Whether it still stands. */
  readonly stands: () => Promise<boolean>;
  /** Ends it, once; later calls do nothing. Never rejects: what the call did stands either way. */
  readonly settle: (spent: Amounts) => Promise<void>;
}

/** The budgets of one kernel. */
export class Budgets {
  readonly #parts: BudgetParts;
  readonly #unsettled = new Map<string, Amounts>();

  constructor(parts: BudgetParts) {
    this.#parts = parts;
  }

  /**
   * Reserves for a call; `durable`: a power failure does not undo it.
   * @throws KernelError STORE_UNAVAILABLE or STORE_CORRUPT when nobody can say what is left; the call must not be
   * executed then
   */
  async reserve(
    accounts: readonly Account[],
    need: Need,
    { spender, durable }: { readonly spender: Spender; readonly durable: boolean },
  ): Promise<Verdict<Reservation>> {
    const { store, random } = this.#parts;
    await this.#settleAgain();
    const id = newId("bud", random);
    const reserved = await store.reserve(this.#wish(id, accounts, need), spender);
    if (reserved.kind === "exhausted") return deny(exceeded(reserved, accounts));
    const reservation = this.#reservation(id, accounts, reserved.granted);
    if (durable) await this.#synced(reservation);
    return allow(reservation);
  }

  async #synced(reservation: Reservation): Promise<void> {
    try {
      await this.#parts.store.sync();
    } catch (error) {
      await reservation.settle(NOTHING);
      throw error;
    }
  }

  #wish(id: string, accounts: readonly Account[], { least, most }: Need): Wish {
    const limited = accounts.map(({ key, limit, periodMs }) => ({
      key,
      limit,
      ...(periodMs !== undefined && { periodMs }),
    }));
    return { id, instance: this.#parts.instanceId, accounts: limited, least, most, nowMs: this.#parts.clock.nowMs() };
  }

  #reservation(id: string, accounts: readonly Account[], first: Amounts): Reservation {
    let granted = first;
    let ended = false;
    return {
      get granted() {
        return granted;
      },
      limited: new Set(BUDGET_MEMBERS.filter((member) => accounts.some(({ limit }) => limit[member] !== undefined))),
      extend: async (more) => {
        if (ended) throw new KernelError("INTERNAL", "a reservation that has ended cannot grow");
        const reserved = await this.#parts.store.extend(this.#wish(id, accounts, more));
        if (reserved.kind === "exhausted") return deny(exceeded(reserved, accounts));
        granted = addAmounts(granted, reserved.granted);
        return allow(granted);
      },
      stands: () => this.#parts.store.holds(id, this.#parts.instanceId),
      settle: async (spent) => {
        if (ended) return;
        ended = true;
        await this.#settle(id, spent);
      },
    };
  }

  async #settle(id: string, spent: Amounts): Promise<void> {
    const { store, instanceId, onInternalError } = this.#parts;
    try {
      await store.settle(id, instanceId, spent);
      this.#unsettled.delete(id);
    } catch (error) {
      // It stays reserved: until the store works again, or for good once this kernel has ended.
      if (this.#unsettled.size < UNSETTLED_MAX) this.#unsettled.set(id, spent);
      onInternalError(error);
    }
  }

  async #settleAgain(): Promise<void> {
    if (this.#unsettled.size === 0) return;
    const waiting = [...this.#unsettled];
    this.#unsettled.clear();
    for (const [id, spent] of waiting) await this.#settle(id, spent);
  }
}
