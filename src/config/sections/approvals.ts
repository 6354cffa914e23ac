/** The section `approvals` of `handrail.yaml`: how long people are waited for, and whose in-band answers count. */
import * as z from "zod";
import { APPROVAL_WAIT_MAX_MS } from "../../base/limits.ts";

/**
 * Milliseconds after which a request that nobody answered, and an approval that nobody used, is over: a quarter of an
 * hour.
 */
const APPROVAL_LIFETIME_MS = 15 * 60_000;
/** Milliseconds that the operator may let requests and approvals live at most: a week. */
const APPROVAL_LIFETIME_MAX_MS = 7 * 24 * 3_600_000;
/** Requests that the operator may let one agent make: a person who is asked more often answers without looking. */
const PROMPTS_MAX = 1000;
/** Clients that the operator may mark as attended. */
const ATTENDED_CLIENTS_MAX = 64;

/** The section, with the defaults of an operator who wrote nothing. */
export const approvalSettings = z.strictObject({
  /**
   * Seconds that a call waits for an answer; 0: it never waits. Absent: as long as may be when somebody can be asked
   * (an approver, a handler, an attended client), and not at all otherwise.
   */
  wait_seconds: z
    .int()
    .min(0)
    .max(APPROVAL_WAIT_MAX_MS / 1000)
    .optional(),
  /** Seconds that a request lives, and an approval that nobody uses. */
  expire_seconds: z
    .int()
    .min(1)
    .max(APPROVAL_LIFETIME_MAX_MS / 1000)
    .default(APPROVAL_LIFETIME_MS / 1000),
  /** New requests of one agent in one workspace in a minute; what asks beyond that is refused. */
  prompts_per_minute: z.int().min(1).max(PROMPTS_MAX).default(12),
  /** The same in an hour. */
  prompts_per_hour: z.int().min(1).max(PROMPTS_MAX).default(60),
  /** Names of clients at which a person sits: only their in-band answers count. */
  attended_clients: z.array(z.string().min(1).max(256)).max(ATTENDED_CLIENTS_MAX).default([]),
});
