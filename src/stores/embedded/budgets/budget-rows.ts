/** Rows of `budget.db` and the amounts that they stand for. Trusts the columns' types, not their contents. */
import { storeCorrupt } from "../../../base/errors.ts";
import type { Amounts } from "../../../model/spending/budget.ts";
import { amounts, BUDGET_MEMBERS, type BudgetMember, isAmount, toAmount } from "../../../model/spending/budget.ts";

const COLUMNS: { readonly [Member in BudgetMember]: string } = {
  calls: "calls",
  durationMs: "duration_ms",
  bytes: "bytes",
  tokens: "tokens",
  costMicros: "cost_micros",
};

/** The columns of amounts, in their order. */
export const AMOUNT_COLUMNS: readonly string[] = BUDGET_MEMBERS.map((member) => COLUMNS[member]);

/** A row with amounts. */
export interface AmountRow {
  readonly calls: number;
  readonly duration_ms: number;
  readonly bytes: number;
  readonly tokens: number;
  readonly cost_micros: number;
}

/** The values of the columns of amounts. */
export type AmountValues = readonly [number, number, number, number, number];

/** The values for the columns of amounts, in their order. */
export function amountValues({ calls, durationMs, bytes, tokens, costMicros }: Amounts): AmountValues {
  return [calls, durationMs, bytes, tokens, costMicros];
}

/**
 * What a row of an account or a reservation says.
 * @throws KernelError STORE_CORRUPT when it says something that cannot be counted: a lost amount would refill a budget
 */
export function amountsOf(row: AmountRow): Amounts {
  const read = rawAmounts(row);
  if (BUDGET_MEMBERS.every((member) => isAmount(read[member]))) return read;
  throw storeCorrupt("`budget.db` in the state directory holds an amount that is none; restore a backup");
}

/** What a row of sums says; a sum that is too large to count stays at the end of what can be counted. */
export function sumsOf(row: AmountRow): Amounts {
  const read = rawAmounts(row);
  return amounts((member) => toAmount(read[member]));
}

function rawAmounts(row: AmountRow): Amounts {
  return {
    calls: row.calls,
    durationMs: row.duration_ms,
    bytes: row.bytes,
    tokens: row.tokens,
    costMicros: row.cost_micros,
  };
}
