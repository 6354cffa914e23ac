/** The limits of `handrail.yaml` as the kernel looks at them. */
import { canonicalJson } from "../../base/json.ts";
import type { LimitSettings } from "../../config/sections/limits.ts";
import type { LeaseBudget } from "../../model/people/lease.ts";
import { BUDGET_MEMBERS, type BudgetMember } from "../../model/spending/budget.ts";
import type { PeriodBudget, RateLimit, SpendingLimits } from "../../model/spending/spending-limits.ts";

const HOUR_MS = 3_600_000;
const PERIODS_MS = { hour: HOUR_MS, day: 24 * HOUR_MS, week: 7 * 24 * HOUR_MS, lifetime: undefined } as const;

type Amounted = NonNullable<LimitSettings["per_session"]>;
type Rated = { readonly calls_per_minute?: number | undefined; readonly burst?: number | undefined };

/** The limits that `settings` set. */
export function spendingLimits(settings: LimitSettings): SpendingLimits {
  const { per_session: session, per_principal: principal, rate } = settings;
  return {
    id: canonicalJson(JSON.parse(JSON.stringify({ ...settings, operations_at_once: undefined }))),
    ...(session && { session: periodBudget(session) }),
    ...(principal && { principal: periodBudget(principal) }),
    ...(rate && { rates: ratesOf(rate) }),
  };
}

function periodBudget({ period, calls, duration, bytes, tokens, cost }: Amounted): PeriodBudget {
  const given: { readonly [Member in BudgetMember]: number | undefined } = {
    calls,
    durationMs: duration,
    bytes,
    tokens,
    costMicros: cost,
  };
  const budget: LeaseBudget = Object.fromEntries(
    BUDGET_MEMBERS.flatMap((member) => (given[member] === undefined ? [] : [[member, given[member]]])),
  );
  const periodMs = PERIODS_MS[period];
  return { budget, ...(periodMs !== undefined && { periodMs }) };
}

function ratesOf({
  session,
  tools,
  ...principal
}: NonNullable<LimitSettings["rate"]>): NonNullable<SpendingLimits["rates"]> {
  const ofPrincipal = rateLimit(principal);
  const ofSession = session && rateLimit(session);
  return {
    ...(ofPrincipal && { principal: ofPrincipal }),
    ...(ofSession && { session: ofSession }),
    tools: new Map(
      Object.entries(tools).flatMap(([name, rate]) => (rateLimit(rate) ? [[name, rateLimit(rate) as RateLimit]] : [])),
    ),
  };
}

function rateLimit({ calls_per_minute: callsPerMinute, burst }: Rated): RateLimit | undefined {
  return callsPerMinute === undefined ? undefined : { callsPerMinute, burst: burst ?? callsPerMinute };
}
