/** Polls what the operator may have changed, and tells of a failure that lasts once. */

/** Milliseconds between two looks: a change is noticed within it. */
const LOOK_MS = 1_000;
/** Milliseconds after a look that failed. */
const LOOK_AGAIN_MS = 10_000;

/** What is looked at, and who hears of failures. */
export interface LookParts {
  readonly look: () => Promise<void>;
  readonly onInternalError: (error: unknown) => void;
}

/** The looks at one thing. */
export class RepeatedLook {
  #timer: NodeJS.Timeout | undefined;
  #lastError = "";
  #closed = false;

  /** Looks from now on, one look after the other. */
  begin(parts: LookParts): void {
    if (this.#closed) return;
    const look = () => void this.#lookOnce(parts).finally(() => this.begin(parts));
    this.#timer = setTimeout(look, this.#lastError === "" ? LOOK_MS : LOOK_AGAIN_MS).unref();
  }

  /** Ends; a look that is under way is the last. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  async #lookOnce({ look, onInternalError }: LookParts): Promise<void> {
    try {
      await look();
      this.#lastError = "";
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      if (message !== this.#lastError) onInternalError(error);
      this.#lastError = message;
    }
  }
}
