/**
 * The history of files as a kernel uses it: what a call changes is noted there, within the operator's limits.
 *
 * INVARIANTS: a change that cannot be noted is not made; once it is made, no failure to say so changes its outcome;
 * what is too old or too much leaves beside all calls.
 */
import { KernelError } from "../../base/errors.ts";
import type { ChangingCall, HistoryStore, HistorySweep } from "../../cas/history-store.ts";
import { storeFailure } from "../../model/outcome/failure.ts";
import type { FileChange, NotedChanges } from "../../model/work/file-history.ts";

/** How long, and how much, is kept. */
export interface HistoryLimits {
  /** Milliseconds; 0: nothing is kept. */
  readonly keepMs: number;
  /** Bytes of all that is kept, and of one file. */
  readonly bytesMax: number;
  readonly fileBytesMax: number;
}

/** What a history works with. */
export interface FileHistoryParts {
  readonly store: HistoryStore;
  /** As they are now. */
  readonly limits: () => HistoryLimits;
  readonly nowMs: () => number;
  readonly onInternalError: (error: unknown) => void;
}

/** Milliseconds between two looks for what is too old. */
const SWEEP_EVERY_MS = 10 * 60_000;
/** Of all that may be kept, the part after which there may be too much. */
const SWEEP_AFTER_PART = 1 / 16;
/** Of all that may be kept, the part that one call may take. */
const CALL_PART = 1 / 2;

/** The history of one kernel. */
export class FileHistory {
  readonly #parts: FileHistoryParts;
  #sweptAtMs: number;
  #notedBytes = 0;
  #sweeping: Promise<void> | undefined;

  constructor(parts: FileHistoryParts) {
    this.#parts = parts;
    this.#sweptAtMs = parts.nowMs();
  }

  get store(): HistoryStore {
    return this.#parts.store;
  }

  get limits(): HistoryLimits & { readonly callBytesMax: number } {
    const limits = this.#parts.limits();
    return { ...limits, callBytesMax: Math.floor(limits.bytesMax * CALL_PART) };
  }

  /**
   * Notes changes that are about to be made.
   * @throws ToolFailure STORE_UNAVAILABLE or STORE_CORRUPT
   */
  async note(call: ChangingCall, changes: readonly FileChange[], isCut = false): Promise<NotedChanges> {
    const { store, onInternalError } = this.#parts;
    const noted = await store.note(call, changes, isCut).catch((error: unknown) => {
      throw error instanceof KernelError ? (storeFailure(error) ?? error) : error;
    });
    for (const { before, unkept } of changes) if (unkept === undefined) this.#notedBytes += before?.bytes ?? 0;
    this.#sweepIfDue();
    return {
      made: (isMade) => noted.made(isMade).catch(onInternalError),
      forget: () => noted.forget().catch(onInternalError),
    };
  }

  /** Removes what is too old or too much. @param isThorough as the store takes it */
  async sweep(isThorough = true): Promise<HistorySweep> {
    this.#sweptAtMs = this.#parts.nowMs();
    this.#notedBytes = 0;
    return this.#parts.store.sweep(this.#parts.limits(), this.#sweptAtMs, isThorough);
  }

  #sweepIfDue(): void {
    const { bytesMax } = this.#parts.limits();
    const isDue =
      this.#parts.nowMs() - this.#sweptAtMs >= SWEEP_EVERY_MS || this.#notedBytes > bytesMax * SWEEP_AFTER_PART;
    if (!isDue || this.#sweeping !== undefined) return;
    this.#sweeping = this.sweep()
      .then(() => undefined, this.#parts.onInternalError)
      .finally(() => {
        this.#sweeping = undefined;
      });
  }

  /** Waits for the sweep that is under way, and closes the store. */
  async close(): Promise<void> {
    await this.#sweeping;
    await this.#parts.store.close();
  }
}
