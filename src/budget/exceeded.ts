/**
 * Builds the denial of a call whose budget is exhausted.
 *
 * The denial says what is exhausted, how much there was, and the narrowest change that would allow the call.
 */

import type { Denial } from "../model/outcome/decision.ts";
import { BUDGET_WORDS, printAmount } from "../model/spending/budget-text.ts";
import type { Account } from "./accounts.ts";
import type { Exhausted } from "./budget-store.ts";

/** The denial for what the store said of one of `accounts`. */
export function exceeded(exhausted: Exhausted, accounts: readonly Account[]): Denial {
  const account = accounts.find(({ key }) => key === exhausted.key);
  const { member, limit, spent, reserved, needed, renewsAtMs } = exhausted;
  const word = BUDGET_WORDS[member];
  const print = (amount: number) => printAmount(member, amount);
  const left = Math.max(0, limit - spent - reserved);
  const running = reserved > 0 ? `, ${print(reserved)} reserved by calls that still run` : "";
  const advice = [
    ...(reserved > 0 && limit - spent >= needed ? ["wait for the calls that still run"] : []),
    ...(renewsAtMs !== undefined ? [`wait until ${new Date(renewsAtMs).toISOString()}`] : []),
    "ask the operator for more",
  ].join(", or ");
  const enough = Math.min(Number.MAX_SAFE_INTEGER, spent + reserved + needed);
  return {
    layer: "budget",
    reason: "budget_exceeded",
    ruleId: account?.ruleId ?? "LIMITS:unknown",
    message: `${nameOf(account)} has ${print(left)} of ${print(limit)} ${word} left (${print(spent)} spent${running}), and the call needs ${print(needed)}; ${advice}`,
    fix: fixOf(account, word, print(enough)),
  };
}

function nameOf(account: Account | undefined): string {
  switch (account?.kind) {
    case "lease":
      return `the budget of the lease \`${account.key.slice("lease:".length)}\``;
    case "principal":
      return "the budget of this agent in this workspace";
    default:
      return "the budget of this session";
  }
}

function fixOf(account: Account | undefined, word: string, enough: string): string {
  if (account?.kind === "lease") return `a lease with a budget of \`${word}=${enough}\``;
  return `\`limits.${account?.kind === "principal" ? "per_principal" : "per_session"}.${word}: ${enough}\` in handrail.yaml`;
}
