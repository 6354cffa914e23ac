/** Waits for conditions, with bounds that a machine which is busy with something else does not reach. */
import { setTimeout as pause } from "node:timers/promises";

/** Milliseconds that anything may take in a test before it counts as stuck: less than the time limit of a test. */
export const STUCK_MS = 240_000;

/** How long `vi.waitFor` waits for what comes within milliseconds on an idle machine. */
export const SOON = { timeout: 8000, interval: 10 };

/** Waits until `isSo`, a moment at a time; `false` when that does not come. */
export async function comesTrue(isSo: () => boolean): Promise<boolean> {
  // looked at once each time: what has come may be gone again at a second look
  for (const end = performance.now() + STUCK_MS; performance.now() < end; await pause(10)) if (isSo()) return true;
  return false;
}
