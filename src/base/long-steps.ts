/**
 * Runs long work in slices, and remembers the longest piece that this thread did without a pause.
 *
 * Whoever finds that the thread stood asks for it. It is cheap enough for every call: two looks at the clock. Only work
 * that can take long is named: planning mounts, a tool's own code. INVARIANT: one for each thread, as each has its own
 * modules.
 */

import { setImmediate as nextTurn } from "node:timers/promises";

/** Milliseconds that one work takes of the thread before others have their turn. */
const SLICE_MS = 5;
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

/**
 * Lets others have their turn in work that is awaited step by step: each step alone may be over without a wait.
 * @returns called between two steps; whether anything else can have gone on meanwhile
 * @param signal ends the work at its next turn, by throwing its reason
 */
export function sharedTurns(signal?: AbortSignal): () => boolean | Promise<boolean> {
  let endsMs = performance.now() + SLICE_MS;
  const others = async () => {
    await nextTurn();
    signal?.throwIfAborted();
    endsMs = performance.now() + SLICE_MS;
    return true;
  };
  return () => performance.now() >= endsMs && others();
}

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
  const turn = sharedTurns(signal);
  for (;;) {
    const step = asStep(what, () => steps.next());
    if (step.done === true) return { result: step.value, hasYielded };
    const others = turn();
    if (others !== false) hasYielded = await others;
  }
}
