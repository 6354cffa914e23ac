/**
 * One writer per file: calls of this process stand in a queue in the order they came, its head then asks the store,
 * which knows the writers of other processes.
 *
 * INVARIANTS: a call waits FILE_LOCK_WAIT_MS in all and then fails with `RESOURCE_BUSY`; each holder has a name of its
 * own, so that whoever lost a lock for being silent cannot release its successor's; the queue belongs to the store, so
 * that every call of the process stands in the same one.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { Clock } from "../../base/clock.ts";
import type { RandomBytes } from "../../base/ids.ts";
import {
  FILE_LOCK_POLL_MAX_MS,
  FILE_LOCK_POLL_MIN_MS,
  FILE_LOCK_STALE_MS,
  FILE_LOCK_WAIT_MS,
  FILE_LOCK_WAITERS_MAX,
} from "../../base/limits.ts";
import { ToolFailure } from "../../model/failure.ts";
import type { LockStore } from "../lock-store.ts";
import { cancelled, quoted, throwIfCancelled } from "./failures.ts";

/** What locking needs of the call. */
export interface LockScope {
  readonly locks: LockStore;
  readonly lockOwner: string;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly signal: AbortSignal;
  /** Told when a lock was taken from a holder that was silent too long. */
  readonly onLockBroken: (path: string, brokenOwner: string) => void | Promise<void>;
}

/** A held lock: whether it is still certain that nobody took it over. */
export interface HeldLock {
  readonly isFresh: () => boolean;
}

/**
 * Runs `work` while this call alone holds the lock `key`; `path` is for messages.
 * @throws ToolFailure RESOURCE_BUSY after FILE_LOCK_WAIT_MS, CANCELLED when the call is cancelled while it waits
 */
export async function withFileLock<T>(scope: LockScope, key: string, path: string, work: (lock: HeldLock) => Promise<T>): Promise<T> {
  const deadlineMs = scope.clock.monotonicMs() + FILE_LOCK_WAIT_MS;
  const leave = await enterQueue(scope, key, path, deadlineMs);
  try {
    return await withStoreLock(scope, key, path, deadlineMs, work);
  } finally {
    leave();
  }
}

async function withStoreLock<T>(
  scope: LockScope,
  key: string,
  path: string,
  deadlineMs: number,
  work: (lock: HeldLock) => Promise<T>,
): Promise<T> {
  const owner = `${scope.lockOwner}/${Buffer.from(scope.random(16)).toString("base64url")}`;
  let pauseMs = FILE_LOCK_POLL_MIN_MS;
  for (;;) {
    throwIfCancelled(scope.signal);
    const askedMs = scope.clock.monotonicMs();
    const outcome = await scope.locks.acquire({ key, owner, staleAfterMs: FILE_LOCK_STALE_MS, nowMs: scope.clock.nowMs() });
    if (outcome.kind === "acquired") {
      try {
        if (outcome.brokenOwner !== undefined) await scope.onLockBroken(path, outcome.brokenOwner);
        return await work({ isFresh: () => scope.clock.monotonicMs() - askedMs < FILE_LOCK_STALE_MS });
      } finally {
        await releaseOrLetLapse(scope.locks, key, owner);
      }
    }
    if (scope.clock.monotonicMs() + pauseMs > deadlineMs) throw busy(path);
    await waitFor(pauseMs, scope.signal);
    pauseMs = Math.min(FILE_LOCK_POLL_MAX_MS, pauseMs * (1 + (scope.random(1)[0] ?? 0) / 255)); // spread, so that waiters do not march in step
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

/** Waits until this call is at the head of the key's queue; the result leaves it. */
function enterQueue(scope: LockScope, key: string, path: string, deadlineMs: number): Promise<() => void> {
  throwIfCancelled(scope.signal);
  const queues = queuesByStore.get(scope.locks) ?? new Map<string, Queue>();
  queuesByStore.set(scope.locks, queues);
  const queue = queues.get(key) ?? [];
  queues.set(key, queue);
  if (queue.length >= FILE_LOCK_WAITERS_MAX) throw busy(path);

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
      if (failure === undefined) return resolve(leave);
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
  return new ToolFailure("RESOURCE_BUSY", message, "try again in a moment", { afterMs: FILE_LOCK_POLL_MAX_MS });
}
