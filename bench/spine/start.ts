/**
 * Cold start: from spawning to the first `tools/list` answer, in a state directory that exists already; and the first
 * call some time after it.
 */
import { setTimeout as pause } from "node:timers/promises";

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
    const subject = {
      id,
      what: "cold start to the first tools/list answer",
      peer,
      unit: "ms",
      better: "lower",
    } as const;
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

/** The first read of a session, once the server has been idle for as long as a model thinks at least. */
export async function measureFirstCall(playground: Playground, effort: Effort): Promise<readonly Row[]> {
  const { path, files } = playground.workspace("first", 10);
  const firstMs = async (command: ServerCommand): Promise<number> => {
    const client = new McpClient(command);
    try {
      await client.open();
      await pause(effort.idleMs);
      const started = performance.now();
      await client.read(1, (index) => (index === 0 ? files[0] : undefined));
      return performance.now() - started;
    } finally {
      await client.close();
    }
  };
  const ours = handrailMcp(playground, path, "state-first");
  const theirs = referenceMcp(playground, path);
  for (const command of [ours, theirs]) await startMs(command);
  const what = `first 4 KB read of a session, ${effort.idleMs / 1000} s after tools/list`;
  const subject = { id: "first-call", what, peer: REFERENCE, unit: "ms", better: "lower" } as const;
  const turn = (command: ServerCommand) => () => firstMs(command);
  return [await interleave(subject, Math.ceil(effort.starts / 2), turn(ours), turn(theirs))];
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
