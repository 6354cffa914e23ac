/** Buffered events between their acknowledgement and the chain: order, limits, and a worker that dies. */
import { chmod, mkdir, readdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { geteuid } from "node:process";
import type { Worker } from "node:worker_threads";
import { expect, test, vi } from "vitest";
import type { LedgerThread, LedgerThreadOptions } from "../../../src/server/ledger/ledger-messages.ts";
import { openLedgerReader } from "../../../src/server/ledger/ledger-reader.ts";
import { startLedgerThread } from "../../../src/server/ledger/ledger-thread.ts";
import { LEDGER_SPOOL_CHUNK_BYTES } from "../../../src/server/ledger/limits.ts";
import { sampleEvent } from "../../stores/contract.ts";
import { startChild } from "../../support/children/run.ts";
import { freshDirectory } from "../../support/store-place.ts";

async function started(
  options: LedgerThreadOptions = {},
): Promise<{ readonly ledger: LedgerThread; readonly directory: string }> {
  const directory = await freshDirectory();
  const ledger = startLedgerThread({ stateDirectory: directory, instanceId: "ins_a" }, options);
  await ledger.ready();
  return { ledger, directory };
}

/** Request ids of all entries, in the order of the chain, which must be sound. */
async function chain(directory: string): Promise<readonly string[]> {
  const reader = await openLedgerReader(directory);
  const { entries, problems } = await reader.verify();
  expect(problems).toEqual([]);
  const ids: string[] = [];
  for (let from = 1; from <= entries; from += 256)
    ids.push(...(await reader.range(from, 256)).map(({ entry }) => entry.requestId));
  await reader.close();
  return ids;
}

const numbered = (count: number): readonly string[] => Array.from({ length: count }, (_, index) => `r${index}`);

test("a buffered event resolves from the spool, and reaches the chain without any further event", async () => {
  const { ledger, directory } = await started();
  expect(await ledger.record(sampleEvent("one"), "buffered")).toBeUndefined();
  expect(await readdir(join(directory, "spool"))).toEqual(["ins_a"]);
  await vi.waitFor(async () => expect(await chain(directory)).toEqual(["one"]), { timeout: 120_000, interval: 10 });
  const file = join(directory, "spool", "ins_a");
  await vi.waitFor(async () => expect((await stat(file)).size).toBe(0), { timeout: 120_000, interval: 10 });
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect((await stat(join(directory, "spool"))).mode & 0o777).toBe(0o700);
  await ledger.close();
  expect(await readdir(join(directory, "spool"))).toEqual([]);
});

test("the chain has buffered and durable events in the order in which they were recorded, within a turn and across turns", async () => {
  const { ledger, directory } = await started();
  const names = numbered(600);
  for (let at = 0; at < names.length; at += 7) {
    const turn = names
      .slice(at, at + 7)
      .map((name, index) => ledger.record(sampleEvent(name), (at + index) % 3 === 0 ? "durable" : "buffered"));
    // Some turns are waited for, others are overtaken by the next.
    if (at % 2 === 0) await Promise.all(turn);
    else await turn[0];
  }
  await ledger.close();
  expect(await chain(directory)).toEqual(names);
});

test("events that open or close an intent wait for their sequence whatever was asked", async () => {
  const { ledger, directory } = await started();
  expect(await ledger.record(sampleEvent("before"), "buffered")).toBeUndefined();
  expect(await ledger.record(sampleEvent("intent", { intent: true }), "buffered")).toBe(2);
  expect(await ledger.record(sampleEvent("outcome", { closes: 2 }), "buffered")).toBe(3);
  await ledger.close();
  expect(await chain(directory)).toEqual(["before", "intent", "outcome"]);
});

test("a full spool sends events to the worker, and takes events again once the ledger holds it", async () => {
  const { ledger, directory } = await started({ spoolBytesMax: 4000 });
  const names = numbered(400);
  const answers: (number | undefined)[] = [];
  for (let at = 0; at < names.length; at += 20) {
    answers.push(
      ...(await Promise.all(names.slice(at, at + 20).map((name) => ledger.record(sampleEvent(name), "buffered")))),
    );
  }
  expect(answers.slice(0, 5)).toEqual([undefined, undefined, undefined, undefined, undefined]);
  const firstAwaited = answers.findIndex((answer) => answer !== undefined);
  expect(answers[firstAwaited]).toBe(firstAwaited + 1);
  expect(answers.slice(firstAwaited).includes(undefined)).toBe(true);
  expect((await stat(join(directory, "spool", "ins_a"))).size).toBeLessThanOrEqual(4000);
  await ledger.close();
  expect(await chain(directory)).toEqual(names);
});

test("a spool larger than one transaction takes is appended completely and in order", async () => {
  const { ledger, directory } = await started();
  const names = numbered(40);
  const payload = { filler: "x".repeat(LEDGER_SPOOL_CHUNK_BYTES / 8) };
  for (const name of names) expect(await ledger.record(sampleEvent(name, { payload }), "buffered")).toBeUndefined();
  expect(await ledger.record(sampleEvent("last"), "durable")).toBe(41);
  await ledger.close();
  expect(await chain(directory)).toEqual([...names, "last"]);
});

test("a spool that cannot be made leaves events to the worker", async () => {
  const directory = await freshDirectory();
  await mkdir(join(directory, "spool"));
  await chmod(join(directory, "spool"), 0o777);
  const ledger = startLedgerThread({ stateDirectory: directory, instanceId: "ins_a" });
  expect(await ledger.record(sampleEvent("open to others"), "buffered")).toBe(1);
  expect(await readdir(join(directory, "spool"))).toEqual([]);
  await chmod(join(directory, "spool"), 0o700);
  expect(await ledger.record(sampleEvent("closed again"), "buffered")).toBeUndefined();
  await ledger.close();
  expect(await chain(directory)).toEqual(["open to others", "closed again"]);
});

test("when the thread dies, what was spooled is appended exactly once by the next", async () => {
  const { ledger, directory } = await started();
  const names = numbered(500);
  for (const [index, name] of names.entries()) {
    await ledger.record(sampleEvent(name), "buffered");
    if (index % 100 === 50) await (ledger as unknown as { readonly worker: Worker | undefined }).worker?.terminate();
    if (index % 100 === 10) await ledger.record(sampleEvent(`durable-${name}`), "durable");
  }
  await ledger.close();
  expect((await chain(directory)).filter((name) => name.startsWith("r"))).toEqual(names);
});

test("a spool that is damaged under a living kernel refuses every later event and is kept", async () => {
  const { ledger, directory } = await started();
  const rubbish = `${"rubbish ".repeat(40)}\n`;
  expect(await ledger.record(sampleEvent("one"), "buffered")).toBeUndefined();
  await writeFile(join(directory, "spool", "ins_a"), rubbish, { flag: "r+" });
  await expect(ledger.record(sampleEvent("two"), "durable")).rejects.toMatchObject({ code: "LEDGER_UNAVAILABLE" });
  await expect(ledger.record(sampleEvent("three"), "buffered")).rejects.toMatchObject({ code: "LEDGER_UNAVAILABLE" });
  expect(ledger.health()).toMatchObject({ writable: false, problem: expect.stringContaining("restart the kernel") });
  await expect(ledger.close()).rejects.toMatchObject({ code: "LEDGER_UNAVAILABLE" });
  expect((await stat(join(directory, "spool", "ins_a"))).size).toBe(rubbish.length);
});

test("a full disk refuses buffered events, loses none that was acknowledged, and takes them again once there is room", async () => {
  const privately = geteuid?.() === 0 ? ["unshare", "-m"] : ["unshare", "-rm"];
  const child = startChild("spool-full-disk", [await freshDirectory()], privately);
  expect(await child.ended).toBe("0");
  const facts = JSON.parse(child.lines()[0] ?? "");
  expect(facts).toEqual({
    before: facts.before,
    after: 20,
    refusals: ["LEDGER_UNAVAILABLE"],
    healthy: true,
    ok: true,
    lost: 0,
    twice: 0,
  });
  expect(facts.before).toBeGreaterThan(10);
});
