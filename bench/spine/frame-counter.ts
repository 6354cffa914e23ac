/**
 * Counts length-delimited frames in a stream without keeping them; a frame below the expected size is a failed answer.
 */

/** Counts the frames of one connection. */
export class FrameCounter {
  readonly #bytesMin: number;
  #left = 0;
  #length = 0;
  #shift = 0;

  constructor(bytesMin: number) {
    this.#bytesMin = bytesMin;
  }

  /** Frames that `chunk` completes. @throws Error for a frame that is too short to carry the file */
  push(chunk: Uint8Array): number {
    let count = 0;
    let offset = 0;
    while (offset < chunk.byteLength) {
      if (this.#left > 0) {
        const taken = Math.min(this.#left, chunk.byteLength - offset);
        this.#left -= taken;
        offset += taken;
        if (this.#left === 0) count += 1;
        continue;
      }
      const byte = chunk[offset++] ?? 0;
      this.#length += (byte & 0x7f) * 2 ** this.#shift;
      this.#shift += 7;
      if (byte >= 0x80) continue;
      if (this.#length < this.#bytesMin) throw new Error(`an answer has only ${this.#length} bytes: the read failed`);
      this.#left = this.#length;
      this.#length = 0;
      this.#shift = 0;
    }
    return count;
  }
}
