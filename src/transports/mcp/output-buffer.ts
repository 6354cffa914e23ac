/**
 * What waits to be written to a stream: pieces of text, encoded as they come.
 *
 * Encoding piece by piece is what makes answers cheap: joined into one text first, every byte of them would be copied
 * several times. INVARIANT: the bytes leave in the order of the pieces, and what was handed to the stream is never written
 * over, because whoever reads behind it may keep it.
 */
import type { Writable } from "node:stream";

/** Bytes after which what was collected leaves without waiting for the turn's end: the reader works meanwhile. */
const CHUNK_BYTES = 64 * 1024;
/** Bytes that one UTF-16 code unit takes at most. */
const BYTES_PER_CODE_UNIT = 3;
/** Texts that are shorter are encoded as quickly as they are compared. */
const LONG_CHARACTERS = 512;

/** Collects text for a stream. */
export class OutputBuffer {
  readonly #stream: Writable;
  #chunk: Buffer = Buffer.alloc(0);
  /** What waits in the chunk: from `#start` to `#end`. */
  #start = 0;
  #end = 0;
  #full = false;
  /** The last long text in the chunk, and where it lies: results hold their text twice. */
  #long = { text: "", start: 0, end: 0 };

  constructor(stream: Writable) {
    this.#stream = stream;
  }

  /** Adds `text`; whole chunks leave at once. */
  add(text: string): void {
    const bytesMax = text.length * BYTES_PER_CODE_UNIT;
    if (bytesMax > this.#chunk.byteLength - this.#end) {
      this.flush();
      if (bytesMax > CHUNK_BYTES) {
        this.#write(Buffer.from(text));
        return;
      }
      this.#chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
      this.#start = 0;
      this.#end = 0;
      this.#long = { text: "", start: 0, end: 0 };
    }
    this.#end += text.length < LONG_CHARACTERS ? this.#chunk.write(text, this.#end) : this.#addLong(text);
  }

  /** Copying bytes is quicker than encoding the same text again. */
  #addLong(text: string): number {
    const { start, end } = this.#long;
    if (text === this.#long.text) return this.#chunk.copy(this.#chunk, this.#end, start, end);
    const written = this.#chunk.write(text, this.#end);
    this.#long = { text, start: this.#end, end: this.#end + written };
    return written;
  }

  /** Hands everything to the stream; `false` when that asks to wait for its `drain`. */
  flush(): boolean {
    if (this.#end > this.#start) {
      const bytes = this.#chunk.subarray(this.#start, this.#end);
      this.#start = this.#end;
      this.#write(bytes);
    }
    return !this.#full;
  }

  /** The stream has taken what it held back. */
  drained(): void {
    this.#full = false;
  }

  #write(bytes: Buffer): void {
    if (!this.#stream.write(bytes)) this.#full = true;
  }
}
