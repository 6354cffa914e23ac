/**
 * Encodes a success in one go as the bytes of a `ToolResponse`.
 *
 * The general encoder walks a message of many fields, and successes are what a busy kernel answers.
 *
 * INVARIANT: the bytes are those that the general encoder writes for the same message: fields in the order of their
 * tags, absent where they hold their default.
 */
import { KernelError } from "../base/errors.ts";

/** The fields of a success, as `ToolSuccess` names them. */
export interface SuccessFields {
  readonly resultHash?: Uint8Array;
  readonly inlineResult?: Uint8Array;
  readonly budgetConsumed: bigint;
  readonly durationMs: bigint;
  readonly label: {
    readonly trustLevel: string;
    readonly dataClass: string;
    readonly origin: string;
    readonly timestamp: string;
  };
  readonly truncated: boolean;
}

/** Keys of fields that are bytes, text or messages: tag * 8 + 2; of numbers: tag * 8. */
const RESPONSE = { requestId: 10, success: 18 } as const;
const SUCCESS = {
  resultHash: 10,
  inlineResult: 18,
  budgetConsumed: 24,
  durationMs: 32,
  label: 802,
  truncated: 808,
} as const;
const LABEL = { trustLevel: 10, dataClass: 18, origin: 26, timestamp: 34 } as const;

/** The bytes of the response. @throws KernelError USAGE for text that is not Unicode */
export function successBytes(requestId: string, success: SuccessFields): Uint8Array {
  const { resultHash, inlineResult, budgetConsumed, durationMs, label, truncated } = success;
  const consumed = Number(BigInt.asUintN(53, budgetConsumed));
  const duration = Number(BigInt.asUintN(53, durationMs));
  const labelSize =
    textSize(LABEL.trustLevel, label.trustLevel) +
    textSize(LABEL.dataClass, label.dataClass) +
    textSize(LABEL.origin, label.origin) +
    textSize(LABEL.timestamp, label.timestamp);
  const size =
    bytesSize(SUCCESS.resultHash, resultHash?.byteLength ?? 0) +
    bytesSize(SUCCESS.inlineResult, inlineResult?.byteLength ?? 0) +
    (consumed === 0 ? 0 : 1 + varintSize(consumed)) +
    (duration === 0 ? 0 : 1 + varintSize(duration)) +
    messageSize(SUCCESS.label, labelSize) +
    (truncated ? 3 : 0);
  const into = new Filled(textSize(RESPONSE.requestId, requestId) + messageSize(RESPONSE.success, size));
  into.text(RESPONSE.requestId, requestId);
  into.head(RESPONSE.success, size);
  into.bytes(SUCCESS.resultHash, resultHash);
  into.bytes(SUCCESS.inlineResult, inlineResult);
  if (consumed > 0) into.head(SUCCESS.budgetConsumed, consumed);
  if (duration > 0) into.head(SUCCESS.durationMs, duration);
  into.head(SUCCESS.label, labelSize);
  into.text(LABEL.trustLevel, label.trustLevel);
  into.text(LABEL.dataClass, label.dataClass);
  into.text(LABEL.origin, label.origin);
  into.text(LABEL.timestamp, label.timestamp);
  if (truncated) into.head(SUCCESS.truncated, 1);
  return into.buffer;
}

function varintSize(value: number): number {
  let size = 1;
  for (let rest = value; rest > 127; rest = Math.floor(rest / 128)) size += 1;
  return size;
}

function messageSize(key: number, length: number): number {
  return varintSize(key) + varintSize(length) + length;
}

function bytesSize(key: number, length: number): number {
  return length === 0 ? 0 : messageSize(key, length);
}

function textSize(key: number, text: string): number {
  if (!text.isWellFormed())
    throw new KernelError("USAGE", "the `ToolResponse` holds half of a surrogate pair; send whole characters");
  return bytesSize(key, Buffer.byteLength(text));
}

/** Bytes that are filled from front to back. */
class Filled {
  readonly buffer: Buffer;
  #at = 0;

  constructor(size: number) {
    this.buffer = Buffer.allocUnsafeSlow(size); // every byte is written below
  }

  /** A field's key and its number or length. */
  head(key: number, value: number): void {
    this.#varint(key);
    this.#varint(value);
  }

  text(key: number, text: string): void {
    if (text === "") return;
    this.head(key, Buffer.byteLength(text));
    this.#at += this.buffer.write(text, this.#at);
  }

  bytes(key: number, bytes: Uint8Array | undefined): void {
    if (bytes === undefined || bytes.byteLength === 0) return;
    this.head(key, bytes.byteLength);
    this.buffer.set(bytes, this.#at);
    this.#at += bytes.byteLength;
  }

  #varint(value: number): void {
    let rest = value;
    for (; rest > 127; rest = Math.floor(rest / 128)) this.buffer[this.#at++] = (rest % 128) + 128;
    this.buffer[this.#at++] = rest;
  }
}
