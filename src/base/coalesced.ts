/**
 * Runs one piece of work for all who ask for it at the same time, such as an fsync.
 *
 * INVARIANT: whoever asks gets a run that began after the call: one that is under way may have missed what the caller
 * did, so that all who ask meanwhile share the next.
 */

/** Work of which one run is enough for everybody who asked before it began. */
export class Coalesced {
  readonly #work: () => Promise<void>;
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;

  constructor(work: () => Promise<void>) {
    this.#work = work;
  }

  /** Whether nobody waits for a run. */
  get idle(): boolean {
    return this.#running === undefined && this.#next === undefined;
  }

  /** Resolves after a run that begins now or later; rejects when that run fails. */
  run(): Promise<void> {
    if (this.#running === undefined) return this.#start();
    this.#next ??= this.#running.then(
      () => this.#startNext(),
      () => this.#startNext(),
    );
    return this.#next;
  }

  /** Resolves when nobody waits any more, whatever came of it. */
  async settled(): Promise<void> {
    await Promise.allSettled([this.#next ?? this.#running]);
  }

  #startNext(): Promise<void> {
    this.#next = undefined;
    return this.#start();
  }

  #start(): Promise<void> {
    const running = this.#work().finally(() => {
      if (this.#running === running) this.#running = undefined;
    });
    this.#running = running;
    return running;
  }
}
