/** Tells files apart. */
import type { BigIntStats } from "node:fs";

/** Tells one file from another one that was given its number later. */
export function identityOf({ ino, birthtimeNs }: Pick<BigIntStats, "ino" | "birthtimeNs">): string {
  return `${ino} ${birthtimeNs}`;
}
