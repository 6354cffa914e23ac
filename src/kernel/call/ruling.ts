/** What policy allowed about a call: the permits that matched, and what must happen first. */
import type { ImposedObligation } from "../../approval/approval.ts";

/** A ruling of policy that allows a call. */
export interface Ruling {
  readonly permits: readonly string[];
  readonly obligations: readonly ImposedObligation[];
}
