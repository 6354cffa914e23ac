/**
 * An upload as it comes from a stranger: whoever pauses too long, sends too slowly, or goes away, ends it.
 */
import { CONTENT_STALL_MS, UPLOAD_BYTES_PER_SECOND_MIN } from "../base/limits.ts";
import { ToolFailure } from "../model/outcome/failure.ts";
import { contentCancelled } from "../model/work/content-failures.ts";

/**
 * `chunks`, ended by `signal`, by a pause of more than `stallMs`, and once the sender was waited for longer than that
 * and what its bytes take at the least rate: pauses that are short, but many, would keep its place as well.
 */
export async function* boundedChunks(
  chunks: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
  { stallMs, bytesPerSecond } = { stallMs: CONTENT_STALL_MS, bytesPerSecond: UPLOAD_BYTES_PER_SECOND_MIN },
): AsyncGenerator<Uint8Array> {
  const source = chunks[Symbol.asyncIterator]();
  let ended = false;
  let waitedMs = 0;
  let received = 0;
  try {
    for (;;) {
      const leftMs = stallMs + (received * 1000) / bytesPerSecond - waitedMs;
      const askedMs = performance.now();
      const waitMs = Math.max(0, Math.min(stallMs, leftMs));
      const next = await inTime(source.next(), signal, { waitMs, isSlow: leftMs < stallMs });
      if (next.done) break;
      waitedMs += performance.now() - askedMs;
      received += next.value.byteLength;
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

async function inTime<T>(
  next: Promise<T>,
  signal: AbortSignal,
  { waitMs, isSlow }: { readonly waitMs: number; readonly isSlow: boolean },
): Promise<T> {
  if (signal.aborted) throw contentCancelled();
  let timer: NodeJS.Timeout | undefined;
  let onAbort: (() => void) | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(isSlow ? tooSlow() : stalled(waitMs)), waitMs);
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

function tooSlow(): ToolFailure {
  const message = `the upload came too slowly, with less than ${UPLOAD_BYTES_PER_SECOND_MIN} bytes a second, and nothing was stored`;
  return new ToolFailure("TIMEOUT", message, { suggestion: "send it again faster", retryAfterMs: 1000 });
}

function stalled(stallMs: number): ToolFailure {
  const message = `the upload paused for more than ${stallMs} ms, and nothing was stored`;
  return new ToolFailure("TIMEOUT", message, { suggestion: "send it again without pauses", retryAfterMs: 1000 });
}
