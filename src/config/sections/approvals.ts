/** The section `approvals` of `handrail.yaml`: how long people are waited for, and whose in-band answers count. */
import * as z from "zod";
import { APPROVAL_LIFETIME_MAX_MS, APPROVAL_LIFETIME_MS, APPROVAL_WAIT_MAX_MS, ATTENDED_CLIENTS_MAX } from "../../base/limits.ts";

/** The section, with the defaults of an operator who wrote nothing. */
export const approvalSettings = z.strictObject({
  /**
   * Seconds that a call waits for an answer; 0: it never waits. Absent: as long as may be when somebody can be asked (an approver, a
   * handler, an attended client), and not at all otherwise.
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
  /** Names of clients at which a person sits: only their in-band answers count. */
  attended_clients: z.array(z.string().min(1).max(256)).max(ATTENDED_CLIENTS_MAX).default([]),
});
