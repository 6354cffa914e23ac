/**
 * Reports when the kernel's one thread stalled during calls, and what it was doing.
 *
 * A stall is more than a second while calls were under way. The watchdog cannot end a stall, only make it known. Time
 * in which the thread was ready and the machine had no processor for it is not its own and does not count.
 *
 * INVARIANTS: an idle kernel is not woken. The watchdog never keeps the process alive. A machine that slept is no
 * stall, because the clock stood as well.
 */
import { readFileSync } from "node:fs";

import { takeLongestStep } from "../base/long-steps.ts";
import type { KernelDoor } from "../kernel/index.ts";

/**
 * Milliseconds that the kernel's thread may stand while calls are under way before that is said: deadlines are missed
 * by as much.
 */
const STALL_MIN_MS = 1000;
/** Milliseconds between two looks at whether it stood. */
export const WATCHDOG_LOOK_MS = 250;

/** One time that the thread stood. */
export interface Stall {
  readonly durationMs: number;
  /**
   * What was done; `undefined` when it was nothing that has a name here: another program may have stopped the process.
   */
  readonly doing: string | undefined;
  /**
   * Processor time of the thread meanwhile: much of it says that something was computed, little that something was
   * waited for.
   */
  readonly processorMs: number;
  readonly callsUnderWay: number;
}

/** How often the thread stood, since the kernel was opened. */
export interface Stalls {
  readonly count: number;
  readonly longestMs: number;
}

/** Watches over the thread that made it. */
export class Watchdog {
  readonly #report: (stall: Stall) => void;
  readonly #count: () => ThreadTimes;
  #underWay = 0;
  #timer: NodeJS.Timeout | undefined;
  #lookedMs = 0;
  #times: ThreadTimes = { ranMs: 0, queuedMs: 0 };
  #stalls: Stalls = { count: 0, longestMs: 0 };

  /** @param times what the scheduler counts; the machine's own when absent */
  constructor(report: (stall: Stall) => void, times = threadTimes) {
    this.#report = report;
    this.#count = times;
  }

  /** How often the thread stood so far. */
  get stalls(): Stalls {
    return this.#stalls;
  }

  /** Calls that run or wait now. */
  get callsUnderWay(): number {
    return this.#underWay;
  }

  /** Whether anything wakes the thread to look. */
  get isWatching(): boolean {
    return this.#timer !== undefined;
  }

  /** Runs a call, during which the thread is watched. */
  during<Result>(call: () => Promise<Result>): Promise<Result> {
    this.#underWay += 1;
    if (this.#timer === undefined) this.#start();
    const running = call();
    running.then(this.#ended, this.#ended);
    return running;
  }

  /** Ends watching; the calls under way go on. */
  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  readonly #ended = (): void => {
    this.#underWay -= 1;
  };

  #start(): void {
    this.#lookedMs = performance.now();
    this.#times = this.#count();
    takeLongestStep(); // of a time that nobody watched
    this.#timer = setInterval(() => this.#look(), WATCHDOG_LOOK_MS).unref();
  }

  #look(): void {
    const nowMs = performance.now();
    const gapMs = nowMs - this.#lookedMs - WATCHDOG_LOOK_MS;
    const step = takeLongestStep();
    const before = this.#times;
    this.#lookedMs = nowMs;
    this.#times = this.#count();
    const durationMs = gapMs - (this.#times.queuedMs - before.queuedMs);
    if (durationMs > STALL_MIN_MS)
      this.#stalled({ durationMs, processorMs: this.#times.ranMs - before.ranMs, doing: step?.what });
    // Looked once more after the last call, whose end may have been what took so long.
    if (this.#underWay === 0) this.close();
  }

  #stalled(stall: Omit<Stall, "callsUnderWay">): void {
    const { count, longestMs } = this.#stalls;
    this.#stalls = { count: count + 1, longestMs: Math.max(longestMs, stall.durationMs) };
    this.#report({ ...stall, callsUnderWay: this.#underWay });
  }
}

/** What the machine's scheduler counts of a thread, since it was started. */
export interface ThreadTimes {
  readonly ranMs: number;
  /** Ready to run, and not running. */
  readonly queuedMs: number;
}

/** The same of this thread; zeros where it does not count. */
export function threadTimes(): ThreadTimes {
  try {
    const [ran, queued] = readFileSync("/proc/thread-self/schedstat", "latin1").split(" ").map(Number);
    return { ranMs: (ran ?? 0) / 1e6, queuedMs: (queued ?? 0) / 1e6 };
  } catch {
    return { ranMs: 0, queuedMs: 0 }; // a kernel without these counts; then all of a gap counts
  }
}

/** `door` under a watchdog. */
export function watchedDoor(door: KernelDoor, watchdog: Watchdog): KernelDoor {
  return {
    ...door,
    execute: (...call) => watchdog.during(() => door.execute(...call)),
    executeBytes: (...call) => watchdog.during(() => door.executeBytes(...call)),
    putContent: (...call) => watchdog.during(() => door.putContent(...call)),
    getContent: (...call) => watchdog.during(() => door.getContent(...call)),
  };
}

/** A stall as a line for whoever runs the kernel: a sentence, then the same as JSON. */
export function stallLine(stall: Stall): string {
  const doing = stall.doing ?? "something without a name; the process may have been stopped";
  const seconds = (stall.durationMs / 1000).toFixed(1);
  return `the kernel's thread stood for ${seconds} s: ${doing} ${JSON.stringify({ event: "kernel_stalled", ...stallFacts(stall) })}`;
}

/** A stall as it is recorded. */
export function stallFacts({ durationMs, doing, processorMs, callsUnderWay }: Stall) {
  return {
    stalledMs: Math.round(durationMs),
    ...(doing !== undefined && { doing }),
    processorMs: Math.round(processorMs),
    callsUnderWay,
  };
}
