/**
 * The directories that searches hold open for batches that wait or run, counted over all searches of the process.
 *
 * INVARIANTS: batches are let in, in the order in which they came, as long as there is room; a batch gives back
 * everything it took, so that each wait ends; what is let in alone is let in however much it holds.
 */

/** Directories that all searches of a process hold together for batches that wait or run; later batches wait. */
const SEARCH_DIRECTORIES_HELD_MAX = 256;

/** Room for a number of directories. */
export class HeldDirectories {
  readonly #most: number;
  readonly #waiting: { readonly count: number; readonly enter: () => void }[] = [];
  #held = 0;

  constructor(most: number = SEARCH_DIRECTORIES_HELD_MAX) {
    this.#most = most;
  }

  /** How many are held. */
  get held(): number {
    return this.#held;
  }

  /**
   * Waits until there is room for `count` more and takes it. Answers whether it did: `false` when `signal` came first.
   */
  take(count: number, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return Promise.resolve(false);
    if (this.#waiting.length === 0 && this.#hasRoom(count)) {
      this.#held += count;
      return Promise.resolve(true);
    }
    return new Promise((resolve) => {
      const enter = () => {
        signal.removeEventListener("abort", leave);
        this.#held += count;
        resolve(true);
      };
      const place = { count, enter };
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(place), 1);
        resolve(false);
        this.#letIn();
      };
      this.#waiting.push(place);
      signal.addEventListener("abort", leave, { once: true });
    });
  }

  /** Gives back what was taken. */
  give(count: number): void {
    this.#held -= count;
    this.#letIn();
  }

  #letIn(): void {
    for (let next = this.#waiting[0]; next !== undefined && this.#hasRoom(next.count); next = this.#waiting[0]) {
      this.#waiting.shift();
      next.enter();
    }
  }

  #hasRoom(count: number): boolean {
    return this.#held === 0 || this.#held + count <= this.#most;
  }
}
