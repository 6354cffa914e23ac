/**
 * Collects what a kernel has opened while it opens, and gives it back, newest first, where a later step fails.
 *
 * Once the kernel is open, its own end closes everything in its order.
 */

/** What can be closed. */
interface Closable {
  close(): unknown;
}

/** The steps of one opening. */
export class Opening {
  readonly #closers: (() => unknown)[] = [];

  /** Notes that `one` is to be closed, and hands it back. */
  keep<One extends Closable>(one: One): One {
    this.#closers.push(() => one.close());
    return one;
  }

  /** Notes another way of giving something back. */
  add(close: () => unknown): void {
    this.#closers.push(close);
  }

  /** Gives everything back; what cannot be closed keeps nothing else open. @returns the failures */
  async giveBack(): Promise<readonly unknown[]> {
    const failures: unknown[] = [];
    for (const close of this.#closers.splice(0).reverse())
      try {
        await close();
      } catch (error) {
        failures.push(error);
      }
    return failures;
  }
}
