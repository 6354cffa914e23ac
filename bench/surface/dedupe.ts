/**
 * What a dedupe key costs and saves: a call that is answered with what was kept, and the first call with a key, each
 * against the same call without one. Through the door of a whole kernel in this process, one call after the other.
 */
import { createKernel, type KernelSession } from "../../src/server/doors/library.ts";
import { interleave, microsecondsEachAwaited, type Row } from "../measure.ts";
import type { Effort } from "../options.ts";
import type { Playground } from "../playground.ts";

/** A durable write takes as long as the disk: a turn needs fewer of them. */
const WRITES_PER_TURN_MAX = 500;

const READ = { tool: "read_file", args: { path: "part0/file0.ts" } } as const;
const WRITE = { tool: "write_file", args: { path: "written.txt", content: "x".repeat(4096) } } as const;

/** The figures. */
export async function measureDedupe(playground: Playground, effort: Effort): Promise<Row[]> {
  const { path } = playground.workspace("dedupe", 1);
  const stateDirectory = playground.directory("state-dedupe");
  const kernel = await createKernel({ stateDirectory, environment: playground.environment });
  try {
    const session = await kernel.openSession({ workspace: path });
    let fresh = 0;
    const hit = (call: typeof READ | typeof WRITE) => () =>
      repeat(effort.calls, session, call, () => `kept ${call.tool}`);
    const executed = (call: typeof READ | typeof WRITE, count: number) => () => repeat(count, session, call);
    const writes = Math.min(effort.calls, WRITES_PER_TURN_MAX);
    const firstWrite = () => repeat(writes, session, WRITE, () => `first ${fresh++}`);
    for (const side of [hit(READ), executed(READ, effort.calls), hit(WRITE), executed(WRITE, writes), firstWrite])
      await side();
    const common = { unit: "µs", better: "lower" } as const;
    const { rounds } = effort;
    return [
      await interleave(
        {
          id: "dedupe-hit-read",
          what: "read of 4 KB answered from what was kept",
          peer: "the same read, executed",
          ...common,
        },
        rounds,
        hit(READ),
        executed(READ, effort.calls),
      ),
      await interleave(
        {
          id: "dedupe-hit-write",
          what: "write of 4 KB answered from what was kept",
          peer: "the same write, executed",
          ...common,
        },
        rounds,
        hit(WRITE),
        executed(WRITE, writes),
      ),
      await interleave(
        {
          id: "dedupe-first-write",
          what: "first write of 4 KB with a dedupe key",
          peer: "the same write without a key",
          ...common,
        },
        rounds,
        firstWrite,
        executed(WRITE, writes),
      ),
    ];
  } finally {
    await kernel.close();
  }
}

/** Microseconds that one of `count` calls takes. */
function repeat(
  count: number,
  session: KernelSession,
  call: typeof READ | typeof WRITE,
  keyOf?: () => string,
): Promise<number> {
  return microsecondsEachAwaited(count, async () => {
    const { response } = await session.call(call.tool, call.args, keyOf && { dedupeKey: keyOf() });
    if (response.outcome.kind !== "success") throw new Error(`a call was refused: ${JSON.stringify(response.outcome)}`);
  });
}
