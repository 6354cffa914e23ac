/**
 * Watches how much a workspace directory grows while a command writes there.
 *
 * This bounds all files together, which the limits of processes do not know. It looks a few times a second, and less
 * often the longer a look takes, so that a command may write somewhat more than the bound before it is noticed.
 *
 * INVARIANTS: no link is followed, and nothing is opened but directories. Each name counts as one block at least,
 * because names fill a disk as well.
 */
import { closeSync, constants, lstatSync } from "node:fs";
import { opendir } from "node:fs/promises";
import { setTimeout as wait } from "node:timers/promises";
import { KIB } from "../../../base/bytes.ts";
import { openBeneath } from "../../native/syscalls.ts";
import type { RootHandle } from "./roots.ts";

/**
 * Bytes that a name in a directory takes at least when it is counted what a command writes: a block of most file
 * systems.
 */
export const FILE_BLOCK_BYTES = 4 * KIB;
/** Milliseconds between two looks at how much a command has written … */
const SIZE_WATCH_MS = 200;
/** … or so many times as long as the last look took. */
const SIZE_WATCH_SHARE = 4;

/** A directory that is looked after. */
export interface SizeWatch {
  /** Looks once more, and ends. @returns whether the directory has grown by more than the bound */
  readonly end: () => Promise<boolean>;
}

/**
 * Looks after `directory` from now on.
 * @param onExceeded called once, when it is found to have grown by more than `bytesMax`
 */
export async function watchSize(
  handle: Pick<RootHandle, "descriptor">,
  directory: string,
  { bytesMax, onExceeded }: { readonly bytesMax: number; readonly onExceeded: () => void },
): Promise<SizeWatch> {
  const before = await sizeOf(handle, directory, Number.POSITIVE_INFINITY);
  const ending = new AbortController();
  let isExceeded = false;
  const look = async (): Promise<void> => {
    if (!isExceeded && (await sizeOf(handle, directory, before + bytesMax)) > before + bytesMax) {
      isExceeded = true;
      onExceeded();
    }
  };
  const looking = (async () => {
    let pauseMs = SIZE_WATCH_MS;
    while (!isExceeded && (await pause(pauseMs, ending.signal))) {
      const startedMs = performance.now();
      await look();
      pauseMs = Math.max(SIZE_WATCH_MS, SIZE_WATCH_SHARE * (performance.now() - startedMs));
    }
  })();
  looking.catch(() => undefined); // whoever ends it is told
  return {
    async end() {
      ending.abort();
      await looking;
      await look();
      return isExceeded;
    },
  };
}

async function pause(ms: number, signal: AbortSignal): Promise<boolean> {
  try {
    await wait(ms, undefined, { signal });
    return true;
  } catch (error) {
    if (signal.aborted) return false;
    throw error;
  }
}

/** Bytes of what lies below `directory`, or more than `enough` as soon as it is that; nothing when it is not there. */
export async function sizeOf(
  handle: Pick<RootHandle, "descriptor">,
  directory: string,
  enough: number,
): Promise<number> {
  let bytes = 0;
  const open = [directory];
  for (let next = open.pop(); next !== undefined && bytes <= enough; next = open.pop()) {
    const descriptor = openBeneath(
      handle.descriptor,
      next,
      constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW,
      "plain",
    );
    if (descriptor < 0) continue; // gone, or closed to whoever looks; what lies there was counted while it was open
    try {
      // read in pieces, so that a directory of any size holds up nothing else
      for await (const entry of await opendir(`/proc/self/fd/${descriptor}`)) {
        bytes += FILE_BLOCK_BYTES;
        if (bytes > enough) break;
        if (entry.isDirectory()) open.push(next === "." ? entry.name : `${next}/${entry.name}`);
        else if (entry.isFile()) bytes += beyondOneBlock(`/proc/self/fd/${descriptor}/${entry.name}`);
      }
    } finally {
      closeSync(descriptor);
    }
  }
  return bytes;
}

function beyondOneBlock(path: string): number {
  const size = lstatSync(path, { throwIfNoEntry: false })?.size ?? 0;
  return Math.max(0, Math.ceil(size / FILE_BLOCK_BYTES) - 1) * FILE_BLOCK_BYTES;
}
