/** Counts the bytes of an event that has not ended, which whoever reads the stream holds. */

/** What ends an event: an empty line. */
const EVENT_ENDS = ["\n\n", "\r\n\r\n", "\r\r"].map((text) => Buffer.from(text));
const LONGEST_END = 4;

/** How much of an event has come that has not ended. */
export class OpenEvent {
  #bytes = 0;
  #last: Buffer = Buffer.alloc(0);

  /** Bytes behind the last end of an event, with `piece`. */
  after(piece: Buffer): number {
    const text = Buffer.concat([this.#last, piece]);
    const at = Math.max(...EVENT_ENDS.map((end) => (text.includes(end) ? text.lastIndexOf(end) + end.length : -1)));
    this.#bytes = at === -1 ? this.#bytes + piece.length : text.length - at;
    this.#last = text.subarray(-(LONGEST_END - 1));
    return this.#bytes;
  }
}
