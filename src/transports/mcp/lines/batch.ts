/**
 * A batch of JSON-RPC messages (MCP 2025-03-26): its answers leave together, as one array in one line.
 *
 * INVARIANT: the line is written once, when the last of its requests is answered or cancelled; a batch that nothing has
 * to be answered to writes nothing.
 */

/** The answers to one batch, as they come. */
export class Batch {
  readonly #write: (line: string) => void;
  readonly #answers: string[] = [];
  #waiting = 1; // the batch itself, until all of it was read

  constructor(write: (line: string) => void) {
    this.#write = write;
  }

  /** One request more will be settled. */
  expect(): void {
    this.#waiting += 1;
  }

  /** Adds an answer, printed already; it may settle a request or stand for something that was none. */
  add(answer: string): void {
    this.#answers.push(answer);
  }

  /** A request was answered or never will be, or the batch was read to its end. */
  settle(): void {
    this.#waiting -= 1;
    if (this.#waiting === 0 && this.#answers.length > 0) this.#write(`[${this.#answers.join(",")}]`);
  }
}
