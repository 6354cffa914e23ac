/**
 * Ends everything that runs in a sandbox: first asks, then kills.
 *
 * INVARIANT: killing the first process of a process namespace ends all that are in it, whatever they ignore or have become; the machine's kernel
 * does that. Numbers of processes are used only while their bwrap is known to live, so that none is reused meanwhile.
 */
import { readFileSync } from "node:fs";

/** The processes of a run as the machine numbers them. */
export interface SandboxProcesses {
  /** bwrap itself. */
  readonly outerId: number;
  /** The first process of the namespace, once it is there. */
  readonly innerId: number | undefined;
}

/** Asks the command to end. */
export function terminate({ innerId }: SandboxProcesses): void {
  for (const id of innerId === undefined ? [] : childrenOf(innerId)) signal(id, "SIGTERM");
}

/** Kills everything. */
export function kill({ outerId, innerId }: SandboxProcesses): void {
  if (innerId !== undefined) signal(innerId, "SIGKILL");
  signal(outerId, "SIGKILL");
}

/** The processes that a process has started and that still are. */
export function childrenOf(id: number): readonly number[] {
  try {
    return readFileSync(`/proc/${id}/task/${id}/children`, "latin1").trim().split(" ").filter(Boolean).map(Number);
  } catch {
    return []; // it is gone, and they with it
  }
}

function signal(id: number, name: "SIGTERM" | "SIGKILL"): void {
  try {
    process.kill(id, name);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}
