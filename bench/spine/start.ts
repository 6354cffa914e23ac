/** Cold start: from spawning to the first `tools/list` answer, in a state directory that exists already. */

import { McpClient, type ServerCommand } from "../mcp-client.ts";
import { interleave, type Row } from "../measure.ts";
import type { Effort } from "../options.ts";
import type { Playground } from "../playground.ts";
import { handrailMcp, REFERENCE, referenceMcp } from "../servers.ts";

/** The figures: against the peer as its users start it, and with the compile cache that helps us given to it too. */
export async function measureColdStart(playground: Playground, effort: Effort): Promise<readonly Row[]> {
  const { path } = playground.workspace("start", 10);
  const ours = handrailMcp(playground, path, "state-start");
  const rows: Row[] = [];
  for (const compileCache of [false, true]) {
    const theirs = referenceMcp(playground, path, compileCache);
    for (const command of [ours, theirs]) await startMs(command); // fills the caches, on disk and in memory
    const peer = compileCache ? `${REFERENCE}, compile cache on` : REFERENCE;
    const id = compileCache ? "cold-start-cached-peer" : "cold-start";
    const subject = { id, what: "cold start to the first tools/list answer", peer, unit: "ms", better: "lower" } as const;
    rows.push(
      await interleave(
        subject,
        effort.starts,
        () => startMs(ours),
        () => startMs(theirs),
      ),
    );
  }
  return rows;
}

async function startMs(command: ServerCommand): Promise<number> {
  const started = performance.now();
  const client = new McpClient(command);
  try {
    await client.open();
    return performance.now() - started;
  } finally {
    await client.close();
  }
}
