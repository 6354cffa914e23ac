/**
 * Limits the time that a peer may take for a body.
 *
 * Only time in which the peer was waited for counts: a kernel that is slow to take an upload is not held against the
 * sender.
 *
 * INVARIANT: every wait for a peer ends.
 */
import { Code, ConnectError } from "@connectrpc/connect";
import type { ConnectLimits } from "./limits.ts";

/** Says how long the next piece may take, and hears how long it took. */
export interface Pace {
  readonly remainingMs: () => number;
  readonly took: (waitedMs: number, bytes: number) => void;
  readonly late: () => ConnectError;
}

/** The whole body within the stall limit. */
export function wholeWithin({ stallMs }: Pick<ConnectLimits, "stallMs">): Pace {
  const deadlineMs = performance.now() + stallMs;
  return { remainingMs: () => deadlineMs - performance.now(), took: () => undefined, late: () => incomplete(stallMs) };
}

/** The pace of an upload: each message whole within the stall limit, and all of them not slower than a least rate. */
export class UploadPace implements Pace {
  readonly #limits: ConnectLimits;
  #messageMs = 0;
  #waitedMs = 0;
  #bytes = 0;

  constructor(limits: ConnectLimits) {
    this.#limits = limits;
  }

  /** A message is complete. */
  nextMessage(): void {
    this.#messageMs = 0;
  }

  readonly remainingMs = (): number =>
    Math.min(this.#limits.stallMs - this.#messageMs, this.#allowedMs() - this.#waitedMs);

  readonly took = (waitedMs: number, bytes: number): void => {
    this.#messageMs += waitedMs;
    this.#waitedMs += waitedMs;
    this.#bytes += bytes;
  };

  readonly late = (): ConnectError => {
    const { stallMs, uploadBytesPerSecondMin } = this.#limits;
    if (this.#allowedMs() - this.#waitedMs > stallMs - this.#messageMs) return incomplete(stallMs);
    const message = `the upload is slower than ${uploadBytesPerSecondMin} bytes a second; send it faster`;
    return new ConnectError(message, Code.DeadlineExceeded);
  };

  #allowedMs(): number {
    const { uploadGraceMs, uploadBytesPerSecondMin } = this.#limits;
    return uploadGraceMs + (this.#bytes / uploadBytesPerSecondMin) * 1000;
  }
}

/** The error for a request that did not come in time. */
export function incomplete(stallMs: number): ConnectError {
  return new ConnectError(
    `the request was not complete within ${stallMs} ms; send it without pauses`,
    Code.DeadlineExceeded,
  );
}

/** The pieces of `body`, none later than `pace` allows. */
export async function* paced(body: AsyncIterable<Uint8Array>, pace: Pace): AsyncGenerator<Uint8Array> {
  const pieces = body[Symbol.asyncIterator]();
  try {
    for (;;) {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(pace.late()), Math.max(0, pace.remainingMs()));
      });
      const sinceMs = performance.now();
      const piece = await Promise.race([pieces.next(), late]).finally(() => clearTimeout(timer));
      if (piece.done === true) return;
      pace.took(performance.now() - sinceMs, piece.value.byteLength);
      yield piece.value;
    }
  } finally {
    // Not awaited: a stream that stalls would keep it waiting.
    pieces.return?.().catch(() => undefined);
  }
}
