/** The processes of a run that nothing contains: those of its session, and those that carry its mark. */
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { SANDBOX_END_MS, signal } from "../run/process-tree.ts";

/** Name of the variable that carries the mark. */
export const MARK = "HANDRAIL_RUN";

/** Asks all processes of the run to end. */
export function terminateSession(session: number, mark: string): void {
  for (const id of processesOf(session, mark)) signal(id, "SIGTERM");
}

/**
 * Kills them, and those that they start meanwhile.
 * @returns false when some are left after some seconds
 */
export async function endMarked(session: number, mark: string): Promise<boolean> {
  const late = performance.now() + SANDBOX_END_MS;
  for (;;) {
    const left = processesOf(session, mark);
    if (left.length === 0) return true;
    if (performance.now() > late) return false;
    for (const id of left) signal(id, "SIGKILL");
    await pause(1);
  }
}

/** Their numbers. */
export function processesOf(session: number, mark: string): readonly number[] {
  return readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const [state, , , of] = readFileSync(`/proc/${name}/stat`, "latin1")
        .replace(/^.*\) /s, "")
        .split(" ");
      if (state === "Z" || state === "X") return [];
      const isMarked =
        Number(of) === session ||
        readFileSync(`/proc/${name}/environ`, "latin1").split("\0").includes(`${MARK}=${mark}`);
      return isMarked ? [Number(name)] : [];
    } catch {
      return []; // it has ended meanwhile, or is another user's
    }
  });
}
