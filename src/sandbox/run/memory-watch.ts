/**
 * Watches the total memory of all processes of a run while it runs.
 *
 * It is for machines on which no control group counts that memory. It samples and is no wall: between two looks a run
 * can take what the machine gives it in that time. Memory that no process has mapped is not seen, such as files in
 * memory that have no name, segments that nobody is attached to, and what waits in pipes.
 *
 * INVARIANT: what cannot be told apart is counted more than once, never less.
 */
import { readdirSync, readFileSync, statfsSync } from "node:fs";
import { setImmediate as nextTurn, setTimeout as wait } from "node:timers/promises";

/** Milliseconds between two looks at what a command uses of memory, where no control group counts it. */
const MEMORY_LOOK_MS = 100;
/** How much longer than a look the time to the next one is at least. */
const MEMORY_LOOK_SHARE = 8;

/** A watch that goes on until it is ended. */
export interface MemoryWatch {
  readonly end: () => void;
}

/** What is looked at: a namespace by its first process, or what some processes use. */
export type Watched = { readonly innerId: number } | { readonly processes: () => readonly number[] };

/**
 * Looks until it is ended.
 * @param bytesMax of all its processes and its private directories together
 * @param exceeded called once, when there is more
 */
export function watchMemory(watched: Watched, bytesMax: number, exceeded: () => void): MemoryWatch {
  const ending = new AbortController();
  const looking = async (): Promise<void> => {
    for (let pauseMs = MEMORY_LOOK_MS; await isTime(pauseMs, ending.signal); ) {
      const startedMs = performance.now();
      if (await memoryExceeds(watched, bytesMax)) {
        if (!ending.signal.aborted) exceeded();
        return;
      }
      // whoever makes looking slow does not get the kernel to do nothing else
      pauseMs = Math.max(MEMORY_LOOK_MS, (performance.now() - startedMs) * MEMORY_LOOK_SHARE);
    }
  };
  void looking();
  return { end: () => ending.abort() };
}

async function isTime(ms: number, signal: AbortSignal): Promise<boolean> {
  try {
    await wait(ms, undefined, { signal });
    return true;
  } catch (error) {
    if (signal.aborted) return false;
    throw error;
  }
}

/** Whether there is more than `bytesMax`. */
async function memoryExceeds(watched: Watched, bytesMax: number): Promise<boolean> {
  const { processes, directories } = "processes" in watched ? outside(watched.processes()) : placesOf(watched.innerId);
  const kept = directories.reduce((sum, path) => sum + usedBelow(path), 0);
  if (kept + processes.reduce((sum, process) => sum + ownBytes(process), 0) <= bytesMax) return false;
  // What a process shares with the one it came from was counted for both; to tell them apart takes longer, the more
  // pages it has, so that others have their turn after each process.
  let sum = kept;
  for (const process of processes) {
    sum += sharedOutBytes(process);
    if (sum > bytesMax) return true;
    await nextTurn();
  }
  return false;
}

/** Where the machine says what processes use, and directories of the run that lie in memory. */
interface Places {
  readonly processes: readonly string[];
  readonly directories: readonly string[];
}

function outside(processes: readonly number[]): Places {
  return { processes: processes.map((id) => `/proc/${id}`), directories: [] };
}

function placesOf(innerId: number): Places {
  const root = `/proc/${innerId}/root`;
  try {
    // the run's own list of processes, which nothing inside can change
    const processes = readdirSync(`${root}/proc`).filter((name) => /^\d+$/.test(name));
    return { processes: processes.map((id) => `${root}/proc/${id}`), directories: [`${root}/tmp`, `${root}/dev/shm`] };
  } catch {
    // It is gone, or the machine does not let this process look inside: then they are found one by the other.
    return outside(descendants(innerId));
  }
}

/** The process and all that come of it. Each thread has its own list of those it started. */
function descendants(id: number): readonly number[] {
  const found = [id];
  for (let at = 0; at < found.length; at += 1) {
    const tasks = `/proc/${found[at]}/task`;
    for (const task of orGone(() => readdirSync(tasks)) ?? []) {
      const children = orGone(() => readFileSync(`${tasks}/${task}/children`, "latin1")) ?? "";
      found.push(...children.trim().split(" ").filter(Boolean).map(Number));
    }
  }
  return found;
}

/**
 * What it has made, shares with others of the run or has had swapped out, and the tables of its pages; not what it
 * reads of files, which the machine can read again.
 */
function ownBytes(process: string): number {
  return (
    kibibytesIn(
      orGone(() => readFileSync(`${process}/status`, "latin1")),
      /^(?:RssAnon|RssShmem|VmSwap|VmPTE):\s*(\d+) kB$/gm,
    ) * 1024
  );
}

/** The same, each part divided by those who share it; where that is not said, undivided. */
function sharedOutBytes(process: string): number {
  const text = orGone(() => readFileSync(`${process}/smaps_rollup`, "latin1"));
  return text?.includes("Pss_Anon:")
    ? kibibytesIn(text, /^(?:Pss_Anon|Pss_Shmem|SwapPss):\s*(\d+) kB$/gm) * 1024 + tableBytes(process)
    : ownBytes(process);
}

/** The tables of its pages, which a process that maps the same file many times has more of than of memory. */
function tableBytes(process: string): number {
  return (
    kibibytesIn(
      orGone(() => readFileSync(`${process}/status`, "latin1")),
      /^VmPTE:\s*(\d+) kB$/gm,
    ) * 1024
  );
}

function kibibytesIn(text: string | undefined, lines: RegExp): number {
  let sum = 0;
  for (const [, count] of text?.matchAll(lines) ?? []) sum += Number(count);
  return sum;
}

/** What a file in memory takes of the machine's kernel beside its content: what it is and its name. */
const FILE_BYTES = 1024;

function usedBelow(path: string): number {
  const { blocks = 0, bfree = 0, bsize = 0, files = 0, ffree = 0 } = orGone(() => statfsSync(path)) ?? {};
  return (blocks - bfree) * bsize + (files - ffree) * FILE_BYTES;
}

/** Processes end while they are looked at. */
function orGone<Result>(look: () => Result): Result | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
