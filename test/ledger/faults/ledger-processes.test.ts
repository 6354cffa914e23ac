/** Several kernels write one ledger, and one of them dies. */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { type LedgerReader, openLedgerReader } from "../../../src/server/ledger/ledger-reader.ts";
import { type Child, startChild } from "../../support/children/run.ts";
import { freshDirectory } from "../../support/store-place.ts";

const acknowledgedBy = (child: Child): readonly (readonly [number, string])[] =>
  child.lines().map((line) => [Number(line.split(" ")[1]), line.split(" ")[2] ?? ""]);

/** Acknowledged entries that the ledger does not hold as acknowledged. */
async function lost(
  reader: LedgerReader,
  acknowledged: readonly (readonly [number, string])[],
): Promise<readonly (readonly [number, string])[]> {
  const missing: (readonly [number, string])[] = [];
  for (const [sequence, requestId] of acknowledged) {
    if ((await reader.show(sequence))?.entry.requestId !== requestId) missing.push([sequence, requestId]);
  }
  return missing;
}

test("four kernels append under load and one is killed: the chain is intact and nothing acknowledged is lost", async () => {
  const directory = await freshDirectory();
  const children = ["one", "two", "three", "four"].map((name) => startChild("append", [directory, name]));
  const [victim, ...survivors] = children;
  await Promise.all(children.map((child) => child.printed("acknowledged")));
  await sleep(300);
  victim?.process.kill("SIGKILL");
  await sleep(300);
  for (const child of survivors) child.process.stdin?.end();
  expect(await Promise.all(children.map(({ ended }) => ended))).toEqual(["SIGKILL", "0", "0", "0"]);
  const reader = await openLedgerReader(directory);
  const report = await reader.verify();
  const acknowledged = children.flatMap(acknowledgedBy);
  expect(report).toEqual({ ok: true, entries: report.entries, pruned: 0, problems: [], truncated: false });
  expect(new Set(acknowledged.map(([sequence]) => sequence)).size).toBe(acknowledged.length);
  expect(report.entries).toBeGreaterThanOrEqual(acknowledged.length);
  expect(await lost(reader, acknowledged)).toEqual([]);
  await reader.close();
});

test("a buffered entry survives SIGKILL right after its acknowledgement", async () => {
  const directory = await freshDirectory();
  const child = startChild("append", [directory, "one"]);
  await child.printed("acknowledged 40 ");
  child.process.kill("SIGKILL");
  await child.ended;
  const reader = await openLedgerReader(directory);
  const records = await reader.range(1, 256);
  expect(records.some(({ entry }) => entry.durability === "buffered")).toBe(true);
  expect(await lost(reader, acknowledgedBy(child))).toEqual([]);
  expect((await reader.verify()).problems).toEqual([]);
  await reader.close();
});
