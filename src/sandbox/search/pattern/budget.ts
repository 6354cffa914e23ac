/**
 * Measures cheaply the processor time that a search spends on one file.
 *
 * Reading the thread's own clock is a system call and reading the wall clock is none, and no more processor time can
 * pass than wall time. So the wall clock is asked first.
 *
 * INVARIANT: a file that used less than REGEX_BUDGET_MS of processor time is never over budget, however busy the
 * machine is. One that used MARK_MS more always is, once it is asked.
 */

import { threadTimeMs } from "../../native/syscalls.ts";

/** Milliseconds of processor time that matching may take in one file (Flow: 100 ms). */
export const REGEX_BUDGET_MS = 100;

/** Age at which the reading that files are measured from is taken anew. */
const MARK_MS = 10;

let mark = { atMs: Number.NEGATIVE_INFINITY, threadMs: 0 };

/** Begins to measure a file: tells, whenever asked, whether it is over its budget. */
export function beginBudget(): () => boolean {
  const startedMs = performance.now();
  if (startedMs - mark.atMs > MARK_MS) mark = { atMs: startedMs, threadMs: threadTimeMs() };
  const { threadMs } = mark;
  return () => performance.now() - startedMs > REGEX_BUDGET_MS && threadTimeMs() - threadMs > REGEX_BUDGET_MS + MARK_MS;
}
