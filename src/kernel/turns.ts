/**
 * Lets each session run a limited number of operations at once; the others wait for their turn, in order.
 *
 * INVARIANT: a turn that was taken is given back once. Nobody waits without an end, and nobody waits in vain for a turn
 * that is free.
 */
import type { EffectClass } from "../model/outcome/effect.ts";
import { ToolFailure } from "../model/outcome/failure.ts";
import type { Ended } from "./call/ended.ts";
import type { Granted } from "./call/stages.ts";

/** Milliseconds that a call waits for its turn: as for a person, so that clients that wait a minute get an answer. */
const TURN_WAIT_MS = 45_000;
/** Calls of one session that wait at once: what comes then is told at once. */
const TURNS_WAITED_FOR_MAX = 1024;
/** Milliseconds after which one that waited in vain may try again. */
const TURN_RETRY_MS = 1000;

/** Effects of tools that start processes, or reach something outside of the kernel. */
const STARTS_SOMETHING: ReadonlySet<EffectClass> = new Set(["exec", "network", "system"]);

/** The operations of one session. */
interface Queue {
  atWork: number;
  /** Each begins the work of one that waits. */
  readonly waiting: Set<() => void>;
}

/** Operations that run, and that wait for their turn. */
export interface TurnCounts {
  readonly running: number;
  readonly waiting: number;
}

/** The turns of all sessions of one kernel. */
export class Turns {
  readonly #queues = new Map<string, Queue>();
  readonly #atOnce: () => number;
  readonly #waitMs: number;

  /** @param atOnce how many operations of a session run at once, now */
  constructor(atOnce: () => number, waitMs = TURN_WAIT_MS) {
    this.#atOnce = atOnce;
    this.#waitMs = waitMs;
  }

  /**
   * Takes a turn, into the call's holdings; `undefined` at once where one is free. Calls of the kernel's own files and
   * stores take none: they start no processes, and many of them are written to the disk together.
   */
  take({ tool, session, holdings }: Granted, signal: AbortSignal): undefined | Promise<Ended | undefined> {
    if (!STARTS_SOMETHING.has(tool.capability.effect)) return undefined;
    const queue = this.#queueOf(session.id);
    const begin = () => {
      queue.atWork += 1;
      holdings.takeTurn(() => this.#leave(session.id, queue));
    };
    if (queue.atWork < this.#atOnce() && queue.waiting.size === 0) {
      begin();
      return undefined;
    }
    if (queue.waiting.size >= TURNS_WAITED_FOR_MAX) return Promise.resolve(busy(this.#atOnce(), 0));
    return this.#wait(queue, begin, signal);
  }

  /** Those of all sessions together. */
  get counts(): TurnCounts {
    const queues = [...this.#queues.values()];
    return {
      running: queues.reduce((sum, { atWork }) => sum + atWork, 0),
      waiting: queues.reduce((sum, { waiting }) => sum + waiting.size, 0),
    };
  }

  async #wait(queue: Queue, begin: () => void, signal: AbortSignal): Promise<Ended | undefined> {
    const { promise, resolve } = Promise.withResolvers<Ended | undefined>();
    const start = () => {
      begin();
      resolve(undefined);
    };
    queue.waiting.add(start);
    const timer = setTimeout(() => resolve(busy(this.#atOnce(), this.#waitMs)), this.#waitMs);
    const stop = () => resolve({ kind: "failure", failure: CANCELLED });
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", stop);
      queue.waiting.delete(start);
    }
  }

  #queueOf(sessionId: string): Queue {
    const known = this.#queues.get(sessionId);
    if (known !== undefined) return known;
    const queue: Queue = { atWork: 0, waiting: new Set() };
    this.#queues.set(sessionId, queue);
    return queue;
  }

  #leave(sessionId: string, queue: Queue): void {
    queue.atWork -= 1;
    for (const start of queue.waiting) {
      if (queue.atWork >= this.#atOnce()) break;
      queue.waiting.delete(start);
      start();
    }
    if (queue.atWork === 0 && queue.waiting.size === 0) this.#queues.delete(sessionId);
  }
}

const CANCELLED = new ToolFailure(
  "CANCELLED",
  "the call was cancelled while it waited for its turn",
  "send it again if it is still wanted",
);

function busy(atOnce: number, waitedMs: number): Ended {
  const waited = waitedMs === 0 ? "too many others wait already" : `none ended within ${waitedMs / 1000} s`;
  const failure = new ToolFailure(
    "RESOURCE_BUSY",
    `this session does ${atOnce} operations at once, and ${waited}, so this one was not begun`,
    {
      suggestion:
        "wait until one of them has ended, then send it again; the operator's `limits.operations_at_once` says how many run at once",
      retryAfterMs: TURN_RETRY_MS,
    },
  );
  return { kind: "failure", failure };
}
