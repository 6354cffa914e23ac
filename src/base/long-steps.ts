/**
 * Remembers the longest piece of work that this thread did without a pause, for whoever finds that the thread stood.
 *
 * Cheap enough for every call: two looks at the clock. Only work that can take long is named: planning mounts, a tool's
 * own code. INVARIANT: one for each thread, as each has its own modules.
 */

/** Milliseconds of work without a pause that is remembered, in case the thread stood for it. */
const LONG_STEP_MS = 100;

/** A piece of work, and how long it took. */
export interface LongStep {
  readonly what: string;
  readonly durationMs: number;
}

let longest: LongStep | undefined;

/**
 * Does `work`, and remembers it as `what` if it took long. Of a promise only what happens before its first wait counts.
 */
export function asStep<Result>(what: string, work: () => Result): Result {
  const startedMs = performance.now();
  try {
    return work();
  } finally {
    noteStep(what, performance.now() - startedMs);
  }
}

/** Remembers work that was timed by whoever did it. */
export function noteStep(what: string, durationMs: number): void {
  // Of two steps, one within the other, the inner one says more, unless most of the time was not its own.
  if (durationMs >= LONG_STEP_MS && durationMs > 2 * (longest?.durationMs ?? 0)) longest = { what, durationMs };
}

/** The longest step since it was asked last. */
export function takeLongestStep(): LongStep | undefined {
  const taken = longest;
  longest = undefined;
  return taken;
}
