/** The thread that writes the ledger: order, limits, clocks, and its own death. */
import { chmod, readdir } from "node:fs/promises";
import type { Worker } from "node:worker_threads";
import { expect, test, vi } from "vitest";
import { LEDGER_BATCH_MAX } from "../../../src/base/limits.ts";
import { LEDGER_PAYLOAD_BYTES_MAX } from "../../../src/ledger/chain.ts";
import { IntentNotOpenError } from "../../../src/ledger/orphans.ts";
import { openLedgerReader } from "../../../src/server/ledger/ledger-reader.ts";
import { startLedgerThread } from "../../../src/server/ledger/ledger-thread.ts";
import { LEDGER_QUEUE_CHARACTERS_MAX } from "../../../src/server/ledger/limits.ts";
import { openLedgerStore } from "../../../src/stores/embedded/ledger/ledger-store.ts";
import { sampleEvent } from "../../stores/contract.ts";
import { freshDirectory } from "../../support/store-place.ts";

test("without a spool events get their sequences in the order they were recorded, across several batches", async () => {
  const stateDirectory = await freshDirectory();
  const ledger = startLedgerThread({ stateDirectory, instanceId: "ins_a" }, { spool: false });
  const count = LEDGER_BATCH_MAX * 2 + 3;
  const sequences = await Promise.all(
    Array.from({ length: count }, (_, index) =>
      ledger.record(sampleEvent(`r${index}`), index % 3 === 0 ? "durable" : "buffered"),
    ),
  );
  expect(sequences).toEqual(Array.from({ length: count }, (_, index) => index + 1));
  await ledger.close();
  const reader = await openLedgerReader(stateDirectory);
  expect((await reader.verify()).problems).toEqual([]);
  expect((await reader.tail(1))[0]?.entry.requestId).toBe(`r${count - 1}`);
  await reader.close();
});

test("the ledger is read and verified while a kernel writes it", async () => {
  const stateDirectory = await freshDirectory();
  const ledger = startLedgerThread({ stateDirectory, instanceId: "ins_a" });
  await ledger.record(sampleEvent("first"), "durable");
  const reader = await openLedgerReader(stateDirectory);
  let writing = true;
  const writer = (async () => {
    for (let count = 0; writing && count < 20_000; count++) await ledger.record(sampleEvent(`r${count}`), "buffered");
  })();
  const progress: number[] = [];
  for (let round = 0; round < 20; round++)
    expect((await reader.verify(({ entries }) => progress.push(entries))).problems).toEqual([]);
  writing = false;
  await writer;
  expect(progress.length).toBeGreaterThanOrEqual(20);
  expect((await reader.show(1))?.entry.requestId).toBe("first");
  expect(await reader.show(1_000_000)).toBeUndefined();
  await reader.close();
  await ledger.close();
});

test("a clock that goes backwards is recorded as it is; the sequence is the order", async () => {
  const stateDirectory = await freshDirectory();
  const ledger = startLedgerThread({ stateDirectory, instanceId: "ins_a" });
  for (const timeMs of [2000.5, 1000, -5]) await ledger.record(sampleEvent("r", { timeMs }), "durable");
  const reader = await openLedgerReader(stateDirectory);
  expect((await reader.tail(3)).map(({ entry }) => [entry.sequence, entry.timeMicros])).toEqual([
    [1, 2_000_500],
    [2, 1_000_000],
    [3, 0],
  ]);
  expect((await reader.verify()).ok).toBe(true);
  await reader.close();
  await ledger.close();
});

test("a payload at the limit is kept, a larger one is recorded by digest and size", async () => {
  const stateDirectory = await freshDirectory();
  const ledger = startLedgerThread({ stateDirectory, instanceId: "ins_a" });
  const fits = "x".repeat(LEDGER_PAYLOAD_BYTES_MAX - '{"a":""}'.length);
  await ledger.record(sampleEvent("fits", { payload: { a: fits } }), "durable");
  await ledger.record(sampleEvent("large", { payload: { a: `${fits}x` } }), "durable");
  await ledger.close();
  const reader = await openLedgerReader(stateDirectory);
  expect((await reader.show(1))?.entry.payloadBytes).toBe(LEDGER_PAYLOAD_BYTES_MAX);
  expect(JSON.parse(Buffer.from((await reader.show(2))?.payload ?? []).toString())).toEqual({
    payload_omitted: { blake3: expect.stringMatching(/^[0-9a-f]{64}$/), bytes: LEDGER_PAYLOAD_BYTES_MAX + 1 },
  });
  await reader.close();
});

test("an event whose payload has no canonical form is refused and the others are recorded", async () => {
  const ledger = startLedgerThread({ stateDirectory: await freshDirectory(), instanceId: "ins_a" });
  const [bad, good] = await Promise.allSettled([
    ledger.record(sampleEvent("bad", { payload: { text: "\ud800" } }), "durable"),
    ledger.record(sampleEvent("good"), "durable"),
  ]);
  for (const change of [{ timeMs: Number.NaN }, { actor: "\ud800" }, { requestId: "\ud800" }])
    await expect(ledger.record(sampleEvent("bad", change), "buffered")).rejects.toMatchObject({ code: "INTERNAL" });
  expect(bad).toMatchObject({ status: "rejected", reason: { code: "INTERNAL" } });
  expect(good).toEqual({ status: "fulfilled", value: 1 });
  await ledger.close();
});

test("closing an intent twice is refused, and the intent is listed until it is closed", async () => {
  const ledger = startLedgerThread({ stateDirectory: await freshDirectory(), instanceId: "ins_a" });
  const intent = await ledger.record(sampleEvent("intent", { intent: true }), "durable");
  expect(await ledger.openIntents()).toEqual([
    { sequence: intent, instanceId: "ins_a", sessionId: "ses_a", actor: "agent", requestId: "intent" },
  ]);
  expect(await ledger.record(sampleEvent("outcome", { closes: intent }), "durable")).toBe(2);
  await expect(ledger.record(sampleEvent("again", { closes: intent }), "durable")).rejects.toBeInstanceOf(
    IntentNotOpenError,
  );
  expect(await ledger.openIntents()).toEqual([]);
  expect(ledger.health()).toEqual({ writable: true, waiting: 0 });
  await ledger.close();
});

test("beyond the queue's limit events are refused, and those within are recorded", async () => {
  const ledger = startLedgerThread(
    { stateDirectory: await freshDirectory(), instanceId: "ins_a" },
    { queueMax: 100, spool: false },
  );
  const waiting = Array.from({ length: 100 }, () => ledger.record(sampleEvent("r"), "buffered"));
  await expect(ledger.record(sampleEvent("r"), "buffered")).rejects.toMatchObject({ code: "LEDGER_UNAVAILABLE" });
  expect((await Promise.all(waiting)).at(-1)).toBe(100);
  expect(await ledger.record(sampleEvent("r"), "buffered")).toBe(101);
  await ledger.close();
});

test("large payloads beyond the queue's limit are refused, and those within are recorded", async () => {
  const ledger = startLedgerThread({ stateDirectory: await freshDirectory(), instanceId: "ins_a" }, { spool: false });
  const event = sampleEvent("r", { payload: { a: "x".repeat(LEDGER_PAYLOAD_BYTES_MAX - '{"a":""}'.length) } });
  const fitting = LEDGER_QUEUE_CHARACTERS_MAX / LEDGER_PAYLOAD_BYTES_MAX;
  const waiting = Array.from({ length: fitting }, () => ledger.record(event, "buffered"));
  await expect(ledger.record(event, "buffered")).rejects.toMatchObject({ code: "LEDGER_UNAVAILABLE" });
  expect((await Promise.all(waiting)).at(-1)).toBe(fitting);
  expect(await ledger.record(event, "buffered")).toBe(fitting + 1);
  await ledger.close();
});

test("a ledger that could not be opened is opened once that is possible", async () => {
  const stateDirectory = await freshDirectory();
  await chmod(stateDirectory, 0o777);
  const ledger = startLedgerThread({ stateDirectory, instanceId: "ins_a" });
  await expect(ledger.ready()).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  await expect(ledger.record(sampleEvent("early"), "durable")).rejects.toMatchObject({ code: "LEDGER_UNAVAILABLE" });
  expect(ledger.health().writable).toBe(false);
  await chmod(stateDirectory, 0o700);
  expect(await ledger.record(sampleEvent("late"), "durable")).toBe(1);
  expect(ledger.health()).toEqual({ writable: true, waiting: 0 });
  await ledger.close();
});

test("a ledger that could not be opened is found writable again without any event", async () => {
  const stateDirectory = await freshDirectory();
  await chmod(stateDirectory, 0o777);
  const ledger = startLedgerThread({ stateDirectory, instanceId: "ins_a" });
  await expect(ledger.ready()).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  expect(ledger.health().writable).toBe(false);
  await chmod(stateDirectory, 0o700);
  // The retry does not keep the process alive, and a timer of the test does.
  await vi.waitFor(() => expect(ledger.health()).toEqual({ writable: true, waiting: 0 }), {
    timeout: 120_000,
    interval: 20,
  });
  expect(await ledger.record(sampleEvent("late"), "durable")).toBe(1);
  await ledger.close();
});

test("closing records what waits, makes it durable, and leaves no log behind; later events are refused", async () => {
  const stateDirectory = await freshDirectory();
  const ledger = startLedgerThread({ stateDirectory, instanceId: "ins_a" });
  const last = ledger.record(sampleEvent("last"), "buffered");
  await ledger.close();
  expect(await last).toBeUndefined();
  expect(await readdir(stateDirectory, { recursive: true })).toEqual(["anchor", "ledger.db", "spool"]);
  await expect(ledger.record(sampleEvent("late"), "buffered")).rejects.toMatchObject({ code: "LEDGER_UNAVAILABLE" });
  await expect(ledger.openIntents()).rejects.toMatchObject({ code: "LEDGER_UNAVAILABLE" });
  await ledger.close();
  const store = await openLedgerStore(stateDirectory);
  expect((await store.head()).sequence).toBe(1);
  await store.close();
});

test("when the thread dies every waiting event is answered, and a new thread continues the chain", async () => {
  const stateDirectory = await freshDirectory();
  const ledger = startLedgerThread({ stateDirectory, instanceId: "ins_a" });
  expect(await ledger.record(sampleEvent("before"), "durable")).toBe(1);
  const waiting = Array.from({ length: 100 }, (_, index) => ledger.record(sampleEvent(`w${index}`), "durable"));
  const answers = Promise.allSettled(waiting);
  await (ledger as unknown as { readonly worker: Worker }).worker.terminate();
  const acknowledged = (await answers).flatMap((answer) => (answer.status === "fulfilled" ? [answer.value] : []));
  const after = await ledger.record(sampleEvent("after"), "durable");
  expect(ledger.health()).toEqual({ writable: true, waiting: 0 });
  await ledger.close();
  const reader = await openLedgerReader(stateDirectory);
  expect((await reader.verify()).problems).toEqual([]);
  expect((await reader.show(after))?.entry.requestId).toBe("after");
  for (const sequence of acknowledged) expect((await reader.show(sequence))?.entry.requestId).toBe(`w${sequence - 2}`);
  await reader.close();
});
