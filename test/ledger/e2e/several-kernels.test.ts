/** Four kernels, each its own `handrail mcp`, write under load on one state directory, and one of them is killed. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { handrail, until } from "../../support/command-line.ts";
import { type Evidence, readEvidence } from "../../support/evidence.ts";
import { factsOf } from "../../support/mcp-result.ts";
import { freshPlace, type Place } from "../../support/place.ts";
import { connectRpc, type RpcClient } from "../../support/rpc-client.ts";

const IN_FLIGHT = 16;
const SURVIVOR_WRITES = 60;
const VICTIM_WRITES_BEFORE_DEATH = 40;

interface Acknowledged {
  readonly path: string;
  readonly sequence: number;
}

/**
 * Keeps `IN_FLIGHT` writes going until `enough` says so or the server is gone; every acknowledgement goes to
 * `acknowledged`.
 */
async function writeUnderLoad(
  client: RpcClient,
  name: string,
  acknowledged: Acknowledged[],
  enough: (done: number) => boolean,
): Promise<void> {
  let started = 0;
  const worker = async () => {
    while (!enough(started)) {
      started += 1;
      const path = `${name}/${started}.txt`;
      const answer = await client.call("write_file", { path, content: path }).catch(() => undefined);
      if (answer === undefined) return; // the server was killed
      if (answer.isError) throw new Error(JSON.stringify(factsOf(answer)));
      acknowledged.push({ path, sequence: factsOf(answer).metadata.ledger_sequence });
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, worker));
}

/** Intents of an instance that nothing has closed. */
function openIntents(records: readonly Evidence[], instanceId: string): number[] {
  const closed = new Set(records.map(({ entry }) => entry.closes));
  return records
    .filter(({ entry }) => entry.intent && entry.instanceId === instanceId && !closed.has(entry.sequence))
    .map(({ entry }) => entry.sequence);
}

test("the chain verifies, no acknowledged write is lost, and the next kernel closes what the killed one left open", async () => {
  const place = freshPlace();
  const names = ["one", "two", "three", "four"] as const;
  const clients = await Promise.all(names.map((name) => connectRpc(place, ["--agent", name])));
  const [victim] = clients as [RpcClient, ...RpcClient[]];
  await leaveOneOpen(place, victim);
  const acknowledged: Acknowledged[] = [];
  const ofVictim: Acknowledged[] = [];
  const victimDone = writeUnderLoad(victim, "one", ofVictim, () => false);
  const isEnough = (done: number) => done >= SURVIVOR_WRITES;
  const others = clients
    .slice(1)
    .map((client, index) => writeUnderLoad(client, names[index + 1] ?? "", acknowledged, isEnough));
  await until(() => ofVictim.length >= VICTIM_WRITES_BEFORE_DEATH);
  victim.process.kill("SIGKILL");
  await Promise.all([victimDone, ...others]);
  acknowledged.push(...ofVictim);
  for (const client of clients.slice(1)) client.process.stdin.end();
  expect(await Promise.all(clients.map(({ ended }) => ended))).toEqual(["SIGKILL", "0", "0", "0"]);

  const before = await readEvidence(place.state);
  const bySequence = new Map(before.map((record) => [record.entry.sequence, record]));
  expect(acknowledged.length).toBeGreaterThanOrEqual(3 * SURVIVOR_WRITES + VICTIM_WRITES_BEFORE_DEATH);
  for (const { path, sequence } of acknowledged) {
    const outcome = bySequence.get(sequence);
    expect(outcome?.payload).toMatchObject({
      tool: "write_file",
      success: true,
      accesses: [{ kind: "file", effect: "write", path }],
    });
    expect(bySequence.get(outcome?.entry.closes ?? 0)?.entry).toMatchObject({
      eventType: "tool_selected",
      intent: true,
    });
    expect(readFileSync(join(place.workspace, path), "utf8")).toBe(path);
  }
  const killed = instanceOf(before, "one");
  const orphans = openIntents(before, killed);
  expect(orphans.length).toBeGreaterThan(0);
  for (const name of names.slice(1)) expect(openIntents(before, instanceOf(before, name))).toEqual([]);

  expect((await handrail(place, ["call", "list_files", "--json", '{"path":"."}'])).code).toBe(0);
  const after = await readEvidence(place.state);
  const closing = after.filter(({ entry }) => entry.eventType === "tool_outcome_unknown");
  expect(closing.map(({ entry }) => entry.closes)).toEqual(orphans);
  expect(closing.map(({ payload }) => payload)).toEqual(
    orphans.map((sequence) => ({ instance_id: killed, intent_sequence: sequence, reason: "instance_gone" })),
  );
  expect(openIntents(after, killed)).toEqual([]);
  expect(readFileSync(join(place.workspace, "held.txt"), "utf8")).toBe("held\n");
});

/** Has the client run a command that lasts, so that an intent is open when its kernel dies, however long that takes. */
async function leaveOneOpen(place: Place, client: RpcClient): Promise<void> {
  place.put("workspace/held.txt", "held\n");
  const command = "sleep 600; echo changed > held.txt";
  client.call("shell", { command, timeout_ms: 600_000 }).catch(() => undefined); // its kernel is killed
  await until(async () =>
    (await readEvidence(place.state)).some(({ entry, payload }) => entry.intent && payload["tool"] === "shell"),
  );
}

/** The instance that the calls of an agent went through. */
function instanceOf(records: readonly Evidence[], agent: string): string {
  return records.find(({ entry }) => entry.actor.endsWith(`/${agent}`))?.entry.instanceId ?? "";
}
