/**
 * Length-delimited frames: a varint with the number of bytes, then the bytes.
 *
 * The reader is pure and incremental: bytes go in as they come, whole frames come out. INVARIANT: a length is checked
 * before anything is allocated for it, and memory grows with the bytes that arrived, never with the length a peer
 * declared. A length has one encoding only; a longer one of the same number is refused.
 */
import { FRAME_BYTES_MAX } from "../base/limits.ts";
import { WireError } from "./wire-error.ts";

/** Bytes of the longest length prefix: 2^35, far above any limit. */
const PREFIX_BYTES_MAX = 5;
/** First allocation for a frame that came in parts. */
const FIRST_ALLOCATION_BYTES = 64 * 1024;

/** Takes frames out of a stream of bytes. After it threw once it throws always: the stream has lost its place. */
export class FrameReader {
  readonly #frameBytesMax: number;
  /** Bytes that were not looked at yet: `#chunks` from the offset into the first. */
  readonly #chunks: Uint8Array[] = [];
  #offset = 0;
  #prefixBytes = 0;
  #length = 0;
  /** The frame in the making; bytes before `#filled` have arrived. */
  #partial: Uint8Array | undefined;
  #filled = 0;
  /** Bytes of the whole frame in the making. */
  #target = 0;
  #failure: WireError | undefined;

  /** @param frameBytesMax bytes of the longest frame that is taken */
  constructor(frameBytesMax: number = FRAME_BYTES_MAX) {
    this.#frameBytesMax = frameBytesMax;
  }

  /** Whether a frame has begun that is not complete. */
  get midFrame(): boolean {
    return this.#prefixBytes > 0 || this.#partial !== undefined || this.#chunks.length > 0;
  }

  /** Bytes held for the frame in the making. */
  get heldBytes(): number {
    return this.#partial?.byteLength ?? 0;
  }

  /** Takes the next bytes of the stream; they must not be changed afterwards. */
  push(bytes: Uint8Array): void {
    if (bytes.byteLength > 0) this.#chunks.push(bytes);
  }

  /**
   * The next whole frame, or `undefined` when more bytes are needed.
   * @throws WireError for a frame over the limit or a length prefix that is not in its shortest form
   */
  next(): Uint8Array | undefined {
    if (this.#failure !== undefined) throw this.#failure;
    for (let chunk = this.#chunks[0]; chunk !== undefined; chunk = this.#chunks[0]) {
      const frame = this.#partial === undefined ? this.#begin(chunk) : this.#fill(this.#partial, chunk);
      if (this.#offset === chunk.byteLength) {
        this.#chunks.shift();
        this.#offset = 0;
      }
      if (frame !== undefined) return frame;
    }
    return undefined;
  }

  /** Reads the length; then the frame is taken whole out of `chunk`, or begun. */
  #begin(chunk: Uint8Array): Uint8Array | undefined {
    if (!this.#readPrefix(chunk)) return undefined;
    const length = this.#length;
    this.#length = 0;
    this.#prefixBytes = 0;
    const available = chunk.byteLength - this.#offset;
    if (available >= length) {
      this.#offset += length;
      return chunk.subarray(this.#offset - length, this.#offset);
    }
    this.#partial = Buffer.allocUnsafe(Math.min(length, Math.max(FIRST_ALLOCATION_BYTES, 2 * available)));
    this.#filled = 0;
    this.#target = length;
    return this.#fill(this.#partial, chunk);
  }

  /** Whether the prefix is complete. */
  #readPrefix(chunk: Uint8Array): boolean {
    while (this.#offset < chunk.byteLength) {
      const byte = chunk[this.#offset] ?? 0;
      this.#offset += 1;
      this.#length += (byte & 0x7f) * 128 ** this.#prefixBytes;
      this.#prefixBytes += 1;
      if (byte < 0x80) {
        if (byte === 0 && this.#prefixBytes > 1)
          throw this.#fail("the length of a frame is written longer than it need be");
        if (this.#length > this.#frameBytesMax) throw this.#overLimit();
        return true;
      }
      if (this.#prefixBytes === PREFIX_BYTES_MAX) throw this.#overLimit();
    }
    return false;
  }

  #fill(partial: Uint8Array, chunk: Uint8Array): Uint8Array | undefined {
    const count = Math.min(chunk.byteLength - this.#offset, this.#target - this.#filled);
    const buffer = this.#grown(partial, this.#filled + count);
    buffer.set(chunk.subarray(this.#offset, this.#offset + count), this.#filled);
    this.#offset += count;
    this.#filled += count;
    const complete = this.#filled === this.#target;
    this.#partial = complete ? undefined : buffer;
    return complete ? buffer : undefined;
  }

  /** `partial` or a larger copy that holds `needed` bytes: at most twice what arrived, never more than the frame. */
  #grown(partial: Uint8Array, needed: number): Uint8Array {
    if (needed <= partial.byteLength) return partial;
    const larger = Buffer.allocUnsafe(Math.min(this.#target, 2 * needed));
    larger.set(partial.subarray(0, this.#filled));
    return larger;
  }

  #overLimit(): WireError {
    return this.#fail(
      `a frame is larger than ${this.#frameBytesMax} bytes; store large content first and name it by hash`,
    );
  }

  #fail(message: string): WireError {
    this.#failure = new WireError(message);
    return this.#failure;
  }
}

/** `bytes` as one frame. */
export function frame(bytes: Uint8Array): Uint8Array {
  const framed = Buffer.allocUnsafe(frameSize(bytes.byteLength));
  writeFrame(framed, 0, bytes);
  return framed;
}

/** Bytes of a frame around `length` bytes. */
export function frameSize(length: number): number {
  let size = length + 1;
  for (let rest = Math.floor(length / 128); rest > 0; rest = Math.floor(rest / 128)) size += 1;
  return size;
}

/** Writes `bytes` as a frame into `target` at `offset`; the offset after it. */
export function writeFrame(target: Uint8Array, offset: number, bytes: Uint8Array): number {
  let at = offset;
  let rest = bytes.byteLength;
  while (rest > 0x7f) {
    target[at] = (rest % 128) + 128;
    rest = Math.floor(rest / 128);
    at += 1;
  }
  target[at] = rest;
  target.set(bytes, at + 1);
  return at + 1 + bytes.byteLength;
}
