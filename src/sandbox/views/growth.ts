/**
 * Watches what a run writes into its view, and ends it before that takes what others need of the disk.
 *
 * A run that has written more than a little is ended when less than the reserve of the disk is free; where half of that
 * is gone, too, every run whose view lies there is. It samples, like the watch of memory, and is no wall.
 *
 * INVARIANT: while the reserve is free, and below the bound of its own, no run is ended.
 */
import { closeSync, constants, openSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { MIB } from "../../base/bytes.ts";
import { FailureWithoutEffect } from "../../model/outcome/failure.ts";
import { missingReserve } from "../files/places/disk-reserve.ts";
import { FILE_BLOCK_BYTES, type SizeWatch, sizeOf, watchSize } from "../files/places/size-watch.ts";
import { O_PATH } from "../native/syscalls.ts";

/** Milliseconds between two looks at the disk: what a fast one takes meanwhile is less than the reserve. */
const DISK_LOOK_MS = 100;
/** Bytes that a run may hold of a disk without its reserve: it was somebody else who filled it. */
const LITTLE_BYTES = 16 * MIB;
/** The same of names: each counts as a block. */
const LITTLE_NAMES = 500;
/** The part of the reserve from which on it does not matter whose fault it is: deleted files are not seen. */
const EVERYBODY_PART = 1 / 2;

/** What a run wrote too much for: its own bound, or the disk on which its view lies. */
export type Outgrown = { readonly wroteTooMuch: true } | { readonly problem: FailureWithoutEffect };

/** A watch that goes on until it is ended. */
export interface GrowthWatch {
  /** Ends it. @returns what the run wrote too much for, if anything */
  readonly end: () => Promise<Outgrown | undefined>;
}

/**
 * Watches a directory of a view.
 * @param path of what the run writes into
 * @param bytesMax that it may write there; only the disk counts when absent
 * @param onOutgrown called once, when it is too much
 */
export async function watchGrowth(
  path: string,
  { bytesMax, onOutgrown }: { readonly bytesMax?: number | undefined; readonly onOutgrown: () => void },
): Promise<GrowthWatch> {
  const descriptor = openSync(path, O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  let size: SizeWatch | undefined;
  try {
    if (bytesMax !== undefined) size = await watchSize({ descriptor }, ".", { bytesMax, onExceeded: onOutgrown });
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
  const ending = new AbortController();
  const looking = diskFills(descriptor, ending.signal, onOutgrown);
  looking.catch(() => undefined); // whoever ends it is told
  let ended: Promise<Outgrown | undefined> | undefined;
  const end = async (): Promise<Outgrown | undefined> => {
    try {
      ending.abort();
      const isFull = await looking;
      if ((await size?.end()) === true) return { wroteTooMuch: true };
      return isFull ? { problem: diskOutgrown() } : undefined;
    } finally {
      closeSync(descriptor);
    }
  };
  return { end: () => (ended ??= end()) };
}

/** Looks until it is ended, or the run takes too much of the disk. */
async function diskFills(descriptor: number, signal: AbortSignal, onOutgrown: () => void): Promise<boolean> {
  const path = `/proc/self/fd/${descriptor}`;
  while (await isTime(signal)) {
    const missing = missingReserve(path, { bytes: 0 });
    if (missing === undefined) continue;
    const little = missing.isNames ? LITTLE_NAMES * FILE_BLOCK_BYTES : LITTLE_BYTES;
    if (missing.left >= EVERYBODY_PART && (await sizeOf({ descriptor }, ".", little)) <= little) continue;
    onOutgrown();
    return true;
  }
  return false;
}

async function isTime(signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return false;
  try {
    await wait(DISK_LOOK_MS, undefined, { signal, ref: false });
    return true;
  } catch (error) {
    if (signal.aborted) return false;
    throw error;
  }
}

/** The failure of a run that was ended for the disk on which its view lies. */
function diskOutgrown(): FailureWithoutEffect {
  return new FailureWithoutEffect(
    "DISK_FULL",
    "the command was ended: it wrote so much that too little was free on the disk of views; nothing it changed was kept",
    "let it write less, or below /tmp, which is the command's own, or free some space or ask a person to; then run it again",
  );
}
