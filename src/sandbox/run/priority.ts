/**
 * Lowers the priority of a command's processes, so that busy ones hold up neither the kernel nor people.
 *
 * It is for machines on which no control group shares out the processors. INVARIANT: it is done before the command
 * begins, and what the command starts is no better; without a right that commands lack nobody raises it again.
 */
import { constants, setPriority } from "node:os";
import { errorCode } from "../../base/errors.ts";

/** Gives `processes` the lowest priority there is. */
export function giveWay(processes: readonly number[]): void {
  for (const id of processes)
    try {
      setPriority(id, constants.priority.PRIORITY_LOW);
    } catch (error) {
      if (!isGone(error)) throw error;
    }
}

function isGone(error: unknown): boolean {
  const { info } = error as { readonly info?: { readonly code?: string } };
  return errorCode(error) === "ESRCH" || info?.code === "ESRCH";
}
