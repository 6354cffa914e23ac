/**
 * Redaction of bytes that come in pieces: a secret that two pieces share is hidden like any other.
 *
 * INVARIANT: no byte leaves while it could still be part of a known secret; what is held back is shorter than the
 * longest of them.
 */
import { type KnownSecret, redactText } from "./redact.ts";

/** One stream of bytes on its way out. */
export class RedactingStream {
  readonly #secrets: readonly KnownSecret[];
  readonly #heldMax: number;
  #held = "";
  #findings = 0;

  /** How many occurrences were replaced so far. */
  get findings(): number {
    return this.#findings;
  }

  constructor(known: readonly KnownSecret[]) {
    // latin1 maps every byte to one code unit and back, so bytes that are not text survive.
    this.#secrets = known.map(({ rule, value }) => ({ rule, value: Buffer.from(value).toString("latin1") }));
    this.#heldMax = Math.max(0, ...this.#secrets.map(({ value }) => value.length - 1));
  }

  /** What may leave once `bytes` have come. */
  push(bytes: Uint8Array): Uint8Array {
    const text = this.#held + Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
    const { text: redacted, findings } = redactText(text, this.#secrets);
    this.#findings += findings;
    const cut = Math.max(0, redacted.length - this.#heldMax);
    this.#held = redacted.slice(cut);
    return Buffer.from(redacted.slice(0, cut), "latin1");
  }

  /** What was held back; the stream is over. */
  end(): Uint8Array {
    const rest = this.#held;
    this.#held = "";
    return Buffer.from(rest, "latin1");
  }
}
