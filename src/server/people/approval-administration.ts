/**
 * What people do about requests for approval: look at them, decide them, take an approval back.
 *
 * Trusts an approver's credential alone: whoever has none, and every session, only looks. Which of two decisions stands is the
 * store's to say. INVARIANT: every decision is recorded with who made it and over which channel.
 */
import type { ApprovalState, DecideOutcome, StoredApproval } from "../../approval/approval-store.ts";
import type { ApprovalChannel, ApprovalScope } from "../../model/approval/approval.ts";
import type { StopListening } from "../../model/outcome/bell.ts";

/** Which requests are wanted. */
export interface ApprovalSelection {
  readonly state?: ApprovalState;
}

/** What is decided. */
export interface WantedDecision {
  readonly approved: boolean;
  /** Of an approval; one execution when absent. */
  readonly scope?: ApprovalScope;
  readonly reason?: string;
  /** `cli` when absent. */
  readonly channel?: Extract<ApprovalChannel, "cli" | "rpc" | "console">;
}

/** What is found by a reference or the beginning of one. */
export type FoundApproval =
  | { readonly kind: "found"; readonly approval: StoredApproval }
  | { readonly kind: "ambiguous" }
  | { readonly kind: "unknown" };

/** What came of a person's decision; `by` is whose credential it was. */
export type PersonsOutcome = (DecideOutcome & { readonly by: string }) | { readonly kind: "wrong_credential" };

/** The approvals of one state directory, for people. */
export interface ApprovalAdministration {
  /** The newest first, at most `APPROVALS_LISTED_MAX`. */
  readonly list: (selection?: ApprovalSelection) => Promise<readonly StoredApproval[]>;
  /** By `blake3:<hash>`, by the hash, or by the beginning of either. */
  readonly find: (refOrPrefix: string) => Promise<FoundApproval>;
  /** @throws KernelError USAGE for a scope or reason that cannot be */
  readonly decide: (ref: string, wanted: WantedDecision, credential: string) => Promise<PersonsOutcome>;
  /** Takes an approval or a request back: as if it had been denied. */
  readonly revoke: (ref: string, credential: string, reason?: string) => Promise<PersonsOutcome>;
  /** `listener` is called after something may have changed, from any process. */
  readonly watch: (listener: () => void) => Promise<StopListening>;
}
