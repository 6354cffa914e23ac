/**
 * What waits to be written to a stream: pieces of text, encoded as they come.
 *
 * Encoding piece by piece is what makes answers cheap: joined into one text first, every byte of them would be copied
 * several times. INVARIANT: the bytes leave in the order of the pieces, and what was handed to the stream is never written
 * over, because whoever reads behind it may keep it; but a socket that says that it is done has given it to the machine.
 */
import { Socket } from "node:net";
import type { Writable } from "node:stream";

/** Bytes after which what was collected leaves without waiting for the turn's end: the reader works meanwhile. */
const CHUNK_BYTES = 64 * 1024;
/** Chunks that are kept to be filled again: one is on its way while the next is filled. */
const SPARE_CHUNKS_MAX = 4;
/** Bytes that one UTF-16 code unit takes at most. */
const BYTES_PER_CODE_UNIT = 3;
/** Texts that are shorter are encoded as quickly as they are compared. */
const LONG_CHARACTERS = 512;

/** Collects text for a stream. */
export class OutputBuffer {
  readonly #stream: Writable;
  #chunk: Chunk = { bytes: Buffer.alloc(0), leaving: 0 };
  readonly #spare: Chunk[] = [];
  readonly #isSocket: boolean;
  /** What waits in the chunk: from `#start` to `#end`. */
  #start = 0;
  #end = 0;
  #full = false;
  /** The last long text in the chunk, and where it lies: results hold their text twice. */
  #long = { text: "", start: 0, end: 0 };

  constructor(stream: Writable) {
    this.#stream = stream;
    this.#isSocket = stream instanceof Socket;
  }

  /** Adds `text`; whole chunks leave at once. */
  add(text: string): void {
    const bytesMax = text.length * BYTES_PER_CODE_UNIT;
    if (bytesMax > this.#chunk.bytes.byteLength - this.#end) {
      this.flush();
      if (bytesMax > CHUNK_BYTES) {
        if (!this.#stream.write(Buffer.from(text))) this.#full = true;
        return;
      }
      this.#begin();
    }
    this.#end += text.length < LONG_CHARACTERS ? this.#chunk.bytes.write(text, this.#end) : this.#addLong(text);
  }

  /** Goes on with an empty chunk: one that has left, or a new one. */
  #begin(): void {
    const filled = this.#chunk;
    this.#chunk = this.#spare.pop() ?? { bytes: Buffer.allocUnsafeSlow(CHUNK_BYTES), leaving: 0 };
    this.#keep(filled);
    this.#start = 0;
    this.#end = 0;
    this.#long = { text: "", start: 0, end: 0 };
  }

  /** A chunk of which nothing is on its way any more can be filled again. */
  #keep(chunk: Chunk): void {
    const isFree = this.#isSocket && chunk.leaving === 0 && chunk !== this.#chunk && chunk.bytes.byteLength > 0;
    if (isFree && this.#spare.length < SPARE_CHUNKS_MAX) this.#spare.push(chunk);
  }

  /** Copying bytes is quicker than encoding the same text again. */
  #addLong(text: string): number {
    const { start, end } = this.#long;
    const { bytes } = this.#chunk;
    if (text === this.#long.text) return bytes.copy(bytes, this.#end, start, end);
    const written = bytes.write(text, this.#end);
    this.#long = { text, start: this.#end, end: this.#end + written };
    return written;
  }

  /** Hands everything to the stream; `false` when that asks to wait for its `drain`. */
  flush(): boolean {
    if (this.#end > this.#start) {
      const bytes = this.#chunk.bytes.subarray(this.#start, this.#end);
      this.#start = this.#end;
      this.#write(this.#chunk, bytes);
    }
    return !this.#full;
  }

  /** The stream has taken what it held back. */
  drained(): void {
    this.#full = false;
  }

  #write(chunk: Chunk, bytes: Buffer): void {
    chunk.leaving += 1;
    const hasLeft = () => {
      chunk.leaving -= 1;
      this.#keep(chunk);
    };
    if (!this.#stream.write(bytes, hasLeft)) this.#full = true;
  }
}

/** Room for answers, and how many writes of it are on their way. */
interface Chunk {
  readonly bytes: Buffer;
  leaving: number;
}
