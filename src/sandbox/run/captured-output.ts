/**
 * Captures the beginning, the end and the length of an output stream.
 *
 * Memory stays flat however much comes. Both parts are kept with a margin beyond what is shown, so that a secret at the
 * cut is still recognised.
 */

/** The kept parts of a stream. */
export interface CapturedParts {
  /** From the beginning on. */
  readonly head: Uint8Array;
  /** Up to the end; empty when everything is in `head`. */
  readonly tail: Uint8Array;
  /** Bytes between both that are not kept. */
  readonly omittedBytes: number;
  readonly totalBytes: number;
}

/** Keeps the first and last bytes of a stream. */
export class CapturedOutput {
  readonly #head: Uint8Array[] = [];
  readonly #bytesMax: number;
  /**
   * Made once more comes than the beginning holds, which is rare: memory of megabytes that is used for one command
   * costs the collection of it.
   */
  #ring: Uint8Array | undefined;
  #headBytes = 0;
  #total = 0;
  /** Where the next byte of the tail goes. */
  #next = 0;
  #tailBytes = 0;

  /** @param bytesMax kept at each end */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Bytes that came so far. */
  get totalBytes(): number {
    return this.#total;
  }

  /** Takes a piece; what is kept of it is copied. */
  push(piece: Uint8Array): void {
    this.#total += piece.length;
    let rest = piece;
    if (this.#headBytes < this.#bytesMax) {
      const taken = rest.subarray(0, this.#bytesMax - this.#headBytes);
      this.#head.push(Buffer.from(taken));
      this.#headBytes += taken.length;
      rest = rest.subarray(taken.length);
    }
    if (rest.length > 0) this.#keepLast(rest);
  }

  /** What was kept. */
  parts(): CapturedParts {
    const ring = this.#ring ?? new Uint8Array();
    const ordered =
      this.#tailBytes < this.#bytesMax
        ? Buffer.from(ring.subarray(0, this.#tailBytes))
        : Buffer.concat([ring.subarray(this.#next), ring.subarray(0, this.#next)]);
    const omittedBytes = this.#total - this.#headBytes - ordered.length;
    return { head: Buffer.concat(this.#head), tail: ordered, omittedBytes, totalBytes: this.#total };
  }

  #keepLast(piece: Uint8Array): void {
    this.#ring ??= Buffer.allocUnsafe(this.#bytesMax);
    const last = piece.subarray(Math.max(0, piece.length - this.#bytesMax));
    const first = last.subarray(0, this.#bytesMax - this.#next);
    this.#ring.set(first, this.#next);
    this.#ring.set(last.subarray(first.length), 0);
    this.#next = (this.#next + last.length) % this.#bytesMax;
    this.#tailBytes = Math.min(this.#bytesMax, this.#tailBytes + piece.length);
  }
}
