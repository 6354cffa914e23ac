/**
 * Defines the messages between the main thread and the ledger's worker thread.
 *
 * Order is kept, so that events need no ids.
 */
import { KernelError, type KernelErrorCode } from "../../base/errors.ts";
import type { PendingEntry } from "../../ledger/chain.ts";
import type { ClaimFile, Instance } from "../../ledger/instance-store.ts";
import type { LedgerPlace } from "../../ledger/ledger-store.ts";
import type { OpenIntent, OpenIntentSource } from "../../ledger/orphans.ts";
import type { SpoolRecovery, SpoolSource } from "../../ledger/spool-recovery.ts";
import type { EventSink } from "../../model/outcome/event.ts";

/** Whether the ledger takes entries, as far as the last attempt showed. */
export interface LedgerHealth {
  readonly writable: boolean;
  /** Why it is not. */
  readonly problem?: string;
  /** Events that wait for their answer. */
  readonly waiting: number;
}

/** The ledger of a running kernel. */
export interface LedgerThread extends EventSink, OpenIntentSource, SpoolSource {
  /** Resolves once the store is open; rejects with `STORE_CORRUPT`, `STORE_UNAVAILABLE` or `LEDGER_UNAVAILABLE`. */
  readonly ready: () => Promise<void>;
  readonly health: () => LedgerHealth;
  /** Bytes that the spool holds. */
  readonly spoolBytes: () => number;
  /** Whether what stood in the ledger before was gone when it was opened; known once a question was answered. */
  readonly isAnew: () => boolean;
  /**
   * Ends the worker if nothing waits for it, so that its memory goes back; whatever comes next starts another one.
   * Resolves when that is done.
   */
  readonly rest: () => Promise<void>;
  /** Records what waits, makes everything durable and ends the worker. */
  readonly close: () => Promise<void>;
}

/** How a ledger thread works. */
export interface LedgerThreadOptions {
  /** Without a spool, buffered events wait for the worker and get their sequences. Default: true. */
  readonly spool?: boolean;
  /** Events that may wait. */
  readonly queueMax?: number;
  /** Size from which on the spool takes nothing until the ledger holds it. */
  readonly spoolBytesMax?: number;
  /**
   * Whether the worker may be ended and started again. Default: where its code stays what it is as long as this process
   * lives, which that of a compiled program does; sources may be newer by then than what the main thread runs.
   */
  readonly restarts?: boolean;
}

/** What the worker is started with. */
export interface LedgerWorkerData {
  readonly stateDirectory: string;
  readonly instanceId: string;
  /** The file whose lock says that the instance lives: without it other kernels take it for dead. */
  readonly claim?: ClaimFile;
  /** Whether the state knows of sessions, and so of a ledger: an empty one without an anchor is a lost one. */
  readonly expectsChain?: boolean;
  /** Where an earlier worker left the ledger: another one is refused. */
  readonly known?: LedgerPlace;
}

/** What the ledger of a claimed instance is started with. */
export function ledgerOf(
  stateDirectory: string,
  { id: instanceId, claim }: Pick<Instance, "id" | "claim">,
  expectsChain = false,
): LedgerWorkerData {
  return { stateDirectory, instanceId, expectsChain, ...(claim && { claim }) };
}

/** An operational failure, without the cause. */
export interface Failure {
  readonly code: KernelErrorCode;
  readonly message: string;
}

/** What the worker says of an error. */
export function failureOf(error: unknown): Failure {
  if (error instanceof KernelError) return { code: error.code, message: error.message };
  return { code: "LEDGER_UNAVAILABLE", message: "the ledger cannot be written" };
}

/** An event that waits for its sequence. */
export interface SentEvent {
  readonly entry: PendingEntry;
  /** Counter of the last event that was spooled before it: those stand before it in the chain. */
  readonly after: number;
}

/** How far a spool goes. Each clearing of the spool begins a new generation, in which it is empty at first. */
export interface SpoolExtent {
  readonly generation: number;
  readonly bytes: number;
}

/** A question that the worker answers by its id. */
export type LedgerQuestion =
  | { readonly kind: "open_intents" }
  | { readonly kind: "spooled_instances" }
  | { readonly kind: "recover_spool"; readonly instanceId: string; readonly nowMs: number };

/** To the worker. */
export type LedgerRequest =
  /** Append what the spool holds up to an extent, and these events. */
  | { readonly kind: "append"; readonly events: readonly SentEvent[]; readonly spool?: SpoolExtent }
  /** Something was spooled that an `append` will soon name; otherwise the spool must be synced in time. */
  | { readonly kind: "spooling" }
  | { readonly kind: "question"; readonly id: number; readonly question: LedgerQuestion }
  /** Close what is open unless there is something to do, so that the thread may be ended. */
  | { readonly kind: "rest" }
  | { readonly kind: "close" };

/** From the worker. */
export type LedgerReply =
  /** The store is open, or why it is not. Sent once. `isAnew`: what stood in it before is gone. */
  | { readonly kind: "opened"; readonly failure?: Failure; readonly known?: LedgerPlace; readonly isAnew?: true }
  /**
   * The oldest unanswered events, in order: their sequences, 0 where the intent to close was not open. And how much of
   * the spool the ledger holds.
   */
  | { readonly kind: "appended"; readonly sequences: readonly number[]; readonly spool: SpoolExtent }
  /** The oldest `count` unanswered events were not recorded; what was spooled is tried again. */
  | { readonly kind: "refused"; readonly count: number; readonly failure: Failure }
  /** What was acknowledged without fsync could not be fsynced. */
  | { readonly kind: "sync_failed"; readonly failure: Failure }
  /** The ledger can be written again. */
  | { readonly kind: "writable" }
  | { readonly kind: "answered"; readonly id: number; readonly answer: LedgerAnswer }
  /** Whether everything is durable and closed, as long as nothing is sent. */
  | { readonly kind: "rested"; readonly closed: boolean; readonly known?: LedgerPlace }
  | { readonly kind: "closed"; readonly failure?: Failure };

/** The answer to a question, or why there is none. */
export type LedgerAnswer =
  | { readonly kind: "intents"; readonly intents: readonly OpenIntent[] }
  | { readonly kind: "instances"; readonly instances: readonly string[] }
  | { readonly kind: "recovery"; readonly recovery: SpoolRecovery }
  | { readonly kind: "failed"; readonly failure: Failure };
