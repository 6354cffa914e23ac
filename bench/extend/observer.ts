/**
 * What it costs that somebody observes: reads per second while metrics are kept, against the same kernel while nobody
 * hears of its calls. Through the door of a whole kernel in this process, with 16 calls in flight.
 */
import { setImmediate } from "node:timers/promises";
import { openKernel } from "../../src/server/compose.ts";
import { openMetrics } from "../../src/server/metrics/metrics.ts";
import { interleave, type Row } from "../measure.ts";
import type { Effort } from "../options.ts";
import { type Playground, REPEATED_FILES } from "../playground.ts";

const IN_FLIGHT = 16;

/** The figure. */
export async function measureObserver(playground: Playground, effort: Effort): Promise<readonly Row[]> {
  const { path, files } = playground.workspace("observer", REPEATED_FILES);
  const kernel = await openKernel({
    stateDirectory: playground.directory("state-observer"),
    environment: playground.environment,
  });
  try {
    const { token } = await kernel.administration.createSession({ workspace: path, userId: "bench", agentId: "bench" });
    let count = 0;
    const read = async () => {
      count += 1;
      const submission = {
        kind: "call",
        requestId: `bench-${count}`,
        sessionToken: token,
        tool: "read_file",
        arguments: { path: files[count % files.length] ?? "" },
      } as const;
      const { outcome } = await kernel.door.execute(submission, new AbortController().signal);
      if (outcome.kind !== "success") throw new Error(`a read was refused: ${JSON.stringify(outcome)}`);
    };
    const perSecond = () => readsPerSecond(read, effort.turnMs);
    const observed = async () => {
      const metrics = openMetrics(kernel);
      try {
        return await perSecond();
      } finally {
        metrics.close();
      }
    };
    for (let calls = 0; calls < effort.warmUpCalls; calls += 1) await read();
    const subject = {
      id: "observer-metrics",
      what: "reads of 4 KB in a second of the thread's processor time, while metrics are kept",
      peer: "the same kernel while nobody observes",
      unit: "reads/s",
      better: "higher",
    } as const;
    return [await interleave(subject, effort.rounds, observed, perSecond)];
  } finally {
    await kernel.close();
  }
}

/** Reads in a second of the thread's own processor time: how busy the machine is besides does not count. */
async function readsPerSecond(read: () => Promise<void>, turnMs: number): Promise<number> {
  let count = 0;
  const began = performance.now();
  const spent = process.threadCpuUsage();
  const work = async () => {
    while (performance.now() - began < turnMs) {
      await read();
      count += 1;
      if (count % (4 * IN_FLIGHT) === 0) await setImmediate(); // timers have their turn, as with a transport
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, work));
  const { user, system } = process.threadCpuUsage(spent);
  return (count * 1_000_000) / (user + system);
}
