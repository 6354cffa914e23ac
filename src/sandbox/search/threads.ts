/**
 * Manages the pool of search threads.
 *
 * Threads are started when they are first needed, shared by all calls of the process, and ended when they have been
 * idle for a while. They keep no process alive while they wait. The pool decides which thread gets which work, and when
 * one is stuck.
 *
 * INVARIANTS: all work is answered once, whatever happens to its thread. A thread that does not get on with a file for
 * SEARCH_STUCK_MS is ended, and its other work goes to the next one. The number of threads is bounded.
 */
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import { MIB } from "../../base/bytes.ts";
import { ownProgram } from "../../names/own-program.ts";
import {
  PULSE,
  PULSE_BYTES,
  type SearchWork,
  type ThreadReply,
  type ThreadRequest,
  type WorkResult,
} from "./pattern/messages.ts";

/**
 * Milliseconds after which a thread that does not get on with its file is ended; a busy machine takes longer than the
 * budget.
 */
const SEARCH_STUCK_MS = 2_000;
/** Threads that search; more than the processors have cores gain nothing, more than these need too much memory. */
const SEARCH_THREADS_MAX = 4;
/** Milliseconds after which threads that had nothing to do are ended, because each holds some 20 MiB. */
const SEARCH_THREADS_IDLE_MS = 30_000;
/** Mebibytes of heap of one search thread. */
const SEARCH_THREAD_HEAP_MIB = 128;
/**
 * Bytes of the regular expression engine after which its thread is ended once it is idle: the engine never gives memory
 * back.
 */
const SEARCH_ENGINE_BYTES_MAX = 64 * MIB;
/** Patterns that a search thread compiles until it is ended once idle, because each leaves something behind. */
export const SEARCH_PATTERNS_COMPILED_MAX = 64;

/** Runs work on search threads. */
export interface SearchThreads {
  /** What became of `work`; never rejects. Work that waits when `signal` says so is given up as `broken`. */
  readonly run: (work: SearchWork, signal: AbortSignal) => Promise<WorkResult>;
}

/** How long a step may take, how many threads there are, and how much memory the engine of each may take. */
export interface SearchThreadsOptions {
  readonly stuckMs?: number;
  readonly threadsMax?: number;
  readonly idleMs?: number;
  readonly engineBytesMax?: number;
  /** Told of each thread that starts. */
  readonly onStart?: () => void;
}

/** Work that a thread has at once, so that it never waits for the next. */
const WORK_PER_THREAD = 2;
/** Looks at a thread until it counts as stuck. */
const LOOKS = 4;
/** The same while it starts: a busy machine may take long to load it. */
const STARTING_LOOKS = 60;

interface Job {
  readonly work: SearchWork;
  readonly signal: AbortSignal;
  readonly resolve: (result: WorkResult) => void;
}

interface Thread {
  readonly worker: Worker;
  readonly pulse: Int32Array;
  /** Given to it and not answered yet, oldest first. */
  readonly running: Map<number, Job>;
  /** It holds so much that it is ended as soon as it has nothing to do, and gets nothing more. */
  worn: boolean;
  step: number;
  quietLooks: number;
}

let shared: SearchThreads | undefined;

/** The threads of this process. */
export function searchThreads(): SearchThreads {
  shared ??= createSearchThreads();
  return shared;
}

/** Threads of their own, for tests. */
export function createSearchThreads(options: SearchThreadsOptions = {}): SearchThreads {
  const threads = new Threads(options);
  return { run: (work, signal) => threads.run(work, signal) };
}

class Threads {
  readonly #stuckMs: number;
  readonly #threadsMax: number;
  readonly #idleMs: number;
  readonly #engineBytesMax: number;
  readonly #onStart: () => void;
  readonly #threads = new Set<Thread>();
  readonly #queue: Job[] = [];
  #nextId = 1;
  #watch: NodeJS.Timeout | undefined;
  #idle: NodeJS.Timeout | undefined;

  constructor(options: SearchThreadsOptions) {
    this.#stuckMs = options.stuckMs ?? SEARCH_STUCK_MS;
    this.#threadsMax = options.threadsMax ?? Math.min(availableParallelism(), SEARCH_THREADS_MAX);
    this.#idleMs = options.idleMs ?? SEARCH_THREADS_IDLE_MS;
    this.#engineBytesMax = options.engineBytesMax ?? SEARCH_ENGINE_BYTES_MAX;
    this.#onStart = options.onStart ?? (() => undefined);
  }

  run(work: SearchWork, signal: AbortSignal): Promise<WorkResult> {
    return new Promise((resolve) => {
      this.#queue.push({ work, signal, resolve });
      this.#dispatch();
    });
  }

  #dispatch(): void {
    while (this.#queue.length > 0) {
      const thread = this.#threadWithRoom();
      if (thread === undefined) return;
      const job = this.#queue.shift();
      if (job === undefined) return;
      if (job.signal.aborted) {
        job.resolve({ kind: "broken", message: "cancelled" });
        continue;
      }
      this.#give(thread, job);
    }
  }

  /** The thread with the least to do; a new one rather than one that is busy, as long as there may be more. */
  #threadWithRoom(): Thread | undefined {
    let best: Thread | undefined;
    for (const thread of this.#threads) {
      if (thread.worn) continue;
      if (best === undefined || thread.running.size < best.running.size) best = thread;
    }
    if ((best === undefined || best.running.size > 0) && this.#threads.size < this.#threadsMax) return this.#start();
    return best !== undefined && best.running.size < WORK_PER_THREAD ? best : undefined;
  }

  #give(thread: Thread, job: Job): void {
    const id = this.#nextId++;
    thread.running.set(id, job);
    thread.worker.ref();
    clearTimeout(this.#idle);
    this.#idle = undefined;
    this.#watch ??= setInterval(() => this.#lookAtAll(), this.#stuckMs / LOOKS).unref();
    thread.worker.postMessage({ id, work: job.work } satisfies ThreadRequest);
  }

  #start(): Thread {
    this.#onStart();
    const memory = new SharedArrayBuffer(PULSE_BYTES);
    const worker = new Worker(ownProgram(import.meta.url, "./search-worker.ts"), {
      workerData: { pulse: memory },
      trackUnmanagedFds: false,
      resourceLimits: { maxOldGenerationSizeMb: SEARCH_THREAD_HEAP_MIB },
    });
    const thread: Thread = {
      worker,
      pulse: new Int32Array(memory),
      running: new Map(),
      worn: false,
      step: 0,
      quietLooks: 0,
    };
    this.#threads.add(thread);
    worker.unref();
    worker.on("message", (reply: ThreadReply) => this.#answered(thread, reply));
    // Out of memory is an error of the thread; whatever it is, `exit` follows.
    worker.on("error", (error) => this.#lost(thread, lossOf(error, Atomics.load(thread.pulse, PULSE.index))));
    worker.on("exit", () => this.#lost(thread, { kind: "broken", message: "the search thread ended" }));
    return thread;
  }

  #answered(thread: Thread, { id, result, wear }: ThreadReply): void {
    const job = thread.running.get(id);
    if (job === undefined) return;
    thread.running.delete(id);
    thread.quietLooks = 0;
    job.resolve(result);
    thread.worn ||= wear.engineBytes > this.#engineBytesMax || wear.patternsCompiled >= SEARCH_PATTERNS_COMPILED_MAX;
    if (thread.running.size === 0) thread.worker.unref();
    if (thread.running.size === 0 && thread.worn) this.#retire(thread);
    this.#dispatch();
    if (this.#isIdle()) this.#rest();
  }

  /** Ends a thread that has nothing to do; another is started when it is needed. */
  #retire(thread: Thread): void {
    this.#threads.delete(thread);
    void thread.worker.terminate();
  }

  /** A thread is gone: what it was doing failed with `loss`, what it had not begun is done by another. */
  #lost(thread: Thread, loss: WorkResult): void {
    if (!this.#threads.delete(thread)) return;
    void thread.worker.terminate();
    const [current] = thread.running.keys();
    this.#settle(thread, current, loss);
  }

  /**
   * Answers the job `lost` of a thread that has ended with `loss`, if it was not answered before, and gives its others
   * to the next.
   */
  #settle(thread: Thread, lost: number | undefined, loss: WorkResult): void {
    const current = lost === undefined ? undefined : thread.running.get(lost);
    const others = [...thread.running].filter(([id]) => id !== lost).map(([, job]) => job);
    thread.running.clear();
    this.#queue.unshift(...others);
    current?.resolve(loss);
    this.#dispatch();
    if (this.#isIdle()) this.#rest();
  }

  #lookAtAll(): void {
    for (const thread of [...this.#threads]) {
      const step = Atomics.load(thread.pulse, PULSE.step);
      thread.quietLooks = thread.running.size > 0 && step === thread.step ? thread.quietLooks + 1 : 0;
      thread.step = step;
      if (thread.quietLooks >= (step === 0 ? STARTING_LOOKS : LOOKS)) void this.#end(thread);
    }
  }

  /** Ends a stuck thread, and only then says so: the caller may close descriptors that it used. */
  async #end(thread: Thread): Promise<void> {
    this.#threads.delete(thread); // it gets nothing more, and ends once
    const [stuck] = thread.running.keys();
    const index = Atomics.load(thread.pulse, PULSE.index);
    const loss: WorkResult = {
      kind: Atomics.load(thread.pulse, PULSE.matching) === 1 ? "over_budget" : "stalled",
      index,
    };
    await thread.worker.terminate();
    this.#settle(thread, stuck, loss);
  }

  #isIdle(): boolean {
    return this.#queue.length === 0 && [...this.#threads].every(({ running }) => running.size === 0);
  }

  #rest(): void {
    clearInterval(this.#watch);
    this.#watch = undefined;
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => this.#endAll(), this.#idleMs).unref();
  }

  #endAll(): void {
    for (const thread of [...this.#threads]) this.#retire(thread);
  }
}

/** What a thread that failed leaves behind: being out of memory has a name of its own. */
function lossOf(error: unknown, index: number): WorkResult {
  const isFull = error instanceof Error && "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY";
  return isFull
    ? { kind: "out_of_memory", index }
    : { kind: "broken", message: error instanceof Error ? error.message : String(error) };
}
