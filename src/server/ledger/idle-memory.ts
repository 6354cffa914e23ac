/**
 * Gives memory back when a thread has had nothing to do for a while.
 *
 * An MCP server is kept open for hours and mostly waits, and V8 collects only when something allocates: what starting
 * and the last calls left would stay. Decides only when to collect; nothing that is in use is given up. Collecting
 * takes some 50 ms and the next burst of calls runs more slowly at first, so that it happens once after each time of
 * activity, only when there is enough to give back, and with a long pause in between. Who stays idle for much longer
 * also gives up what has to be started again.
 *
 * INVARIANTS: never keeps the process alive, and does nothing while the thread is busy or a call runs, however long it
 * waits; what it collects is the thread's own.
 */
import { flushCompileCache } from "node:module";
import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { MIB } from "../../base/bytes.ts";

/** Milliseconds between two looks whether a thread is still busy; one without work between them gives memory back. */
const IDLE_LOOK_MS = 500;
/**
 * Milliseconds between two times that an idle thread gives memory back: calls that come in bursts are not slowed down
 * by it.
 */
const IDLE_PAUSE_MS = 60_000;
/**
 * Milliseconds without a call after which an idle kernel also ends the ledger's thread, 8 MiB: starting it again takes
 * 35 to 130 ms of processor time, for which the first effect afterwards waits; an agent that thinks in between, or asks
 * somebody, is not to notice.
 */
const IDLE_REST_MS = 300_000;
/** Bytes that an idle heap must hold beyond what it uses: less is not worth collecting. */
export const IDLE_HEAP_BYTES_MIN = 3 * MIB;

/** When and how an idle thread gives up more than its garbage. */
export interface IdleOptions {
  /** The thread was idle for one to two times this long when memory is given back. */
  readonly lookMs?: number;
  /** Least time between two times; who is idle earlier waits for the end of it. */
  readonly pauseMs?: number;
  /** Called when the thread stays idle for `restMs` more: for what takes some time to come back. */
  readonly rest?: () => void;
  readonly restMs?: number;
}

/** Watches over one thread. */
export class IdleMemory {
  readonly #giveBack: () => void;
  readonly #options: Required<Omit<IdleOptions, "rest">> & Pick<IdleOptions, "rest">;
  #active = false;
  #running = 0;
  #timer: NodeJS.Timeout | undefined;
  #pause: NodeJS.Timeout | undefined;
  #rest: NodeJS.Timeout | undefined;

  /** @param giveBack called once the thread was idle for a while */
  constructor(giveBack: () => void, options: IdleOptions = {}) {
    this.#giveBack = giveBack;
    this.#options = { lookMs: IDLE_LOOK_MS, pauseMs: IDLE_PAUSE_MS, restMs: IDLE_REST_MS, ...options };
  }

  /** Something was asked for. Cheap enough for every call. */
  touch(): void {
    this.#active = true;
    if (this.#rest !== undefined) this.#stay();
    if (this.#pause === undefined) this.#watch();
  }

  /** Runs a call, during which and right after which nothing is collected. */
  during<T>(call: () => Promise<T>): Promise<T> {
    this.#running += 1;
    this.touch();
    const running = call();
    running.then(this.#ended, this.#ended);
    return running;
  }

  readonly #ended = (): void => {
    this.#running -= 1;
    this.touch();
  };

  #watch(): void {
    this.#timer ??= setTimeout(() => this.#look(), this.#options.lookMs).unref();
  }

  #look(): void {
    if (this.#active || this.#running > 0) {
      this.#active = false;
      this.#timer?.refresh();
      return;
    }
    this.#timer = undefined;
    const { pauseMs, rest, restMs } = this.#options;
    this.#pause = setTimeout(() => this.#resume(), pauseMs).unref();
    if (rest !== undefined) this.#rest = setTimeout(rest, restMs).unref();
    this.#giveBack();
  }

  #stay(): void {
    clearTimeout(this.#rest);
    this.#rest = undefined;
  }

  #resume(): void {
    this.#pause = undefined;
    if (this.#active) this.#watch();
  }
}

/**
 * Lets go of the compiled code that this thread has read from Node's compile cache, 1.4 MiB for the main thread: V8 has
 * it, and Node keeps what it read until it was asked to write what is new. The first start writes here what it would
 * write at its end.
 */
export function releaseCompileCache(): void {
  flushCompileCache();
}

/**
 * Collects this thread's heap if that frees enough.
 * @param bytesMin what it must hold beyond what it uses; 0 where something outside of it is to be freed with it
 */
export function collectHeap(bytesMin = IDLE_HEAP_BYTES_MIN): void {
  const { total_physical_size: held, used_heap_size: used } = getHeapStatistics();
  if (held - used < bytesMin) return;
  collect ??= findCollector();
  // Any other flavour keeps the pages of the young generation.
  collect?.({ type: "major", execution: "sync", flavor: "last-resort" });
}

let collect: NodeJS.GCFunction | undefined;
/** The V8 of every Node 22, as its version begins. */
const V8_OF_NODE_22 = "12.4.";

/**
 * V8's own collector. It is exposed to a context made for this alone, and for no longer than that takes: on the command
 * line `--expose-gc` would make Node refuse its compiled code and start more slowly, and kept it would do so with
 * modules loaded later.
 */
function findCollector(): NodeJS.GCFunction | undefined {
  // Collecting like this also throws away the compiled WebAssembly of the whole process, whose other threads may be
  // running it: V8 then aborts now and then, and the next call compiles it all again. Off for good, because threads
  // that collect do not know of each other. The V8 of Node 22 keeps it, and would say that it knows no such flag.
  if (!process.versions.v8.startsWith(V8_OF_NODE_22)) setFlagsFromString("--no-flush-liftoff-code");
  if (globalThis.gc !== undefined) return globalThis.gc;
  setFlagsFromString("--expose-gc");
  try {
    return runInNewContext("globalThis.gc") as NodeJS.GCFunction | undefined;
  } finally {
    setFlagsFromString("--no-expose-gc");
  }
}
