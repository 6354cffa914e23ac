/**
 * How long work takes the thread without a pause, in a unit that grows with the machine's slowness.
 *
 * The thread's own processor time is counted, so that programs beside it do not; and because a processor that is shared
 * does less in a millisecond, it is told in turns of a fixed piece of work that is done right after the longest turn.
 */
import { setImmediate as nextTurn } from "node:timers/promises";

/** Strings that the piece of work puts in order: some ten milliseconds of a processor that does nothing else. */
const PIECE = Array.from({ length: 20_000 }, (_, index) => `${(index * 7919) % 20_011}-${index}`);

/** Does `work` beside a look at every turn. @returns what came of it, and its longest turn in pieces of work */
export async function watchedTurns<Result>(
  work: () => Promise<Result>,
): Promise<{ readonly result: Result; readonly pieces: number }> {
  let [isOver, pieces, pieceNowMs] = [false, 0, pieceMs()];
  const watching = (async () => {
    for (let last = threadMs(); !isOver; last = threadMs()) {
      await nextTurn();
      const turnMs = threadMs() - last;
      if (turnMs <= pieces * pieceNowMs) continue;
      // the longest so far: the machine may have become slower since the piece was measured
      const beforeMs = pieceNowMs;
      pieceNowMs = pieceMs();
      pieces = Math.max(pieces, turnMs / Math.max(beforeMs, pieceNowMs));
    }
  })();
  try {
    const result = await work();
    isOver = true;
    await watching;
    return { result, pieces };
  } finally {
    isOver = true;
  }
}

/** How long `work` takes this thread in all, in pieces of work. */
export function piecesOf(work: () => void): number {
  return inPieces(() => {
    const began = threadMs();
    work();
    return threadMs() - began;
  });
}

/** The longest of `steps`, in pieces of work. */
export function longestStep(steps: Iterator<unknown>): number {
  return inPieces(() => {
    let longestMs = 0;
    for (let isDone = false; !isDone; ) {
      const began = threadMs();
      isDone = steps.next().done === true;
      longestMs = Math.max(longestMs, threadMs() - began);
    }
    return longestMs;
  });
}

function inPieces(measuredMs: () => number): number {
  const before = pieceMs();
  const took = measuredMs();
  return took / Math.max(before, pieceMs());
}

/** Processor milliseconds of the piece, from several in a row: a machine may count a thread's time in large ticks. */
function pieceMs(): number {
  if (!isCompiled) PIECE.toSorted();
  isCompiled = true;
  const began = threadMs();
  for (let round = 0; round < ROUNDS; round += 1) PIECE.toSorted();
  return Math.max((threadMs() - began) / ROUNDS, LEAST_MS);
}

let isCompiled = false;

/** Pieces in a row: with ticks of four milliseconds, a measurement is right to a tenth. */
const ROUNDS = 6;

/** No machine takes less for a piece. */
const LEAST_MS = 1;

function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
