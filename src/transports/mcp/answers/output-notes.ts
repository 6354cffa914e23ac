/**
 * Batches a running command's output as text for progress notifications.
 *
 * Notes go out often while little has been sent, and seldom once much has, so that the notes of a call last as long as
 * its command may run.
 *
 * INVARIANTS: what waits is bounded, its end is kept and the rest counted. No character is cut in two.
 */
import { StringDecoder } from "node:string_decoder";

/** Characters (UTF-16 code units) of a running command's output in one progress notification: some screens full. */
export const OUTPUT_NOTE_CHARACTERS_MAX = 8_000;
/** Milliseconds between two notes of output, while there were few: what comes meanwhile goes into one. */
export const OUTPUT_NOTE_INTERVAL_MS = 100;
/** Notes of output that may follow each other so quickly. */
export const OUTPUT_NOTES_QUICK_MAX = 400;
/**
 * Milliseconds between two notes of output once there were many: the notes that are left, two at a time, last for the
 * hour that a command may take.
 */
export const OUTPUT_NOTE_SLOW_INTERVAL_MS = 12_000;

/** A stream of output. */
export type Stream = "stdout" | "stderr";

/** Text that goes out at once. */
export interface OutputNote {
  readonly stream: Stream;
  readonly text: string;
  /** Bytes that came so far, of both streams. */
  readonly bytes: number;
}

/** Gathers the output of one call. */
export class OutputNotes {
  readonly #send: (note: OutputNote) => void;
  readonly #waiting: Record<Stream, Waiting> = { stdout: newWaiting(), stderr: newWaiting() };
  #bytes = 0;
  #sent = 0;
  #lastMs = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;

  constructor(send: (note: OutputNote) => void) {
    this.#send = send;
  }

  /** Takes a piece; it is sent now or with what follows. */
  push(stream: Stream, bytes: Uint8Array): void {
    this.#bytes += bytes.byteLength;
    const waiting = this.#waiting[stream];
    waiting.text += waiting.decoder.write(bytes);
    const over = waiting.text.length - OUTPUT_NOTE_CHARACTERS_MAX;
    if (over > 0) {
      waiting.text = waiting.text.slice(over);
      waiting.left += over;
    }
    const waitMs = this.#lastMs + this.#intervalMs() - performance.now();
    if (waitMs <= 0) this.#flush();
    else this.#timer ??= setTimeout(() => this.#flush(), waitMs).unref();
  }

  /** Sends what waits; nothing comes after it. */
  end(): void {
    this.#flush();
  }

  #intervalMs(): number {
    return this.#sent < OUTPUT_NOTES_QUICK_MAX ? OUTPUT_NOTE_INTERVAL_MS : OUTPUT_NOTE_SLOW_INTERVAL_MS;
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#lastMs = performance.now();
    for (const stream of ["stdout", "stderr"] as const) {
      const { text, left } = this.#waiting[stream];
      if (text === "") continue;
      this.#sent += 1;
      const shown = left > 0 ? `… (${left} characters left out) …\n${text}` : text;
      Object.assign(this.#waiting[stream], { text: "", left: 0 });
      this.#send({ stream, text: shown.toWellFormed(), bytes: this.#bytes });
    }
  }
}

interface Waiting {
  readonly decoder: StringDecoder;
  text: string;
  /** Characters before it that are left out. */
  left: number;
}

function newWaiting(): Waiting {
  return { decoder: new StringDecoder("utf8"), text: "", left: 0 };
}
