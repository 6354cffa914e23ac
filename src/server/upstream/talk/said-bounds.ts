/** Bounds what one upstream server may say, however it is reached. */
import { MIB } from "../../../base/bytes.ts";

/** Bytes of one message. */
export const MESSAGE_BYTES_MAX = 8 * MIB;
/** Bytes of all that it says for one question. */
const SAID_BYTES_MAX = 16 * MIB;
/** Messages that answer nothing which was asked, until it is ended. */
const STRAY_MAX = 100;

/** What one server has said. */
export class SaidBounds {
  readonly #fail: (why: string) => void;
  #bytes = 0;
  #bytesMax = SAID_BYTES_MAX;
  #strays = 0;

  /** @param fail ends the server, saying why */
  constructor(fail: (why: string) => void) {
    this.#fail = fail;
  }

  /** So many questions are open from now on: what it said before counts no more, it may say as much for each. */
  reset(questions: number): void {
    this.#bytes = 0;
    this.#bytesMax = SAID_BYTES_MAX * Math.max(1, questions);
  }

  /** It said something that answers nothing. */
  stray(): void {
    this.#strays += 1;
    if (this.#strays > STRAY_MAX) this.#fail("it answers what was not asked");
  }

  /** Counts bytes that it said. @returns whether they were too many, which ends it */
  isTooMuch(bytes: number): boolean {
    this.#bytes += bytes;
    if (this.#bytes <= this.#bytesMax) return false;
    this.#fail(`it said more than ${this.#bytesMax} bytes`);
    return true;
  }
}
