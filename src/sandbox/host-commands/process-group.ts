/**
 * Ends a host command with everything that it started.
 *
 * The command leads a session of its own, which no terminal belongs to. What leaves both session and parents on
 * purpose, such as a service that an installation starts, is no part of the command any more. INVARIANT: only processes
 * that were seen below the command, and began when they were seen to, are signalled.
 */
import { assert } from "../../base/errors.ts";

import { beginningOf, childrenOf } from "../run/process-tree.ts";

/** Processes below a host command that are looked for when it is killed. */
const HOST_PROCESSES_MAX = 4096;

/** A process, and when it began: a later one of the same number is another one. */
interface Seen {
  readonly id: number;
  readonly beginning: string;
}

/** The processes of one command. */
export class ProcessGroup {
  readonly #leader: number;
  /** Those that were seen below it; a group of their own takes them out of the leader's. */
  readonly #seen = new Map<number, Seen>();

  /** @param leader a living child of the kernel that leads a session and a group */
  constructor(leader: number) {
    assert(leader > 1, "0 and 1 name more than a group when they are signalled");
    this.#leader = leader;
  }

  /** Signals everything. @returns false when something lives on that may not be signalled */
  signal(name: "SIGTERM" | "SIGKILL"): boolean {
    this.#look();
    let isAllowed = send(-this.#leader, name);
    for (const { id, beginning } of this.#seen.values()) {
      if (beginningOf(id) === beginning && !send(id, name)) isAllowed = false;
    }
    return isAllowed;
  }

  /** Who is below the command now; what was seen before stays known when its parent has ended. */
  #look(): void {
    const open = [this.#leader, ...this.#seen.keys()];
    const looked = new Set<number>();
    for (let next = open.pop(); next !== undefined && looked.size < HOST_PROCESSES_MAX; next = open.pop()) {
      if (looked.has(next)) continue;
      looked.add(next);
      const known = this.#seen.get(next);
      if (known !== undefined && beginningOf(next) !== known.beginning) continue;
      for (const id of childrenOf(next)) {
        const beginning = beginningOf(id);
        if (beginning !== undefined) this.#seen.set(id, { id, beginning });
        open.push(id);
      }
    }
  }
}

/** @returns false when the machine forbids it */
function send(id: number, name: "SIGTERM" | "SIGKILL"): boolean {
  try {
    process.kill(id, name);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ESRCH") return true;
    if (error instanceof Error && "code" in error && error.code === "EPERM") return false;
    throw error;
  }
}
