/** Bytes that no compression makes smaller, and that are the same in every run. */
import { createHash } from "node:crypto";

/** `length` such bytes. */
export function noise(length: number): Buffer {
  return createHash("shake256", { outputLength: length }).update("noise").digest();
}
