/** Places that are taken and given back: a bound for a part within a bound for the whole. */
export class Places {
  readonly #max: number;
  readonly #whole: Places | undefined;
  #taken = 0;

  /** @param whole in which each place here takes one as well */
  constructor(max: number, whole?: Places) {
    this.#max = max;
    this.#whole = whole;
  }

  /** Takes a place if there is one; whoever got it gives it back. */
  take(): boolean {
    if (this.#taken >= this.#max || this.#whole?.take() === false) return false;
    this.#taken += 1;
    return true;
  }

  /** Gives a place back. */
  free(): void {
    this.#taken -= 1;
    this.#whole?.free();
  }
}
