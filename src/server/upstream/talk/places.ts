/** A counting semaphore with a bounded queue: how many questions are open at one server, and how many wait. */

/** The places of one server. */
export class Places {
  readonly #max: number;
  readonly #waitingMax: number;
  readonly #waiting = new Set<() => void>();
  #taken = 0;

  constructor({ max, waitingMax }: { readonly max: number; readonly waitingMax: number }) {
    this.#max = max;
    this.#waitingMax = waitingMax;
  }

  /** Whether nobody has a place or waits for one. */
  get isIdle(): boolean {
    return this.#taken === 0 && this.#waiting.size === 0;
  }

  /** Whether no more can wait. */
  get isFull(): boolean {
    return this.#taken >= this.#max && this.#waiting.size >= this.#waitingMax;
  }

  /** Takes a place, which has to be given back; `false` where `signal` aborted before there was one. */
  async take(signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return false;
    if (this.#taken < this.#max) {
      this.#taken += 1;
      return true;
    }
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const begin = () => resolve(true);
    const leave = () => {
      // one that was given a place meanwhile has it
      if (this.#waiting.delete(begin)) resolve(false);
    };
    this.#waiting.add(begin);
    signal.addEventListener("abort", leave, { once: true });
    try {
      return await promise;
    } finally {
      signal.removeEventListener("abort", leave);
    }
  }

  /** Gives a place back, to the one that waits longest. */
  free(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#taken -= 1;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}
