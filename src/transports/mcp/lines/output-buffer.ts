/**
 * What waits to be written to a stream: pieces of text, escaped and encoded as they come.
 *
 * Encoding piece by piece is what makes answers cheap: joined into one text first, every byte of them would be copied
 * several times. INVARIANT: the bytes leave in the order of the pieces, and what was handed to the stream is never written
 * over, because whoever reads behind it may keep it; but a socket that says that it is done has given it to the machine.
 */
import { Socket } from "node:net";
import type { Writable } from "node:stream";
import { escapedBytes, firstBlock } from "../../../base/json-escape.ts";
import type { Piece } from "../answers/print-result.ts";

/** Bytes after which what was collected leaves without waiting for the turn's end: the reader works meanwhile. */
const CHUNK_BYTES = 64 * 1024;
/** Chunks that are kept to be filled again: one is on its way while the next is filled. */
const SPARE_CHUNKS_MAX = 4;
/** Bytes that one UTF-16 code unit takes at most. */
const BYTES_PER_CODE_UNIT = 3;

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
  /** The text in the chunk that was escaped last, and where it lies: results hold their text twice. */
  #escaped = { text: "", start: 0, end: 0 };

  constructor(stream: Writable) {
    this.#stream = stream;
    this.#isSocket = stream instanceof Socket;
  }

  /** Adds a piece; whole chunks leave at once. */
  add(piece: Piece): void {
    if (typeof piece === "string") this.#addText(piece);
    else this.#addEscaped(piece.unescaped);
  }

  #addText(text: string): void {
    const bytesMax = text.length * BYTES_PER_CODE_UNIT;
    if (bytesMax > CHUNK_BYTES) {
      this.flush();
      if (!this.#stream.write(Buffer.from(text))) this.#full = true;
      return;
    }
    this.#makeRoom(bytesMax);
    this.#end += this.#chunk.bytes.write(text, this.#end);
  }

  #addEscaped(text: string): void {
    for (let rest = text; rest !== ""; ) {
      const block = firstBlock(rest);
      rest = rest.slice(block.length);
      this.#addBlock(block);
    }
  }

  #addBlock(block: string): void {
    if (block === this.#escaped.text) {
      const { start, end } = this.#escaped;
      if (end - start <= this.#chunk.bytes.byteLength - this.#end) {
        this.#end += this.#chunk.bytes.copy(this.#chunk.bytes, this.#end, start, end);
        return;
      }
    }
    const bytes = escapedBytes(block);
    this.#makeRoom(bytes.byteLength);
    this.#chunk.bytes.set(bytes, this.#end);
    this.#escaped = { text: block, start: this.#end, end: this.#end + bytes.byteLength };
    this.#end += bytes.byteLength;
  }

  /** Sees to it that the chunk takes `bytes` more, of which there are no more than a chunk has. */
  #makeRoom(bytes: number): void {
    if (bytes <= this.#chunk.bytes.byteLength - this.#end) return;
    this.flush();
    this.#begin();
  }

  /** Goes on with an empty chunk: one that has left, or a new one. */
  #begin(): void {
    const filled = this.#chunk;
    this.#chunk = this.#spare.pop() ?? { bytes: Buffer.allocUnsafeSlow(CHUNK_BYTES), leaving: 0 };
    this.#keep(filled);
    this.#start = 0;
    this.#end = 0;
    this.#escaped = { text: "", start: 0, end: 0 };
  }

  /** A chunk of which nothing is on its way any more can be filled again. */
  #keep(chunk: Chunk): void {
    const isFree = this.#isSocket && chunk.leaving === 0 && chunk !== this.#chunk && chunk.bytes.byteLength > 0;
    if (isFree && this.#spare.length < SPARE_CHUNKS_MAX) this.#spare.push(chunk);
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
