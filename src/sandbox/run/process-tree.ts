/**
 * Ends everything that runs in a sandbox: first asks, then kills.
 *
 * INVARIANT: killing the first process of a process namespace ends all that are in it, whatever they ignore or have
 * become; the machine's kernel does that. Numbers of processes are used only while the program that started them is
 * known to live, so that none is reused meanwhile.
 */
import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";

import type { RunProcesses } from "./launch.ts";

/**
 * Milliseconds within which the last process of a sandbox is gone after its command has ended: what does not react any
 * more waits for a disk.
 */
export const SANDBOX_END_MS = 5_000;

/** Asks the command to end. */
export function terminate({ innerId }: RunProcesses): void {
  for (const id of innerId === undefined ? [] : childrenOf(innerId)) signal(id, "SIGTERM");
}

/** Kills everything. */
export function kill(processes: RunProcesses): void {
  killFirst(processes);
  signal(processes.outerId, "SIGKILL");
}

/** Kills everything but the program that started it, which ends by itself. */
export function killFirst({ innerId }: Pick<RunProcesses, "innerId">): void {
  if (innerId !== undefined) signal(innerId, "SIGKILL");
}

/** The processes that a process has started and that still are. */
export function childrenOf(id: number): readonly number[] {
  try {
    return readFileSync(`/proc/${id}/task/${id}/children`, "latin1").trim().split(" ").filter(Boolean).map(Number);
  } catch {
    return []; // it is gone, and they with it
  }
}

/** What the machine says of a process. */
export interface ProcessState {
  readonly hasEnded: boolean;
  readonly parentId: number;
  /** When it began, by which it is told from a later one of the same number. */
  readonly beginning: string;
}

/** The state of a process; `undefined` when it is gone. One that has ended stays until it is collected. */
export function processState(id: number): ProcessState | undefined {
  try {
    // behind the name, which may hold anything, come the state, the parent and 17 other fields before the time
    const [state = "", parent, ...rest] = readFileSync(`/proc/${id}/stat`, "latin1")
      .replace(/^.*\) /s, "")
      .split(" ");
    return { hasEnded: state === "Z" || state === "X", parentId: Number(parent), beginning: rest[17] ?? "" };
  } catch {
    return undefined;
  }
}

/** When a process began; `undefined` when it has ended. */
export function beginningOf(id: number): string | undefined {
  const found = processState(id);
  return found?.hasEnded === false ? found.beginning : undefined;
}

/**
 * Resolves once nothing is left of a namespace but its first process, which began then and is about to end. Whoever has
 * lost its parent is a child of that one, and it ends after all others.
 * @returns false when something is left after some seconds
 */
export async function isAlone(id: number, beginning: string): Promise<boolean> {
  const late = performance.now() + SANDBOX_END_MS;
  for (let looks = 0; childrenOf(id).length > 0 && beginningOf(id) === beginning; looks += 1) {
    if (performance.now() > late) return false;
    // mostly it is a matter of microseconds
    await (looks < LOOKS_AT_ONCE ? new Promise((resolve) => setImmediate(resolve)) : pause(1));
  }
  return true;
}

const LOOKS_AT_ONCE = 50;

/** Sends a signal to a process that may have ended. */
export function signal(id: number, name: "SIGTERM" | "SIGKILL"): void {
  try {
    process.kill(id, name);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}
