/**
 * The bytes of a body in one buffer that grows with what arrived.
 *
 * A peer chooses the pieces, and a piece of one byte costs some 400 bytes as an object of its own: so none is kept.
 * INVARIANT: what is accounted for is what is allocated, at most the bound and at most twice of what arrived beyond a
 * first kibibyte.
 */
import { Code, ConnectError } from "@connectrpc/connect";
import { malformed } from "./refusal.ts";

const FIRST_BYTES = 1024;

/** Accounts for a change of the request bytes that are held; whether all connections together may hold them. */
export type Hold = (changeBytes: number) => boolean;

/** A growing buffer. */
export class BodyBuffer {
  readonly #bytesMax: number;
  readonly #hold: Hold;
  #buffer = Buffer.alloc(0);
  #size = 0;

  constructor(bytesMax: number, hold: Hold) {
    this.#bytesMax = bytesMax;
    this.#hold = hold;
  }

  /** Bytes that arrived. */
  get size(): number {
    return this.#size;
  }

  /** What arrived. */
  get bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#size);
  }

  /** Copies a piece. @throws ConnectError `resource_exhausted` when it goes beyond a bound */
  add(piece: Uint8Array): void {
    const size = this.#size + piece.byteLength;
    if (size > this.#bytesMax) throw tooLarge(this.#bytesMax);
    if (size > this.#buffer.byteLength) this.#grow(size);
    this.#buffer.set(piece, this.#size);
    this.#size = size;
  }

  /** Lets go of the bytes, which somebody else may still look at, and begins anew. */
  release(): void {
    this.#hold(-this.#buffer.byteLength);
    this.#buffer = Buffer.alloc(0);
    this.#size = 0;
  }

  #grow(size: number): void {
    const capacity = Math.min(this.#bytesMax, Math.max(size, 2 * this.#buffer.byteLength, FIRST_BYTES));
    if (!this.#hold(capacity - this.#buffer.byteLength)) {
      throw new ConnectError("too many large requests are in flight; try again later", Code.ResourceExhausted);
    }
    // Not from Node's shared pool, of which a small buffer would keep a whole slab.
    const larger = Buffer.allocUnsafeSlow(capacity);
    larger.set(this.bytes);
    this.#buffer = larger;
  }
}

/** The error for a request over the limit. */
export function tooLarge(bytesMax: number): ConnectError {
  return malformed(`the request has more than ${bytesMax} bytes; send less`, Code.ResourceExhausted);
}
