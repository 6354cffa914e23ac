/**
 * Gives memory back when a thread has had nothing to do for a while.
 *
 * An MCP server is kept open for hours and mostly waits, and V8 collects only when something allocates: what starting and
 * the last calls left would stay. Decides only when to collect; nothing that is in use is given up. Collecting takes some
 * 50 ms, so that it happens once after each time of activity, and only when there is enough to give back.
 *
 * INVARIANT: never keeps the process alive, and does nothing while the thread is busy.
 */
import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { IDLE_HEAP_BYTES_MIN, IDLE_LOOK_MS } from "../base/limits.ts";

/** Watches over one thread. */
export class IdleMemory {
  readonly #giveBack: () => void;
  readonly #lookMs: number;
  #active = false;
  #timer: NodeJS.Timeout | undefined;

  /** @param giveBack called once the thread was idle for one to two times `lookMs` */
  constructor(giveBack: () => void, lookMs = IDLE_LOOK_MS) {
    this.#giveBack = giveBack;
    this.#lookMs = lookMs;
  }

  /** Something was asked for. Cheap enough for every call. */
  touch(): void {
    this.#active = true;
    this.#timer ??= setTimeout(() => this.#look(), this.#lookMs).unref();
  }

  #look(): void {
    if (this.#active) {
      this.#active = false;
      this.#timer?.refresh();
      return;
    }
    this.#timer = undefined;
    this.#giveBack();
  }
}

/** Collects this thread's heap if that frees enough. */
export function collectHeap(): void {
  const { total_physical_size: held, used_heap_size: used } = getHeapStatistics();
  if (held - used < IDLE_HEAP_BYTES_MIN) return;
  collect ??= findCollector();
  // Any other flavour keeps the pages of the young generation.
  collect?.({ type: "major", execution: "sync", flavor: "last-resort" });
}

let collect: NodeJS.GCFunction | undefined;

/**
 * V8's own collector. It is exposed to a context made for this alone, and for no longer than that takes: on the command line
 * the flag would make Node refuse its compiled code and start more slowly, and kept it would do so with modules loaded later.
 */
function findCollector(): NodeJS.GCFunction | undefined {
  if (globalThis.gc !== undefined) return globalThis.gc;
  setFlagsFromString("--expose-gc");
  try {
    return runInNewContext("globalThis.gc") as NodeJS.GCFunction | undefined;
  } finally {
    setFlagsFromString("--no-expose-gc");
  }
}
