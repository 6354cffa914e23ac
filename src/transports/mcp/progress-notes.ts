/**
 * A tool's reports as MCP's progress notifications, for the request that brought the token.
 *
 * INVARIANTS: progress grows with each note; none is sent after the answer or the cancellation; their number is limited.
 */
import { PROGRESS_NOTES_MAX } from "../../base/limits.ts";
import type { ProgressListener } from "../../model/progress.ts";

/** Listens to one call until `signal` aborts or `isOver`; hands each note to `send` as one line without its end. */
export function progressNotes(
  progressToken: string | number,
  signal: AbortSignal,
  send: (line: string) => void,
): { readonly listener: ProgressListener; readonly end: () => void } {
  let latest = Number.NEGATIVE_INFINITY;
  let left = PROGRESS_NOTES_MAX;
  const listener: ProgressListener = (report) => {
    if (report.kind !== "progress" || report.completed <= latest || left === 0 || signal.aborted) return;
    latest = report.completed;
    left -= 1;
    const params = { progressToken, progress: report.completed, total: report.total, message: report.message };
    send(JSON.stringify({ jsonrpc: "2.0", method: "notifications/progress", params }));
  };
  return {
    listener,
    end: () => {
      left = 0;
    },
  };
}
