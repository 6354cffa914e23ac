// The ledger's thread is ended while nothing waits for it, and started again: no event is lost, late or out of order.
import { readdir } from "node:fs/promises";
import { Worker } from "node:worker_threads";
import { afterEach, expect, test, vi } from "vitest";
import { openLedgerReader } from "../../../src/server/ledger/ledger-reader.ts";
import { LedgerSpool } from "../../../src/server/ledger/ledger-spool.ts";
import { startLedgerThread } from "../../../src/server/ledger/ledger-thread.ts";
import { sampleEvent } from "../../stores/contract.ts";
import { freshDirectory } from "../../support/store-place.ts";

/** What a ledger thread has inside. */
interface Inside {
  worker: Worker | undefined;
  spawn: () => Worker;
}

afterEach(() => void vi.restoreAllMocks());

async function start(options: { readonly spool?: boolean; readonly restarts?: boolean } = {}) {
  const stateDirectory = await freshDirectory();
  const ledger = startLedgerThread({ stateDirectory, instanceId: "ins_a" }, { restarts: true, ...options });
  await ledger.ready();
  return { stateDirectory, ledger, inside: ledger as unknown as Inside };
}

/** Ids of everything that was recorded, in order. */
async function recorded(stateDirectory: string): Promise<readonly string[]> {
  const reader = await openLedgerReader(stateDirectory);
  expect((await reader.verify()).problems).toEqual([]);
  const entries = await reader.tail(1000);
  await reader.close();
  return entries.map(({ entry }) => entry.requestId);
}

async function rested({ ledger, inside }: Awaited<ReturnType<typeof start>>): Promise<void> {
  const soon = { timeout: 120_000, interval: 10 };
  await vi.waitFor(async () => {
    await ledger.rest();
    expect(inside.worker).toBeUndefined();
  }, soon);
}

test.each([true, false])("a thread that was ended comes back with the next event, with a spool: %s", async (spool) => {
  const own = await start({ spool });
  const { ledger, stateDirectory } = own;
  const ids: string[] = [];
  for (let round = 0; round < 4; round += 1) {
    for (const durability of ["buffered", "buffered", "durable", "buffered"] as const) {
      ids.push(`r${ids.length}`);
      const sequence = await ledger.record(sampleEvent(`r${ids.length - 1}`), durability);
      if (durability === "durable" || !spool) expect(sequence).toBe(ids.length);
    }
    await rested(own);
    expect(ledger.health()).toEqual({ writable: true, waiting: 0 });
    // no log: it was closed
    expect((await readdir(stateDirectory)).toSorted()).toEqual(["anchor", "ledger.db", ...(spool ? ["spool"] : [])]);
    expect(await recorded(stateDirectory)).toEqual(ids);
  }
  expect(await ledger.openIntents()).toEqual([]);
  await rested(own);
  await ledger.record(sampleEvent("last"), "durable");
  await ledger.close();
  expect(await readdir(stateDirectory, { recursive: true })).toEqual([
    "anchor",
    "ledger.db",
    ...(spool ? ["spool"] : []),
  ]);
  expect(await recorded(stateDirectory)).toEqual([...ids, "last"]);
});

test("events that come while the thread is asked to rest are recorded in their order", async () => {
  const own = await start();
  const ids: string[] = [];
  const answers: Promise<unknown>[] = [];
  for (let round = 0; round < 30; round += 1) {
    const asked = own.ledger.rest();
    for (let turn = 0; turn < round % 5; turn += 1) await new Promise(setImmediate);
    ids.push(`a${round}`, `b${round}`);
    answers.push(own.ledger.record(sampleEvent(`a${round}`), round % 3 === 0 ? "durable" : "buffered"));
    answers.push(own.ledger.record(sampleEvent(`b${round}`), "buffered"));
    await asked;
    if (round % 2 === 0) await Promise.all(answers);
  }
  await Promise.all(answers);
  await own.ledger.close();
  expect(await recorded(own.stateDirectory)).toEqual(ids);
});

test("a thread for which something waits stays, and a closed ledger has none to end", async () => {
  const { ledger, inside } = await start();
  const { worker } = inside;
  const waiting = ledger.record(sampleEvent("waits"), "durable");
  await ledger.rest();
  expect(inside.worker).toBe(worker);
  expect(await waiting).toBe(1);
  await ledger.close();
  await ledger.rest();
});

test("code that may have changed meanwhile is not started again: by default, sources stay as they run", async () => {
  const stateDirectory = await freshDirectory();
  const ledger = startLedgerThread({ stateDirectory, instanceId: "ins_a" });
  await ledger.ready();
  const { worker } = ledger as unknown as Inside;
  await ledger.rest();
  expect((ledger as unknown as Inside).worker).toBe(worker);
  await ledger.close();
});

test("what is spooled while no thread has opened the store is synced in time all the same", async () => {
  const own = await start();
  const { ledger, inside, stateDirectory } = own;
  const synced = vi.spyOn(LedgerSpool.prototype, "sync");
  await ledger.record(sampleEvent("attended"), "buffered");
  await ledger.record(sampleEvent("settled"), "durable");
  expect(synced).not.toHaveBeenCalled();
  await rested(own);
  const spawn = vi.spyOn(inside, "spawn").mockImplementation(() => {
    const deaf = new Worker("setInterval(() => undefined, 1000)", { eval: true });
    deaf.on("exit", () => (ledger as unknown as { lost: (worker: Worker) => void }).lost(deaf));
    return deaf;
  });
  expect(await ledger.record(sampleEvent("unattended"), "buffered")).toBeUndefined();
  await vi.waitFor(() => expect(synced).toHaveReturned(), { timeout: 120_000, interval: 10 });
  spawn.mockRestore();
  await inside.worker?.terminate();
  expect(await ledger.record(sampleEvent("after"), "durable")).toBe(4);
  await ledger.close();
  expect(await recorded(stateDirectory)).toEqual(["attended", "settled", "unattended", "after"]);
});

test("where no thread can be started durable events are refused, spooled ones are kept, and later ones are recorded", async () => {
  const own = await start();
  const { ledger, inside, stateDirectory } = own;
  await rested(own);
  const spawn = vi.spyOn(inside, "spawn").mockImplementation(() => {
    throw new Error("no more threads");
  });
  expect(await ledger.record(sampleEvent("spooled"), "buffered")).toBeUndefined();
  await expect(ledger.record(sampleEvent("durable"), "durable")).rejects.toMatchObject({ code: "LEDGER_UNAVAILABLE" });
  await expect(ledger.record(sampleEvent("buffered"), "buffered")).rejects.toMatchObject({
    code: "LEDGER_UNAVAILABLE",
  });
  await expect(ledger.openIntents()).rejects.toMatchObject({ code: "LEDGER_UNAVAILABLE" });
  expect(ledger.health().writable).toBe(false);
  await ledger.rest();
  spawn.mockRestore();
  expect(await ledger.record(sampleEvent("after"), "durable")).toBe(2);
  expect(ledger.health()).toEqual({ writable: true, waiting: 0 });
  await ledger.close();
  expect(await recorded(stateDirectory)).toEqual(["spooled", "after"]);
});
