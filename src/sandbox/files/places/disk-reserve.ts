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
/** Names of a file system that are left free, where their number is fixed, as that of ext4 is. */
const RESERVE_NAMES_MAX = 20_000;
/** A file system of fewer bytes has no reserve: no state fits on it, and the part would be less than one file. */
const RESERVED_FROM_BYTES = 16 * MIB;

/** A reserve that would not be left. */
export interface MissingReserve {
  /** How much has to stay free, in words, for messages. */
  readonly size: string;
  /** Whether it is names that are missing, and no bytes. */
  readonly isNames: boolean;
  /** The part of the reserve that is free now, 1 for all of it. */
  readonly left: number;
}

/** What is to be taken of a file system and is not taken yet. */
export interface Taken {
  readonly bytes: number;
  readonly names?: number;
}

/**
 * The reserve, where less than that would be free.
 * @param directory on the file system
 */
export function missingReserve(directory: string, { bytes, names = 0 }: Taken): MissingReserve | undefined {
  const { bavail, bsize, blocks, files, ffree } = statfsSync(directory);
  const size = blocks * bsize;
  if (size < RESERVED_FROM_BYTES) return undefined;
  const reserve = Math.min(RESERVE_BYTES_MAX, size * RESERVE_PART);
  const freeBytes = bavail * bsize;
  if (freeBytes - bytes < reserve)
    return { size: `${Math.ceil(reserve / MIB)} MiB`, isNames: false, left: freeBytes / reserve };
  const reservedNames = Math.min(RESERVE_NAMES_MAX, files * RESERVE_PART);
  if (files === 0 || ffree - names >= reservedNames) return undefined;
  return { size: `${Math.ceil(reservedNames)} names of files`, isNames: true, left: ffree / reservedNames };
}
