/**
 * An upload as it comes from a stranger: whoever pauses too long, or goes away, ends it.
 */
import { CONTENT_STALL_MS } from "../base/limits.ts";
import { contentCancelled } from "../model/content-failures.ts";
import { ToolFailure } from "../model/failure.ts";

/** `chunks`, ended by `signal` and by a pause of more than `stallMs`. */
export async function* boundedChunks(
  chunks: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
  stallMs: number = CONTENT_STALL_MS,
): AsyncGenerator<Uint8Array> {
  const source = chunks[Symbol.asyncIterator]();
  let ended = false;
  try {
    for (;;) {
      const next = await inTime(source.next(), signal, stallMs);
      if (next.done) break;
      yield next.value;
    }
    ended = true;
  } finally {
    // Not awaited: a source that hangs would hang this too. What it throws now changes nothing any more.
    if (!ended) source.return?.().catch(() => undefined);
  }
}

/** Tells a source that nobody reads what it still has; harmless once it has ended. */
export function unread(chunks: AsyncIterable<Uint8Array>): void {
  const source = chunks[Symbol.asyncIterator]();
  // Not awaited, because it may hang; it may have failed already, and nothing was wanted of it.
  source.return?.().catch(() => undefined);
}

async function inTime<T>(next: Promise<T>, signal: AbortSignal, stallMs: number): Promise<T> {
  if (signal.aborted) throw contentCancelled();
  let timer: NodeJS.Timeout | undefined;
  let onAbort: (() => void) | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(stalled(stallMs)), stallMs);
    onAbort = () => reject(contentCancelled());
    signal.addEventListener("abort", onAbort, { once: true });
  });
  try {
    return await Promise.race([next, late]);
  } finally {
    clearTimeout(timer);
    if (onAbort) signal.removeEventListener("abort", onAbort);
  }
}

function stalled(stallMs: number): ToolFailure {
  const message = `the upload paused for more than ${stallMs} ms, and nothing was stored`;
  return new ToolFailure("TIMEOUT", message, "send it again without pauses", { afterMs: 1000 });
}
