/** Tells the time as a file system counts it: what changes later has a later one. */
import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";

/**
 * Times that a stamp is written until the clock of its file system has gone on: some microseconds each, a tick of 10 ms
 * at most.
 */
const VIEW_TICK_LOOKS_MAX = 10_000;

/** Milliseconds by which the time of a change may lie behind the machine's: one tick. */
const TICK_MS = 10;
/** Waits for a tick; timers may be early by a little. */
const WAITS_MAX = 3;

/** Nanoseconds of now as the file system counts: whatever changed before has an earlier time. */
export function timeOf(directory: string): bigint {
  const stamp = join(directory, "stamp");
  const touched = (): bigint => {
    writeFileSync(stamp, "");
    return statSync(stamp, { bigint: true }).ctimeNs;
  };
  const first = touched();
  let now = touched();
  for (let looks = 0; now === first && looks < VIEW_TICK_LOOKS_MAX; looks += 1) now = touched();
  return now;
}

/**
 * The same for a file system in which nothing may be written: one tick later, so that what changes from then on has
 * that time or a later one.
 */
export async function nextTick(): Promise<bigint> {
  const nowMs = Date.now() + 1;
  for (let waits = 0; waits < WAITS_MAX && Date.now() < nowMs + TICK_MS; waits += 1) await setTimeout(TICK_MS + 1);
  return BigInt(nowMs) * 1_000_000n;
}
