/** Identifiers: a short prefix that tells the kind, then 128 random bits. */
import { randomBytes, randomFillSync } from "node:crypto";

/** A source of random bytes; tests pass their own. */
export type RandomBytes = (count: number) => Uint8Array;

/**
 * Bytes fetched ahead for identifiers: asking the source costs far more than a few bytes of it, and each call needs
 * some.
 */
const POOL_BYTES = 2048;
/**
 * As many as an identifier has. More is for tokens and keys, which are fetched when they are made and lie nowhere
 * before.
 */
const POOLED_BYTES_MAX = 16;

const pool = new Uint8Array(POOL_BYTES);
let taken = POOL_BYTES;

/**
 * The machine's cryptographic random source. INVARIANT: no byte of it is given twice, and none is kept once it was
 * given.
 */
export const systemRandom: RandomBytes = (count) => {
  if (count > POOLED_BYTES_MAX) return randomBytes(count);
  if (taken + count > POOL_BYTES) {
    randomFillSync(pool);
    taken = 0;
  }
  const given = pool.slice(taken, taken + count);
  pool.fill(0, taken, taken + count);
  taken += count;
  return given;
};

const ID_PREFIXES = ["ses", "lea", "req", "ins", "cal", "bud", "bra", "und"] as const;

/** Kinds of identifier and the prefix that marks each. */
export type IdPrefix = (typeof ID_PREFIXES)[number];

const ID = new RegExp(`^(?:${ID_PREFIXES.join("|")})_[\\w-]{22}$`);

/** Whether a text is such an identifier, which names something and opens nothing. */
export function isId(text: string): boolean {
  return ID.test(text);
}

/** A new identifier such as `ses_3q2-7wX…`: prefix and 128 random bits in base64url. */
export function newId(prefix: IdPrefix, random: RandomBytes): string {
  return `${prefix}_${Buffer.from(random(16)).toString("base64url")}`;
}
