/** Long work of the kernel's one thread, done in slices between which everything else goes on. */
import { setImmediate as nextTurn } from "node:timers/promises";

import { asStep } from "../../base/long-steps.ts";

/** Milliseconds that looking at a workspace takes of the kernel's one thread before others have their turn. */
const SLICE_MS = 5;

/**
 * Does the work of `steps`, whose values mean nothing, to its end; `what` it is, for whoever finds that one step took
 * long.
 * @param signal ends it between two slices, by throwing its reason
 * @returns what came of it, and whether anything else can have gone on meanwhile
 */
export async function inSlices<Result>(
  what: string,
  steps: Generator<void, Result>,
  signal?: AbortSignal,
): Promise<{ readonly result: Result; readonly hasYielded: boolean }> {
  let hasYielded = false;
  let endsMs = performance.now() + SLICE_MS;
  for (;;) {
    const step = asStep(what, () => steps.next());
    if (step.done === true) return { result: step.value, hasYielded };
    if (performance.now() < endsMs) continue;
    await nextTurn();
    signal?.throwIfAborted();
    hasYielded = true;
    endsMs = performance.now() + SLICE_MS;
  }
}
