/** Debounces changes of the operator's files: they are read once they stay as they are, because a copy takes time. */
import { setTimeout as wait } from "node:timers/promises";
import { KernelError } from "../../base/errors.ts";

/** Milliseconds that the files must stay as they are before they are read. */
const SETTLE_MS = 100;
/** Looks at files that keep changing. */
const SETTLE_LOOKS_MAX = 20;

/** The state of the files once they are quiet, or nothing while somebody keeps changing them. @param first as it was */
export async function quietState(state: () => Promise<string>, first: string): Promise<string | undefined> {
  let before = first;
  for (let looks = 0; looks < SETTLE_LOOKS_MAX; looks += 1) {
    await wait(SETTLE_MS);
    const now = await state();
    if (now === before) return now;
    before = now;
  }
  return undefined;
}

/** Why what the operator keeps, or the policies for its tools, are refused. @throws any other failure */
export function refusalOf(error: unknown): string {
  if (error instanceof KernelError && (error.code === "CONFIG_INVALID" || error.code === "POLICY_INVALID"))
    return error.message;
  throw error;
}
