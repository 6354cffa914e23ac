/** Resident memory of the whole process after `tools/list`, a hundred reads and a pause. */
import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { McpClient, type ServerCommand } from "../mcp-client.ts";
import { interleave, type Row } from "../measure.ts";
import type { Effort } from "../options.ts";
import type { Playground } from "../playground.ts";
import { handrailMcp, REFERENCE, referenceMcp } from "../servers.ts";

const READS = 100;
const ROUNDS_MAX = 5;

/** The figure. */
export async function measureIdleMemory(playground: Playground, effort: Effort): Promise<readonly Row[]> {
  const { path, files } = playground.workspace("memory", READS);
  const side = (command: ServerCommand) => () => residentMiB(command, files, effort.idleMs);
  const subject = {
    id: "idle-memory",
    what: `resident memory, idle after ${READS} reads`,
    peer: REFERENCE,
    unit: "MiB",
    better: "lower",
  } as const;
  const rounds = Math.min(effort.rounds, ROUNDS_MAX);
  return [
    await interleave(
      subject,
      rounds,
      side(handrailMcp(playground, path, "state-memory")),
      side(referenceMcp(playground, path)),
    ),
  ];
}

async function residentMiB(command: ServerCommand, files: readonly string[], idleMs: number): Promise<number> {
  const client = new McpClient(command);
  try {
    await client.open();
    await client.read(1, (index) => files[index]);
    await pause(idleMs);
    const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${client.pid}/status`, "utf8"))?.[1];
    return Number(kibibytes) / 1024;
  } finally {
    await client.close();
  }
}
