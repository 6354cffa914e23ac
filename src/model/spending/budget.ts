/**
 * Defines budgets and their arithmetic: calls, time, bytes, tokens and money.
 *
 * Amounts are whole numbers that a double holds exactly.
 *
 * INVARIANT: sums never leave that range. A larger sum stays at the end of the range, so that nothing ever becomes
 * cheaper by overflowing.
 */
import type { EffectClass } from "../outcome/effect.ts";
import type { LeaseBudget } from "../people/lease.ts";

/** What is counted, in the order in which it is shown. */
export const BUDGET_MEMBERS = ["calls", "durationMs", "bytes", "tokens", "costMicros"] as const;
/** One of them. */
export type BudgetMember = (typeof BUDGET_MEMBERS)[number];

/** An amount of each: calls, milliseconds, bytes, tokens, millionths of the unit that costs are counted in. */
export type Amounts = { readonly [Member in BudgetMember]: number };

/** Nothing of anything. */
export const NOTHING: Amounts = { calls: 0, durationMs: 0, bytes: 0, tokens: 0, costMicros: 0 };

/** Amounts of which each is `amountOf(member)`. */
export function amounts(amountOf: (member: BudgetMember) => number): Amounts {
  return {
    calls: amountOf("calls"),
    durationMs: amountOf("durationMs"),
    bytes: amountOf("bytes"),
    tokens: amountOf("tokens"),
    costMicros: amountOf("costMicros"),
  };
}

/** Whether `value` can be an amount. */
export function isAmount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** `value` as an amount: rounded up, and at the ends of the range where it lies beyond them or is no number. */
export function toAmount(value: number): number {
  if (Number.isNaN(value)) return Number.MAX_SAFE_INTEGER;
  return Math.min(Number.MAX_SAFE_INTEGER, Math.max(0, Math.ceil(value)));
}

/** The sum. */
export function addAmounts(left: Amounts, right: Amounts): Amounts {
  return amounts((member) => toAmount(left[member] + right[member]));
}

/** Whether a budget limits anything. */
export function isLimited(budget: LeaseBudget): boolean {
  for (const member of BUDGET_MEMBERS) if (budget[member] !== undefined) return true;
  return false;
}

const UNITS: { readonly [Effect in EffectClass]: BudgetMember } = {
  read: "bytes",
  write: "bytes",
  exec: "durationMs",
  network: "bytes",
  system: "durationMs",
  control: "calls",
};

/**
 * The unit in which a call of the tool answers what it spent (`budget_consumed`): the tool's own, or that of its effect
 * class.
 */
export function budgetUnit(capability: {
  readonly effect: EffectClass;
  readonly budgetUnit?: BudgetMember;
}): BudgetMember {
  return capability.budgetUnit ?? UNITS[capability.effect];
}
