/**
 * Limits how many of the kernel's upload places one session may take at once.
 *
 * So no session keeps all others out.
 *
 * INVARIANT: a place is given back once, however its upload ends.
 */
import { Code, ConnectError } from "@connectrpc/connect";

/** Uploads in progress by token, a wrong one included. */
export class UploadShares {
  readonly #max: number;
  readonly #running = new Map<string, number>();

  constructor(max: number) {
    this.#max = max;
  }

  /** Takes a place. @returns what gives it back @throws ConnectError `resource_exhausted` */
  take(sessionToken: string): () => void {
    const running = this.#running.get(sessionToken) ?? 0;
    if (running >= this.#max) {
      throw new ConnectError(
        `the session has ${this.#max} uploads in progress; wait for one of them to end`,
        Code.ResourceExhausted,
      );
    }
    this.#running.set(sessionToken, running + 1);
    return () => this.#giveBack(sessionToken);
  }

  #giveBack(sessionToken: string): void {
    const running = this.#running.get(sessionToken) ?? 0;
    if (running > 1) this.#running.set(sessionToken, running - 1);
    else this.#running.delete(sessionToken);
  }
}
