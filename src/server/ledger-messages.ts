/** What the main thread and the ledger's worker thread tell each other. Order is kept, so that events need no ids. */
import type { KernelErrorCode } from "../base/errors.ts";
import type { PendingEntry } from "../ledger/chain.ts";
import type { OpenIntent } from "../ledger/orphans.ts";

/** What the worker is started with. */
export interface LedgerWorkerData {
  readonly stateDirectory: string;
  readonly instanceId: string;
}

/** An operational failure, without the cause. */
export interface Failure {
  readonly code: KernelErrorCode;
  readonly message: string;
}

/** To the worker. */
export type LedgerRequest =
  | { readonly kind: "append"; readonly events: readonly PendingEntry[] }
  | { readonly kind: "open_intents"; readonly id: number }
  | { readonly kind: "close" };

/** From the worker. */
export type LedgerReply =
  /** The store is open, or why it is not. Sent once. */
  | { readonly kind: "opened"; readonly failure?: Failure }
  /** The oldest unanswered events, in order: their sequences, 0 where the intent to close was not open. */
  | { readonly kind: "appended"; readonly sequences: readonly number[] }
  /** The oldest `count` unanswered events were not recorded. */
  | { readonly kind: "refused"; readonly count: number; readonly failure: Failure }
  /** What was acknowledged without fsync could not be fsynced. */
  | { readonly kind: "sync_failed"; readonly failure: Failure }
  /** The ledger can be written again. */
  | { readonly kind: "recovered" }
  | { readonly kind: "intents"; readonly id: number; readonly intents: readonly OpenIntent[] }
  | { readonly kind: "intents_failed"; readonly id: number; readonly failure: Failure }
  | { readonly kind: "closed"; readonly failure?: Failure };
