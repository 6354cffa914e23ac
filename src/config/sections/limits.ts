/**
 * The limits on what is spent, and on how fast calls come, in `handrail.yaml`.
 *
 * Amounts are written as people say them (`10m`, `1GB`, `2.50`) and mean nothing else; a member that is left out is
 * unlimited.
 */
import * as z from "zod";

import type { BudgetMember } from "../../model/spending/budget.ts";
import { AMOUNT_FORMS, parseAmount } from "../../model/spending/budget-text.ts";

/** Tools that can have a rate of their own. */
const TOOL_RATES_MAX = 256;

const RATE_MAX = 1_000_000;

/** Operations of a session at once: as many as one kernel takes calls at a time at most. */
const OPERATIONS_AT_ONCE_MAX = 1024;

const amount = (member: BudgetMember) =>
  z
    .union([z.string(), z.number()])
    .transform((value, context) => {
      const read = parseAmount(member, String(value));
      if (read === undefined) context.addIssue({ code: "custom", message: `write ${AMOUNT_FORMS[member]}` });
      return read ?? 0;
    })
    .optional();

const amountsOf = {
  calls: amount("calls"),
  duration: amount("durationMs"),
  bytes: amount("bytes"),
  tokens: amount("tokens"),
  cost: amount("costMicros"),
};

/** How long an amount lasts. `lifetime`: for good. */
const PERIODS = ["hour", "day", "week", "lifetime"] as const;

const rate = {
  calls_per_minute: z.int().min(1).max(RATE_MAX),
  /** Calls at once after a pause; as many as in a minute when absent. */
  burst: z.int().min(1).max(RATE_MAX).optional(),
};

/** The schema of `limits`. */
export const limitSettings = z.strictObject({
  /** Commands, git and the like that one session runs at once in one kernel; the others wait for their turn. */
  operations_at_once: z.int().min(1).max(OPERATIONS_AT_ONCE_MAX).default(8),
  per_session: z.strictObject({ period: z.enum(PERIODS).default("lifetime"), ...amountsOf }).optional(),
  /** Of each agent of each user in each workspace, whatever session it acts in. */
  per_principal: z.strictObject({ period: z.enum(PERIODS).default("day"), ...amountsOf }).optional(),
  rate: z
    .strictObject({
      /** Of each agent of each user in each workspace. */
      calls_per_minute: rate.calls_per_minute.optional(),
      burst: rate.burst,
      session: z.strictObject(rate).optional(),
      tools: z
        .record(z.string(), z.strictObject(rate))
        .refine(
          (tools) => Object.keys(tools).length <= TOOL_RATES_MAX,
          `at most ${TOOL_RATES_MAX} tools can have a rate`,
        )
        .default({}),
    })
    .refine(
      ({ calls_per_minute: calls, burst }) => burst === undefined || calls !== undefined,
      "`burst` needs `calls_per_minute`",
    )
    .optional(),
});

/** Parsed `limits`. */
export type LimitSettings = z.infer<typeof limitSettings>;
