/** Identifiers: a short prefix that tells the kind, then 128 random bits. */
import { randomBytes } from "node:crypto";

/** A source of random bytes; tests pass their own. */
export type RandomBytes = (count: number) => Uint8Array;

/** The machine's cryptographic random source. */
export const systemRandom: RandomBytes = (count) => randomBytes(count);

/** Kinds of identifier and the prefix that marks each. */
export type IdPrefix = "ses" | "lea" | "req" | "ins" | "cal" | "bud";

/** A new identifier such as `ses_3q2-7wX…`: prefix and 128 random bits in base64url. */
export function newId(prefix: IdPrefix, random: RandomBytes): string {
  return `${prefix}_${Buffer.from(random(16)).toString("base64url")}`;
}
