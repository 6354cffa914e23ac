/** Finds how long this thread is taken at a stretch. */

/** Processor time of this thread in the longest turn of its event loop while `work` goes on. */
export async function longestTurnMs(work: () => Promise<unknown>): Promise<number> {
  let [beganMs, longestMs, isOver] = [threadMs(), 0, false];
  const turn = (): void => {
    const nowMs = threadMs();
    longestMs = Math.max(longestMs, nowMs - beganMs);
    beganMs = nowMs;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  await work();
  isOver = true;
  turn();
  return Math.max(longestMs, LEAST_MS);
}

/** Some machines count a thread's time in ticks, and see nothing of a short one. */
const LEAST_MS = 0.01;

function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
