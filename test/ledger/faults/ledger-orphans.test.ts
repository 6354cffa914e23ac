/** A kernel dies between intent and outcome. */
import { expect, test } from "vitest";
import { openLedgerReader } from "../../../src/server/ledger/ledger-reader.ts";
import { startChild } from "../../support/children/run.ts";
import { freshDirectory } from "../../support/store-place.ts";

test("an orphaned intent is closed exactly once although four kernels start at once", async () => {
  const directory = await freshDirectory();
  const dying = startChild("intend", [directory]);
  const [, intent, instance] = (await dying.printed("intent")).split(" ");
  dying.process.kill("SIGKILL");
  await dying.ended;
  const starting = Array.from({ length: 4 }, () => startChild("close-orphans", [directory]));
  await Promise.all(starting.map((child) => child.printed("ready")));
  for (const child of starting) child.process.stdin?.end();
  const closed = await Promise.all(starting.map((child) => child.printed("closed")));
  expect(closed.sort()).toEqual(["closed 0", "closed 0", "closed 0", "closed 1"]);
  await Promise.all(starting.map(({ ended }) => ended));
  const reader = await openLedgerReader(directory);
  const records = await reader.tail(10);
  expect(
    records.map(({ entry }) => [entry.eventType, entry.intent, entry.closes, entry.requestId, entry.durability]),
  ).toEqual([
    ["tool_selected", true, 0, "req_intent", "durable"],
    ["tool_outcome_unknown", false, Number(intent), "req_intent", "durable"],
  ]);
  expect(JSON.parse(Buffer.from(records[1]?.payload ?? []).toString())).toEqual({
    instance_id: instance,
    intent_sequence: Number(intent),
    reason: "instance_gone",
  });
  expect((await reader.verify()).problems).toEqual([]);
  await reader.close();
});

test("the intent of a living kernel is left alone, and that kernel closes it", async () => {
  const directory = await freshDirectory();
  const living = startChild("intend", [directory]);
  await living.printed("intent");
  const starting = startChild("close-orphans", [directory]);
  starting.process.stdin?.end();
  expect(await starting.printed("closed")).toBe("closed 0");
  living.process.stdin?.end();
  expect(await living.printed("outcome")).toBe("outcome 2");
  expect(await living.ended).toBe("0");
});
