/** BLAKE3-256, the digest of content, evidence and policy. */
import { Blake3Hasher, blake3 } from "@napi-rs/blake-hash";
import { equalInConstantTime } from "./bytes.ts";
import { assert } from "./errors.ts";

const KEY_BYTES = 32;

/** BLAKE3-256 of `bytes`: 32 bytes. */
export function blake3Digest(bytes: Uint8Array | string): Uint8Array {
  return blake3(bytes);
}

/** BLAKE3-256 of `bytes` as 64 hexadecimal digits. */
export function blake3Hex(bytes: Uint8Array | string): string {
  return blake3(bytes).toString("hex");
}

/**
 * BLAKE3-256 of `salt` followed by `bytes`. With a secret or discarded random salt it hides what it digests; one call of
 * the library costs a third of keying a hasher.
 */
export function blake3Salted(salt: Uint8Array, bytes: Uint8Array): Uint8Array {
  return blake3(Buffer.concat([salt, bytes]));
}

/** The hasher of the key that was used last: making one takes several times as long as hashing a short text. */
let keyed: { readonly key: Uint8Array; readonly hasher: Blake3Hasher } | undefined;

/** BLAKE3-256 keyed with 32 bytes: a digest that cannot be recomputed from a guess without the key. */
export function blake3Keyed(key: Uint8Array, bytes: Uint8Array | string): Uint8Array {
  assert(key.byteLength === KEY_BYTES, "a key of BLAKE3 has 32 bytes"); // the library ends the process otherwise
  if (keyed === undefined || !equalInConstantTime(keyed.key, key)) {
    keyed = { key: Uint8Array.from(key), hasher: Blake3Hasher.newKeyed(Buffer.from(key)) };
  }
  const { hasher } = keyed;
  try {
    return hasher.update(bytes).digestBuffer();
  } finally {
    hasher.reset(); // back to the key alone
  }
}

/** A BLAKE3-256 of bytes that come in pieces. */
export interface StreamingHash {
  readonly update: (bytes: Uint8Array) => void;
  /** 64 hexadecimal digits of everything so far. */
  readonly hex: () => string;
}

/** A hash of nothing yet. */
export function streamingHash(): StreamingHash {
  const hasher = new Blake3Hasher();
  return { update: (bytes) => void hasher.update(bytes), hex: () => hasher.digest("hex") };
}
