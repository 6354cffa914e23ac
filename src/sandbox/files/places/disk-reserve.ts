/**
 * Keeps a part of each file system free of what agents write.
 *
 * Ledger, stores and the work of other people often lie there, too, and without room for them no call of anybody is
 * answered.
 */
import { statfsSync } from "node:fs";
import { MIB } from "../../../base/bytes.ts";

/** Bytes of a file system that are left free: as many as copies leave. */
const RESERVE_BYTES_MAX = 256 * MIB;
/** The part of a file system that is left where that is less: a small disk can still be used. */
const RESERVE_PART = 1 / 20;
/** A file system of fewer bytes has no reserve: no state fits on it, and the part would be less than one file. */
const RESERVED_FROM_BYTES = 16 * MIB;

/** A reserve that would not be left. */
export interface MissingReserve {
  /** Bytes that have to stay free. */
  readonly bytes: number;
  /** Its size in words, for messages. */
  readonly size: string;
  /** Bytes that are free now. */
  readonly freeBytes: number;
}

/**
 * The reserve, where less than that would be free.
 * @param directory on the file system
 * @param bytes that are to be taken there and are not taken yet
 */
export function missingReserve(directory: string, bytes: number): MissingReserve | undefined {
  const { bavail, bsize, blocks } = statfsSync(directory);
  const size = blocks * bsize;
  const reserve = Math.min(RESERVE_BYTES_MAX, size * RESERVE_PART);
  const freeBytes = bavail * bsize;
  if (size < RESERVED_FROM_BYTES || freeBytes - bytes >= reserve) return undefined;
  return { bytes: reserve, size: `${Math.ceil(reserve / MIB)} MiB`, freeBytes };
}
