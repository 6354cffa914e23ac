/**
 * Keeps calls of this kernel waiting for a person's decision.
 *
 * The bell, a decision file or this kernel itself wakes them. Nothing polls.
 *
 * INVARIANTS: A wait ends once, and at its deadline at the latest. The store is read after listening has begun, so no
 * decision falls between the two. Nobody listens while nobody waits.
 */

import type { Bell, StopListening } from "../model/outcome/bell.ts";
import type { DecisionStore } from "./decisions/decision-store.ts";
import type { StoredApproval } from "./requests/approval-store.ts";

/** Calls of one kernel that wait for people; each costs a timer and its arguments. */
export const APPROVAL_WAITERS_MAX = 4096;
/**
 * Calls of one session that wait for people: half of what a connection may have in flight, so that answers and other
 * calls are read meanwhile.
 */
export const APPROVAL_WAITERS_PER_SESSION_MAX = 128;

/** How a wait ended; `settled`: the request waits no longer. */
export type WaitEnd =
  | { readonly kind: "settled"; readonly approval: StoredApproval }
  | { readonly kind: "late" | "cancelled" }
  /** Whoever was to answer could not be asked, or put down a decision that does not count. */
  | { readonly kind: "failed" | "forged" };

/** What waiting needs. */
export interface WaitingParts {
  readonly bell: Bell;
  readonly decisions: Pick<DecisionStore, "watch">;
  readonly find: (ref: string) => Promise<StoredApproval | undefined>;
  /** A decision file may have been put down for a request that somebody waits for. */
  readonly onFile: (ref: string) => Promise<void>;
  readonly onInternalError: (error: unknown) => void;
}

type Leave = (end: WaitEnd) => void;

/** The waiting calls of one kernel. */
export class Waiting {
  readonly #parts: WaitingParts;
  readonly #waiters = new Map<string, Set<Leave>>();
  #count = 0;
  /** Waiting calls of each session that has any. */
  readonly #bySession = new Map<string, number>();
  #listening: Promise<StopListening> | undefined;
  #closed = false;

  constructor(parts: WaitingParts) {
    this.#parts = parts;
  }

  /**
   * Waits until the request is settled. `onWaiting` is called once nothing that happens can be missed any more.
   * @throws KernelError STORE_UNAVAILABLE when nobody could wake it
   */
  async wait(
    { ref, sessionId }: Pick<StoredApproval, "ref" | "sessionId">,
    { patienceMs, signal }: { readonly patienceMs: number; readonly signal: AbortSignal },
    onWaiting: () => void,
  ): Promise<WaitEnd> {
    if (signal.aborted) return { kind: "cancelled" };
    if (patienceMs <= 0 || this.#closed || this.#isFull(sessionId)) return this.#lastLook(ref);
    this.#enlist(sessionId, 1);
    try {
      this.#listening ??= this.#listen();
      await this.#listening;
      if (this.#closed) return await this.#lastLook(ref);
      const ended = this.#enter(ref, patienceMs, signal);
      onWaiting();
      void this.look(ref);
      // A file may have been put down before anybody listened.
      this.#parts.onFile(ref).catch(this.#parts.onInternalError);
      const end = await ended;
      return end.kind === "late" ? await this.#lastLook(ref) : end;
    } finally {
      this.#enlist(sessionId, -1);
      if (this.#count === 0) this.#stopListening();
    }
  }

  /** Whether a call waits for the request. */
  isWaitedFor(ref: string): boolean {
    return this.#waiters.has(ref);
  }

  /** Looks at a request, and ends the waits for it when it is settled. Never rejects. */
  async look(ref: string): Promise<void> {
    if (!this.#waiters.has(ref)) return;
    try {
      const approval = await this.#parts.find(ref);
      if (approval !== undefined && approval.state !== "pending") this.end(ref, { kind: "settled", approval });
    } catch (error) {
      this.#parts.onInternalError(error);
      this.end(ref, { kind: "failed" });
    }
  }

  /** Ends the waits for a request. */
  end(ref: string, end: WaitEnd): void {
    for (const leave of [...(this.#waiters.get(ref) ?? [])]) leave(end);
  }

  /** Ends all waits: nobody waits any more. */
  close(): void {
    this.#closed = true;
    for (const ref of [...this.#waiters.keys()]) this.end(ref, { kind: "late" });
  }

  #isFull(sessionId: string): boolean {
    return (
      this.#count >= APPROVAL_WAITERS_MAX || (this.#bySession.get(sessionId) ?? 0) >= APPROVAL_WAITERS_PER_SESSION_MAX
    );
  }

  #enlist(sessionId: string, change: 1 | -1): void {
    this.#count += change;
    const count = (this.#bySession.get(sessionId) ?? 0) + change;
    if (count === 0) this.#bySession.delete(sessionId);
    else this.#bySession.set(sessionId, count);
  }

  #enter(ref: string, patienceMs: number, signal: AbortSignal): Promise<WaitEnd> {
    return new Promise((resolve) => {
      const waiters = this.#waiters.get(ref) ?? new Set();
      this.#waiters.set(ref, waiters);
      const leave = (end: WaitEnd) => {
        clearTimeout(timer);
        signal.removeEventListener("abort", onAbort);
        waiters.delete(leave);
        if (waiters.size === 0 && this.#waiters.get(ref) === waiters) this.#waiters.delete(ref);
        resolve(end);
      };
      const onAbort = () => leave({ kind: "cancelled" });
      const timer = setTimeout(() => leave({ kind: "late" }), patienceMs);
      waiters.add(leave);
      signal.addEventListener("abort", onAbort, { once: true });
      if (signal.aborted) onAbort();
    });
  }

  /** What happened in the very moment of the deadline counts. */
  async #lastLook(ref: string): Promise<WaitEnd> {
    const approval = await this.#parts.find(ref);
    return approval === undefined || approval.state === "pending" ? { kind: "late" } : { kind: "settled", approval };
  }

  async #listen(): Promise<StopListening> {
    const { bell, decisions, onFile, onInternalError } = this.#parts;
    try {
      const stopBell = await bell.listen("approvals", () => {
        for (const ref of [...this.#waiters.keys()]) void this.look(ref);
      });
      const stopFiles = await decisions
        .watch((hash) => {
          const ref = `blake3:${hash}`;
          if (this.#waiters.has(ref)) onFile(ref).catch(onInternalError);
        })
        .catch((error: unknown) => {
          stopBell();
          throw error;
        });
      return () => {
        stopBell();
        stopFiles();
      };
    } catch (error) {
      this.#listening = undefined; // the next call tries again
      throw error;
    }
  }

  #stopListening(): void {
    const listening = this.#listening;
    this.#listening = undefined;
    // One that could not begin is not there to end; whoever waited was told.
    listening?.then(
      (stop) => stop(),
      () => undefined,
    );
  }
}
