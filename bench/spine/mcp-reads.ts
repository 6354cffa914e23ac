/**
 * Governed 4 KB reads over MCP on standard streams, against the reference server, with paths that repeat and that do
 * not.
 */

import { McpClient } from "../mcp-client.ts";
import { interleave, type Row } from "../measure.ts";
import type { Effort } from "../options.ts";
import { type Playground, REPEATED_FILES } from "../playground.ts";
import { handrailMcp, REFERENCE, referenceMcp } from "../servers.ts";

const IN_FLIGHT = [1, 16, 64] as const;

/** The figures. */
export async function measureMcpReads(playground: Playground, effort: Effort): Promise<readonly Row[]> {
  return [...(await repeated(playground, effort)), ...(await distinct(playground, effort))];
}

async function repeated(playground: Playground, effort: Effort): Promise<readonly Row[]> {
  const { path, files } = playground.workspace("repeated", REPEATED_FILES);
  return withBoth(playground, path, "state-repeated", async (ours, theirs) => {
    const file = (index: number): string => files[index % files.length] ?? "";
    for (const client of [ours, theirs])
      await client.read(16, (index) => (index < effort.warmUpCalls ? file(index) : undefined));
    const turn = (client: McpClient, inFlight: number) => () => {
      const end = performance.now() + effort.turnMs;
      return client.read(inFlight, (index) => (performance.now() < end ? file(index) : undefined));
    };
    const rows: Row[] = [];
    for (const inFlight of IN_FLIGHT) {
      rows.push(
        await interleave(subject("repeat", inFlight), effort.rounds, turn(ours, inFlight), turn(theirs, inFlight)),
      );
    }
    return rows;
  });
}

/** No file is read twice by a server, so that nothing remembered about a path can help. */
async function distinct(playground: Playground, effort: Effort): Promise<readonly Row[]> {
  const { path, files } = playground.workspace("distinct", effort.distinctFiles);
  const share = Math.floor(files.length / (effort.rounds + 1));
  const rows: Row[] = [];
  for (const inFlight of IN_FLIGHT) {
    const row = await withBoth(playground, path, `state-distinct-${inFlight}`, async (ours, theirs) => {
      const part = (number: number) => (index: number) => (index < share ? files[number * share + index] : undefined);
      for (const client of [ours, theirs]) await client.read(16, part(0));
      const turn = (client: McpClient) => (round: number) => client.read(inFlight, part(round + 1));
      return [await interleave(subject("distinct", inFlight), effort.rounds, turn(ours), turn(theirs))];
    });
    rows.push(...row);
  }
  return rows;
}

async function withBoth(
  playground: Playground,
  workspace: string,
  state: string,
  work: (ours: McpClient, theirs: McpClient) => Promise<readonly Row[]>,
): Promise<readonly Row[]> {
  const ours = new McpClient(handrailMcp(playground, workspace, state));
  const theirs = new McpClient(referenceMcp(playground, workspace));
  try {
    await ours.open();
    await theirs.open();
    return await work(ours, theirs);
  } finally {
    await Promise.all([ours.close(), theirs.close()]);
  }
}

function subject(kind: "repeat" | "distinct", inFlight: number) {
  const paths = kind === "repeat" ? `${REPEATED_FILES} files in turn` : "no file twice";
  return {
    id: `mcp-read-${kind}-${inFlight}`,
    what: `4 KB reads over MCP stdio, ${inFlight} in flight, ${paths}`,
    peer: REFERENCE,
    unit: "reads/s",
    better: "higher",
  } as const;
}
