/** The operator's limits on what is spent, and on how fast calls come. */
import type { LeaseBudget } from "../people/lease.ts";

/** A budget for each period; without a period it is for good. */
export interface PeriodBudget {
  readonly budget: LeaseBudget;
  /** Periods begin at multiples of this since the Unix epoch. */
  readonly periodMs?: number;
}

/** How fast calls may come: so many in a minute in the long run, and so many at once after a pause. */
export interface RateLimit {
  readonly callsPerMinute: number;
  readonly burst: number;
}

/** Everything that is limited. Absent members limit nothing. */
export interface SpendingLimits {
  /** Differs whenever the limits do. */
  readonly id: string;
  /** Of each session. */
  readonly session?: PeriodBudget;
  /** Of each principal in each workspace. */
  readonly principal?: PeriodBudget;
  readonly rates?: {
    /** Of each principal in each workspace. */
    readonly principal?: RateLimit;
    readonly session?: RateLimit;
    /** By tool, of each principal in each workspace. */
    readonly tools: ReadonlyMap<string, RateLimit>;
  };
}

/** Limits nothing. */
export const NO_LIMITS: SpendingLimits = { id: "" };
