/**
 * BLAKE3-256, the digest of content, evidence and policy.
 *
 * The library's hashers are used again, and asked for text: what it makes anew for each digest, a hasher or a buffer of
 * its own memory, costs several times the digest, and most of that later, when it is collected. What stands in one
 * piece is hashed by one call, without a hasher.
 */
import { Blake3Hasher, blake3UrlSafeBase64 } from "@napi-rs/blake-hash";
import { equalInConstantTime } from "./bytes.ts";
import { assert } from "./errors.ts";

const KEY_BYTES = 32;

/** Hashes what is there at once; nobody else sees it half way. */
const hasher = new Blake3Hasher();

/** BLAKE3-256 of `bytes`: 32 bytes. */
export function blake3Digest(bytes: Uint8Array | string): Uint8Array {
  return Buffer.from(blake3UrlSafeBase64(bytes), "base64url");
}

/** BLAKE3-256 of `bytes` as 64 hexadecimal digits. */
export function blake3Hex(bytes: Uint8Array | string): string {
  hasher.reset();
  return hasher.update(bytes).digest("hex");
}

/** Bytes up to which putting them behind their salt costs less than a hasher. */
const JOINED_BYTES_MAX = 4096;
const joined = Buffer.allocUnsafeSlow(JOINED_BYTES_MAX);

/** BLAKE3-256 of `salt` followed by `bytes`. With a secret or discarded random salt it hides what it digests. */
export function blake3Salted(salt: Uint8Array, bytes: Uint8Array): Uint8Array {
  const length = salt.byteLength + bytes.byteLength;
  if (length > JOINED_BYTES_MAX) {
    hasher.reset();
    return Buffer.from(hasher.update(salt).update(bytes).digest("hex"), "hex");
  }
  joined.set(salt);
  joined.set(bytes, salt.byteLength);
  const digest = blake3Digest(joined.subarray(0, length));
  joined.fill(0, 0, salt.byteLength); // a secret lies in no memory longer than it must
  return digest;
}

/** The hasher of the key that was used last. */
let keyed: { readonly key: Uint8Array; readonly hasher: Blake3Hasher } | undefined;

/** BLAKE3-256 keyed with 32 bytes: a digest that cannot be recomputed from a guess without the key. */
export function blake3Keyed(key: Uint8Array, bytes: Uint8Array | string): Uint8Array {
  return Buffer.from(blake3KeyedHex(key, bytes), "hex");
}

/** The same as 64 hexadecimal digits. */
export function blake3KeyedHex(key: Uint8Array, bytes: Uint8Array | string): string {
  assert(key.byteLength === KEY_BYTES, "a key of BLAKE3 has 32 bytes"); // the library ends the process otherwise
  if (keyed === undefined || !equalInConstantTime(keyed.key, key)) {
    keyed = { key: Uint8Array.from(key), hasher: Blake3Hasher.newKeyed(Buffer.from(key)) };
  }
  keyed.hasher.reset(); // back to the key alone
  return keyed.hasher.update(bytes).digest("hex");
}

/** A BLAKE3-256 of bytes that come in pieces. */
export interface StreamingHash {
  readonly update: (bytes: Uint8Array) => void;
  /** 64 hexadecimal digits of everything so far. */
  readonly hex: () => string;
}

/** A hash of nothing yet. */
export function streamingHash(): StreamingHash {
  const streaming = new Blake3Hasher();
  return { update: (bytes) => void streaming.update(bytes), hex: () => streaming.digest("hex") };
}
