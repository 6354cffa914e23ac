/**
 * Looks for known secrets in bytes that come in pieces; a secret that several pieces share is found like any other.
 *
 * INVARIANT: what is kept between two pieces is shorter than the longest secret.
 */
import type { KnownSecret } from "./redact.ts";

/** The search through one stream of bytes. */
export class SecretScan {
  readonly #secrets: readonly Buffer[];
  readonly #keptMax: number;
  #kept: Buffer = Buffer.alloc(0);

  constructor(known: readonly KnownSecret[]) {
    this.#secrets = known.filter(({ value }) => value !== "").map(({ value }) => Buffer.from(value));
    this.#keptMax = Math.max(0, ...this.#secrets.map((secret) => secret.byteLength - 1));
  }

  /** Whether a secret ends in `bytes`, which follow those before. */
  finds(bytes: Uint8Array): boolean {
    const piece = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const border = Buffer.concat([this.#kept, piece.subarray(0, this.#keptMax)]);
    const rest = piece.byteLength >= this.#keptMax ? piece : Buffer.concat([this.#kept, piece]);
    this.#kept = Buffer.from(rest.subarray(Math.max(0, rest.byteLength - this.#keptMax)));
    return this.#secrets.some((secret) => border.includes(secret) || piece.includes(secret));
  }
}
