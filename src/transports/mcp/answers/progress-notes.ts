/**
 * Sends a tool's reports as MCP progress notifications for the request that brought the token.
 *
 * They say how far the tool is, and what its command writes.
 *
 * INVARIANTS: progress grows with each note. None is sent after the answer or the cancellation. Their number is
 * limited.
 */

import type { ProgressListener } from "../../../model/outcome/progress.ts";
import { OutputNotes } from "./output-notes.ts";

/** Progress notifications that one MCP call sends; what comes after them is dropped. */
export const PROGRESS_NOTES_MAX = 1_000;

/** Member of a note's `_meta` that says which stream its message was written to. */
const META_STREAM = "handrail/stream";

/** Listens to one call until `signal` aborts or `isOver`; hands each note to `send` as one line without its end. */
export function progressNotes(
  progressToken: string | number,
  signal: AbortSignal,
  send: (line: string) => void,
): { readonly listener: ProgressListener; readonly end: () => void } {
  let latest = Number.NEGATIVE_INFINITY;
  let left = PROGRESS_NOTES_MAX;
  const note = (progress: number, more: object): void => {
    if (progress <= latest || left === 0 || signal.aborted) return;
    latest = progress;
    left -= 1;
    send(
      JSON.stringify({
        jsonrpc: "2.0",
        method: "notifications/progress",
        params: { progressToken, progress, ...more },
      }),
    );
  };
  // Both streams may have something to say at the same number of bytes.
  const output = new OutputNotes(({ stream, text, bytes }) =>
    note(bytes > latest ? bytes : latest + 1, { message: text, _meta: { [META_STREAM]: stream } }),
  );
  const listener: ProgressListener = (report) => {
    if (report.kind === "output") output.push(report.stream, report.bytes);
    else note(report.completed, { total: report.total, message: report.message });
  };
  return {
    listener,
    end: () => {
      output.end();
      left = 0;
    },
  };
}
