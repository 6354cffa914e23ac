/**
 * Locks a file for one writer at a time, within this process and across processes.
 *
 * The calls of this process stand in a queue in the order in which they came. The head of the queue then asks the
 * store, which knows the writers of other processes.
 *
 * INVARIANTS: a call waits FILE_LOCK_WAIT_MS in all and then fails with `RESOURCE_BUSY`. Each holder has a name of its
 * own, so that a holder that lost a lock for being silent cannot release its successor's. The queue belongs to the
 * store, so that every call of the process stands in the same one. After a wait nothing is done before the call has
 * been checked again.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { Clock } from "../../base/clock.ts";
import { KernelError } from "../../base/errors.ts";
import type { RandomBytes } from "../../base/ids.ts";

import type { Denial } from "../../model/outcome/decision.ts";
import { FailureWithoutEffect, Refusal, storeFailure, type ToolFailure } from "../../model/outcome/failure.ts";
import type { LockOutcome, LockRequest, LockStore } from "../ports/lock-store.ts";
import { cancelled, quoted, throwIfCancelled } from "./places/failures.ts";

/** Milliseconds to wait for the lock of a file before `RESOURCE_BUSY` (Flow: 5 s). */
const FILE_LOCK_WAIT_MS = 5_000;
/** Milliseconds after which a file lock counts as abandoned (Flow: 30 s). */
export const FILE_LOCK_STALE_MS = 30_000;
/** Calls of one process that wait for the same file's lock; more than that is a runaway client. */
const FILE_LOCK_WAITERS_MAX = 1024;
/** Milliseconds between two looks at a lock that another process holds: the first pause … */
const FILE_LOCK_POLL_MIN_MS = 2;
/** Milliseconds of the longest pause between two looks at a call that another kernel executes. */
const FILE_LOCK_POLL_MAX_MS = 50;

/** What locking needs of the call. */
export interface LockScope {
  readonly locks: LockStore;
  readonly lockOwner: string;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly signal: AbortSignal;
  /** Told when a lock was taken from a holder that was silent too long. */
  readonly onLockBroken: (path: string, brokenOwner: string) => void | Promise<void>;
  /**
   * Asked once the lock is held, when the call had to wait for it: why the call may not go on any more, if it may not.
   */
  readonly recheck: () => Promise<Denial | undefined>;
}

/** The lock of one file. */
export interface FileLock {
  readonly key: string;
  /** The path as the call names it, for messages. */
  readonly path: string;
}

/** A held lock: whether it is still certain that nobody took it over. */
export interface HeldLock {
  readonly isFresh: () => boolean;
}

/**
 * Runs `work` while this call alone holds the file's lock.
 * @throws ToolFailure RESOURCE_BUSY after FILE_LOCK_WAIT_MS, CANCELLED when the call is cancelled while it waits,
 *   STORE_UNAVAILABLE or STORE_CORRUPT when the lock cannot be asked for
 * @throws Refusal when the call was no longer allowed after its wait
 */
export async function withFileLock<T>(
  scope: LockScope,
  file: FileLock,
  work: (lock: HeldLock) => Promise<T>,
): Promise<T> {
  const startedMs = scope.clock.monotonicMs();
  const { leave, waited } = await enterQueue(scope, file, startedMs + FILE_LOCK_WAIT_MS);
  try {
    return await withStoreLock(scope, { ...file, startedMs, waited }, work);
  } finally {
    leave();
  }
}

/** When the call began to wait, and whether it stood behind others in the queue. */
interface Wait {
  readonly startedMs: number;
  readonly waited: boolean;
}

async function withStoreLock<T>(
  scope: LockScope,
  { key, path, startedMs, waited }: FileLock & Wait,
  work: (lock: HeldLock) => Promise<T>,
): Promise<T> {
  const owner = `${scope.lockOwner}/${Buffer.from(scope.random(16)).toString("base64url")}`;
  let pauseMs = FILE_LOCK_POLL_MIN_MS;
  let mayHaveChanged = waited;
  for (;;) {
    throwIfCancelled(scope.signal);
    const askedMs = scope.clock.monotonicMs();
    const outcome = await acquire(scope.locks, {
      key,
      owner,
      staleAfterMs: FILE_LOCK_STALE_MS,
      nowMs: scope.clock.nowMs(),
    });
    if (outcome.kind === "acquired") {
      try {
        if (outcome.brokenOwner !== undefined) await scope.onLockBroken(path, outcome.brokenOwner);
        // A store that another process keeps busy takes time too before it answers.
        if (mayHaveChanged || scope.clock.monotonicMs() - startedMs >= FILE_LOCK_POLL_MIN_MS)
          await requireStillAllowed(scope);
        return await work({ isFresh: () => scope.clock.monotonicMs() - askedMs < FILE_LOCK_STALE_MS });
      } finally {
        await releaseOrLetLapse(scope.locks, key, owner);
      }
    }
    if (scope.clock.monotonicMs() + pauseMs > startedMs + FILE_LOCK_WAIT_MS) throw busy(path);
    await waitFor(pauseMs, scope.signal);
    mayHaveChanged = true;
    // spread, so that waiters do not march in step
    pauseMs = Math.min(FILE_LOCK_POLL_MAX_MS, pauseMs * (1 + (scope.random(1)[0] ?? 0) / 255));
  }
}

async function requireStillAllowed(scope: LockScope): Promise<void> {
  const denial = await scope.recheck();
  if (denial !== undefined) throw new Refusal(denial);
}

/** Nothing was done yet, so that a store that fails here leaves nothing unknown. */
async function acquire(locks: LockStore, wanted: LockRequest): Promise<LockOutcome> {
  try {
    return await locks.acquire(wanted);
  } catch (error) {
    throw error instanceof KernelError ? (storeFailure(error) ?? error) : error;
  }
}

/** What the work did stands whether or not the store hears of its end: a lock that stays behind lapses by itself. */
async function releaseOrLetLapse(locks: LockStore, key: string, owner: string): Promise<boolean> {
  try {
    return await locks.release({ key, owner });
  } catch {
    return false;
  }
}

async function waitFor(delayMs: number, signal: AbortSignal): Promise<void> {
  try {
    await pause(delayMs, undefined, { signal });
  } catch {
    throw cancelled();
  }
}

/** Those who wait for one key, first come first; the holder stands in front. */
type Queue = { readonly release: () => void }[];
const queuesByStore = new WeakMap<LockStore, Map<string, Queue>>();

/** Waits until this call is at the head of the key's queue: how to leave it, and whether others were before it. */
function enterQueue(
  scope: LockScope,
  { key, path }: FileLock,
  deadlineMs: number,
): Promise<{ readonly leave: () => void; readonly waited: boolean }> {
  throwIfCancelled(scope.signal);
  const queues = queuesByStore.get(scope.locks) ?? new Map<string, Queue>();
  queuesByStore.set(scope.locks, queues);
  const queue = queues.get(key) ?? [];
  queues.set(key, queue);
  if (queue.length >= FILE_LOCK_WAITERS_MAX) throw busy(path);

  const waited = queue.length > 0;
  return new Promise((resolve, reject) => {
    const waiter = { release: () => settle(undefined) };
    const leave = () => {
      const wasFirst = queue[0] === waiter;
      queue.splice(queue.indexOf(waiter), 1);
      if (queue.length === 0) queues.delete(key);
      if (wasFirst) queue[0]?.release();
    };
    const settle = (failure: ToolFailure | undefined) => {
      clearTimeout(timer);
      scope.signal.removeEventListener("abort", onAbort);
      if (failure === undefined) return resolve({ leave, waited });
      leave();
      reject(failure);
    };
    const onAbort = () => settle(cancelled());
    const timer = setTimeout(() => settle(busy(path)), Math.max(0, deadlineMs - scope.clock.monotonicMs()));
    scope.signal.addEventListener("abort", onAbort, { once: true });
    queue.push(waiter);
    if (queue[0] === waiter) settle(undefined);
  });
}

function busy(path: string): ToolFailure {
  const message = `${quoted(path)} is being changed by others; its lock did not become free within ${FILE_LOCK_WAIT_MS / 1000} s`;
  return new FailureWithoutEffect("RESOURCE_BUSY", message, {
    suggestion: "try again in a moment",
    retryAfterMs: FILE_LOCK_POLL_MAX_MS,
  });
}
