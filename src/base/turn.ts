/**
 * Turns of the event loop, and what this process wrote in them.
 *
 * What was asked once in a turn, of a database or a directory, need not be asked again for the requests of that turn:
 * they all arrived before the question. A request that follows from a later commit of another process arrives in a
 * later turn. Commits of this process end the turn at once, whichever connection made them.
 */

let current = 0;
let ending = false;

/** The number of this turn; it changes when the loop has handled what had arrived, and at `endTurn`. */
export function currentTurn(): number {
  if (!ending) {
    ending = true;
    // Runs after the events that had arrived; a process that has nothing else to do need not wait for it.
    setImmediate(() => {
      ending = false;
      current += 1;
    }).unref();
  }
  return current;
}

/** Says that this process committed something: what was asked before is out of date. */
export function endTurn(): void {
  current += 1;
}
