/**
 * Queues what is exported, in memory that is bounded, and counts what is dropped.
 *
 * One batch is under way at a time. A batch that the collector may take later is tried again, ever more rarely; one
 * that it refuses is dropped. INVARIANTS: adding never waits and never throws. What does not fit is dropped and
 * counted, the newest first. The queue keeps no process alive.
 */

/** Items of one request. */
const BATCH_MAX = 64;
/** Milliseconds between two requests while little comes. */
const FLUSH_MS = 1000;
/** Milliseconds before a batch is tried again, and at most. */
const RETRY_MS = 1000;
const RETRY_MAX_MS = 30_000;

/** What came of sending a batch. */
export type Sent =
  /** `rejected`: so many of it the collector did not take. */
  | { readonly kind: "taken"; readonly rejected: number }
  /** It may be tried again. */
  | { readonly kind: "later"; readonly why: string }
  | { readonly kind: "refused"; readonly why: string };

/** How an export is. */
export interface ExportState {
  readonly waiting: number;
  readonly exported: number;
  readonly dropped: number;
  /** Requests that failed. */
  readonly failures: number;
  /** Why the last request failed; absent while the last one succeeded. */
  readonly problem?: string;
}

/** How a queue sends, and who is told. */
export interface ExportQueueParts<Item> {
  /** Sends a batch. Must not throw. */
  readonly send: (batch: readonly Item[], signal: AbortSignal) => Promise<Sent>;
  /** Items that wait at most. */
  readonly itemsMax: number;
  /** Told when exporting begins to fail, with why, and when it works again. */
  readonly onChange: (problem: string | undefined) => void;
  readonly flushMs?: number;
  readonly retryMs?: number;
}

/** A queue of items to export. */
export class ExportQueue<Item> {
  readonly #parts: ExportQueueParts<Item>;
  readonly #end = new AbortController();
  #waiting: Item[] = [];
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> | undefined;
  #retryMs: number;
  #isClosing = false;
  #exported = 0;
  #dropped = 0;
  #failures = 0;
  #problem: string | undefined;

  constructor(parts: ExportQueueParts<Item>) {
    this.#parts = parts;
    this.#retryMs = parts.retryMs ?? RETRY_MS;
  }

  /** How it is. */
  get state(): ExportState {
    return {
      waiting: this.#waiting.length,
      exported: this.#exported,
      dropped: this.#dropped,
      failures: this.#failures,
      ...(this.#problem !== undefined && { problem: this.#problem }),
    };
  }

  /** Takes an item, unless there are too many. */
  add(item: Item): void {
    if (this.#isClosing || this.#waiting.length >= this.#parts.itemsMax) {
      this.#dropped += 1;
      return;
    }
    this.#waiting.push(item);
    const isFull = this.#waiting.length >= BATCH_MAX && this.#problem === undefined;
    if (isFull && this.#sending === undefined) this.#flush();
    else this.#later(this.#parts.flushMs ?? FLUSH_MS);
  }

  /** Sends what waits, for at most `waitMs`; what is left then is dropped. */
  async close(waitMs: number): Promise<void> {
    this.#isClosing = true;
    clearTimeout(this.#timer);
    const timer = setTimeout(() => this.#end.abort(), waitMs);
    try {
      await this.#sending;
      while (this.#waiting.length > 0 && !this.#end.signal.aborted && (await this.#sendOne()));
    } finally {
      clearTimeout(timer);
      this.#dropped += this.#waiting.length;
      this.#waiting = [];
    }
  }

  #later(afterMs: number): void {
    if (this.#timer !== undefined || this.#sending !== undefined || this.#isClosing) return;
    this.#timer = setTimeout(() => this.#flush(), afterMs).unref();
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#sending = this.#sendAll().finally(() => {
      this.#sending = undefined;
      if (this.#waiting.length > 0)
        this.#later(this.#problem === undefined ? (this.#parts.flushMs ?? FLUSH_MS) : this.#retryMs);
    });
  }

  async #sendAll(): Promise<void> {
    do {
      if (!(await this.#sendOne())) return;
    } while (this.#waiting.length >= BATCH_MAX && !this.#isClosing);
  }

  /** @returns whether more may be sent at once */
  async #sendOne(): Promise<boolean> {
    const batch = this.#waiting.slice(0, BATCH_MAX);
    if (batch.length === 0) return false;
    const sent = await this.#parts.send(batch, this.#end.signal);
    if (sent.kind === "later") return this.#failed(sent.why);
    this.#waiting = this.#waiting.slice(batch.length);
    if (sent.kind === "refused") {
      this.#dropped += batch.length;
      return this.#failed(sent.why);
    }
    this.#exported += batch.length - sent.rejected;
    this.#dropped += sent.rejected;
    this.#retryMs = this.#parts.retryMs ?? RETRY_MS;
    this.#turn(undefined);
    return true;
  }

  #failed(why: string): false {
    this.#failures += 1;
    if (this.#problem !== undefined) this.#retryMs = Math.min(RETRY_MAX_MS, this.#retryMs * 2);
    this.#turn(why);
    return false;
  }

  #turn(problem: string | undefined): void {
    const has = this.#problem !== undefined;
    this.#problem = problem;
    if (has !== (problem !== undefined)) this.#parts.onChange(problem);
  }
}
