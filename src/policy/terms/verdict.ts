/**
 * Defines a policy verdict: allow with obligations, or deny with the rule that decided.
 *
 * INVARIANT: there is no third answer. Whatever could not be decided is a denial with `cause: "error"`.
 */
import type { Obligation } from "../../model/outcome/decision.ts";

/** Rule id when no policy matches. */
export const DEFAULT_DENY = "DEFAULT_DENY";
/** Rule id when the request itself cannot be judged: unknown action or role, a value of the wrong type. */
export const REQUEST_REFUSED = "POLICY_REQUEST";
/** Reason of every denial that comes from a failure and not from a rule. */
export const POLICY_FAILURE_REASON = "tool_policy_invalid";

/** An obligation that must be met before the call runs, and who asks for it; `reason` may be empty. */
export interface DueObligation {
  readonly obligation: Obligation;
  readonly ruleId: string;
  readonly reason: string;
}

/** An obligation that a permit lifted, kept for the record. */
export interface WaivedObligation extends DueObligation {
  /** The permit that lifted it. */
  readonly waivedBy: string;
}

/** The call may go on once `obligations` are met. `permits` are all permits that matched, sorted by id. */
export interface PolicyAllow {
  readonly decision: "allow";
  readonly permits: readonly string[];
  readonly obligations: readonly DueObligation[];
  readonly waived: readonly WaivedObligation[];
}

/** The call ends here. `forbids` are all forbids that matched, sorted by id; `ruleId` is the one that is reported. */
export interface PolicyDeny {
  readonly decision: "deny";
  readonly cause: "forbid" | "default" | "error";
  readonly ruleId: string;
  /** The reason in lower case: the policy's `@rationale`, or `tool_policy_invalid` after a failure. */
  readonly rationale?: string;
  /** For people: the policy's `@message`, or what the kernel has to say. */
  readonly message?: string;
  readonly forbids: readonly string[];
}

/** The answer to one request. */
export type PolicyVerdict = PolicyAllow | PolicyDeny;
