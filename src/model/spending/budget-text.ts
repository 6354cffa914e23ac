/** Budgets as people write and read them: `calls=100,duration=10m,bytes=1GB,tokens=50000,cost=2.50`. */

import type { LeaseBudget } from "../people/lease.ts";
import { BUDGET_MEMBERS, type BudgetMember, isAmount } from "./budget.ts";

/** The word for each member. */
export const BUDGET_WORDS: { readonly [Member in BudgetMember]: string } = {
  calls: "calls",
  durationMs: "duration",
  bytes: "bytes",
  tokens: "tokens",
  costMicros: "cost",
};

const DURATIONS: readonly (readonly [string, number])[] = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1000],
  ["ms", 1],
];
const SIZES: readonly (readonly [string, number])[] = [
  ["TB", 2 ** 40],
  ["GB", 2 ** 30],
  ["MB", 2 ** 20],
  ["KB", 2 ** 10],
  ["B", 1],
];
const MICROS = 1_000_000;

/** How each member is written, for messages. */
export const AMOUNT_FORMS: { readonly [Member in BudgetMember]: string } = {
  calls: "a whole number such as 100",
  durationMs: "a duration such as 90s, 10m or 2h",
  bytes: "a size such as 500KB, 20MB or 1GB",
  tokens: "a whole number such as 50000",
  costMicros: "an amount such as 5 or 2.50",
};

/** The amount that `text` means; `undefined` when it means none, or more than can be counted. */
export function parseAmount(member: BudgetMember, text: string): number | undefined {
  const amount = read(member, text);
  return isAmount(amount) ? amount : undefined;
}

function read(member: BudgetMember, text: string): number | undefined {
  switch (member) {
    case "calls":
    case "tokens":
      return /^\d{1,16}$/.test(text) ? Number(text) : undefined;
    case "durationMs":
      return inUnits(/^(\d{1,16})(ms|[smhd])$/.exec(text), DURATIONS);
    case "bytes":
      return inUnits(/^(\d{1,16})([KMGT]?B)?$/.exec(text), SIZES);
    case "costMicros": {
      const match = /^(\d{1,10})(?:\.(\d{1,6}))?$/.exec(text);
      return match ? Number(match[1]) * MICROS + Number((match[2] ?? "").padEnd(6, "0")) : undefined;
    }
  }
}

function inUnits(match: RegExpExecArray | null, units: readonly (readonly [string, number])[]): number | undefined {
  if (match === null) return undefined;
  const factor = match[2] === undefined ? 1 : units.find(([name]) => name === match[2])?.[1];
  return factor === undefined ? undefined : Number(match[1]) * factor;
}

/** The amount in the largest unit that says it exactly; read back it is the same. */
export function printAmount(member: BudgetMember, amount: number): string {
  switch (member) {
    case "calls":
    case "tokens":
      return String(amount);
    case "durationMs":
      return withUnit(amount, DURATIONS);
    case "bytes":
      return withUnit(amount, SIZES);
    case "costMicros": {
      const fraction = String(amount % MICROS).padStart(6, "0");
      return `${Math.floor(amount / MICROS)}.${fraction.replace(/0{1,4}$/, "")}`;
    }
  }
}

function withUnit(amount: number, units: readonly (readonly [string, number])[]): string {
  const found = amount === 0 ? units.at(-1) : units.find(([, factor]) => amount % factor === 0);
  const [name, factor] = found ?? ["", 1];
  return `${amount / factor}${name}`;
}

/** What `text` such as `calls=100,duration=10m` limits, or what is wrong with it. */
export function parseBudget(
  text: string,
): { readonly ok: true; readonly budget: LeaseBudget } | { readonly ok: false; readonly problem: string } {
  const budget: { -readonly [Member in BudgetMember]?: number } = {};
  for (const part of text.split(",")) {
    const at = part.indexOf("=");
    const word = part.slice(0, Math.max(0, at)).trim();
    const member = BUDGET_MEMBERS.find((candidate) => BUDGET_WORDS[candidate] === word);
    if (member === undefined)
      return { ok: false, problem: `\`${part}\` names no budget; write ${Object.values(BUDGET_WORDS).join("=…, ")}=…` };
    if (budget[member] !== undefined) return { ok: false, problem: `\`${word}\` is given twice` };
    const amount = parseAmount(member, part.slice(at + 1).trim());
    if (amount === undefined) return { ok: false, problem: `\`${part}\`: write ${AMOUNT_FORMS[member]}` };
    budget[member] = amount;
  }
  return { ok: true, budget };
}

/** The budget as `parseBudget` reads it; `-` for one that limits nothing. */
export function printBudget(budget: LeaseBudget): string {
  const parts = BUDGET_MEMBERS.flatMap((member) => {
    const amount = budget[member];
    return amount === undefined ? [] : [`${BUDGET_WORDS[member]}=${printAmount(member, amount)}`];
  });
  return parts.length === 0 ? "-" : parts.join(",");
}
