/** Bytes: their units, strict UTF-8, hex, and comparison in constant time. */
import { timingSafeEqual } from "node:crypto";

/** Bytes of a kibibyte. */
export const KIB = 1024;
/** Bytes of a mebibyte. */
export const MIB = 1024 * KIB;
/** Bytes of a gibibyte. */
export const GIB = 1024 * MIB;

const strictUtf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const encoder = new TextEncoder();

/** UTF-8 bytes of `text`. */
export function utf8(text: string): Uint8Array {
  return encoder.encode(text);
}

/** Text of UTF-8 bytes, byte order mark kept, or `undefined` when the bytes are not valid UTF-8. */
export function textOf(bytes: Uint8Array): string | undefined {
  try {
    return strictUtf8.decode(bytes);
  } catch {
    return undefined;
  }
}

/** Lower-case hexadecimal form. */
export function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("hex");
}

/** Whether both are equal, in time that depends on the length alone. */
export function equalInConstantTime(left: Uint8Array, right: Uint8Array): boolean {
  return left.byteLength === right.byteLength && timingSafeEqual(left, right);
}
