/**
 * A ledger that is not what it was when a kernel last wrote it: removed, cut, exchanged. The anchor beside it says so.
 */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { copyFile, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import Sqlite from "better-sqlite3";
import { expect, test } from "vitest";
import { hex } from "../../../../src/base/bytes.ts";
import { createKernel } from "../../../../src/index.ts";
import { acceptLoss } from "../../../../src/server/ledger/ledger-acceptance.ts";
import { LEDGER_ANCHOR_PAUSE_MS } from "../../../../src/server/ledger/ledger-anchoring.ts";
import { openLedgerReader } from "../../../../src/server/ledger/ledger-reader.ts";
import { startLedgerThread } from "../../../../src/server/ledger/ledger-thread.ts";
import { openAnchorStore } from "../../../../src/stores/embedded/ledger/anchor-store.ts";
import { openStateStores } from "../../../../src/stores/embedded/sessions/state-stores.ts";
import { sampleEvent } from "../../../stores/contract.ts";
import { freshPlace } from "../../../support/place.ts";
import { freshDirectory } from "../../../support/store-place.ts";

/** A kernel that records `names` durably and ends. */
async function session(directory: string, ...names: readonly string[]): Promise<void> {
  await (await openStateStores(directory)).sessions.close();
  const ledger = startLedgerThread({ stateDirectory: directory, instanceId: "ins_a" });
  try {
    for (const name of names) await ledger.record(sampleEvent(name), "durable");
  } finally {
    await ledger.close();
  }
}

async function problemsOf(directory: string): Promise<readonly string[]> {
  const reader = await openLedgerReader(directory);
  const { ok, problems } = await reader.verify();
  await reader.close();
  expect(ok).toBe(problems.length === 0);
  return problems.map(({ sequence, problem }) => `${sequence}: ${problem}`);
}

async function entriesOf(directory: string): Promise<readonly (readonly [string, Record<string, unknown>])[]> {
  const reader = await openLedgerReader(directory);
  const records = await reader.range(1, 100);
  await reader.close();
  return records.map(({ entry, payload }) => [entry.eventType, JSON.parse(Buffer.from(payload ?? []).toString())]);
}

const ledgerOf = (directory: string): string => join(directory, "ledger.db");
const anchorOf = (directory: string): string => join(directory, "anchor");
const act = { by: "ada", reason: "the disk was changed" };

test("the anchor follows the head: with the first durable event, and when a kernel ends", async () => {
  const directory = await freshDirectory();
  const ledger = startLedgerThread({ stateDirectory: directory, instanceId: "ins_a" });
  await ledger.record(sampleEvent("one"), "durable");
  expect(openAnchorStore(directory).read()?.sequence).toBe(1);
  for (const name of ["two", "three"]) await ledger.record(sampleEvent(name), "durable");
  await ledger.close();
  const anchor = openAnchorStore(directory).read();
  const reader = await openLedgerReader(directory);
  const head = await reader.head();
  expect(anchor).toEqual({
    chain: Buffer.from((await reader.show(1))?.hash ?? []),
    sequence: 3,
    hash: Buffer.from(head.hash),
  });
  await reader.close();
  expect(await problemsOf(directory)).toEqual([]);
});

test("whoever starts a kernel is told that the ledger began anew, once", async () => {
  const directory = await freshDirectory();
  await session(directory, "one");
  await rm(ledgerOf(directory));
  const told: boolean[] = [];
  for (const name of ["two", "three"]) {
    const ledger = startLedgerThread({ stateDirectory: directory, instanceId: "ins_a" });
    await ledger.ready();
    told.push(ledger.isAnew());
    await ledger.record(sampleEvent(name), "durable");
    await ledger.close();
  }
  expect(told).toEqual([true, false]);
});

test("a chain that begins anew says so first, and does not verify until a person accepts that", async () => {
  const directory = await freshDirectory();
  await session(directory, "one", "two");
  const lost = openAnchorStore(directory).read();
  await rm(ledgerOf(directory));
  await session(directory, "three");
  const [first, second] = await entriesOf(directory);
  const facts = { chain: hex(lost?.chain ?? new Uint8Array()), sequence: 2, hash: hex(lost?.hash ?? new Uint8Array()) };
  expect(first).toEqual(["ledger_restarted", { lost: facts, severity: "critical" }]);
  expect(second?.[0]).toBe("tool_executed");
  expect(await problemsOf(directory)).toEqual([expect.stringContaining("1: it says that entries are lost")]);
  await session(directory, "four");
  expect(await problemsOf(directory)).toHaveLength(1);

  await expect(acceptLoss(directory, { by: "ada", reason: " " })).rejects.toMatchObject({ code: "USAGE" });
  expect(await acceptLoss(directory, act)).toBe(4);
  expect((await entriesOf(directory)).at(-1)).toEqual(["ledger_accepted", { ...act, severity: "warning" }]);
  expect(await problemsOf(directory)).toEqual([]);
  await expect(acceptLoss(directory, act)).rejects.toThrow("nothing is lost");
  await session(directory, "five");
  expect(await problemsOf(directory)).toEqual([]);
});

test("control: without an anchor a removed ledger begins anew in silence", async () => {
  const directory = await freshDirectory();
  await session(directory, "one", "two");
  for (const path of [ledgerOf(directory), anchorOf(directory)]) await rm(path);
  await session(directory, "three");
  expect(await entriesOf(directory)).toHaveLength(1);
  expect(await problemsOf(directory)).toEqual([]);
});

/** A place, and what opens a kernel with a session there and closes it. */
function placeOfKernels() {
  const place = freshPlace();
  const opened = async () => {
    const kernel = await createKernel({
      stateDirectory: place.state,
      configDirectory: place.config,
      environment: { HOME: place.home },
      onWarning: () => undefined,
    });
    await kernel.openSession({ workspace: place.workspace });
    await kernel.close();
  };
  return { place, opened };
}

test("a ledger that is removed with its anchor is missed by the sessions that it told of", async () => {
  const { place, opened } = placeOfKernels();
  await opened();
  expect(await problemsOf(place.state)).toEqual([]);
  for (const name of ["ledger.db", "ledger.db-wal", "ledger.db-shm", "anchor"])
    await rm(join(place.state, name), { force: true });
  await opened();
  expect(await problemsOf(place.state)).toEqual([expect.stringContaining("entries are lost")]);
});

test.each<[string, (path: string) => Promise<void>]>([
  ["emptied", (path) => truncate(path, 0)],
  ["removed", (path) => rm(path)],
])("an anchor that is %s under a running kernel is written anew, and the chain says so once", async (_, lose) => {
  const directory = await freshDirectory();
  const ledger = startLedgerThread({ stateDirectory: directory, instanceId: "ins_a" });
  for (const name of ["one", "two"]) await ledger.record(sampleEvent(name), "durable");
  await lose(anchorOf(directory));
  await ledger.record(sampleEvent("three"), "durable");
  await new Promise((done) => setTimeout(done, LEDGER_ANCHOR_PAUSE_MS + 200));
  for (const name of ["four", "five"]) await ledger.record(sampleEvent(name), "durable");
  await ledger.close();
  const said = (await entriesOf(directory)).filter(([type]) => type === "anchor_rewritten");
  expect(said).toEqual([["anchor_rewritten", { instance_id: "ins_a", severity: "critical" }]]);
  expect(openAnchorStore(directory).read()?.sequence).toBe(6);
  expect(await problemsOf(directory)).toEqual([]);
});

test("the control: an anchor that stays is not said to be written anew", async () => {
  const directory = await freshDirectory();
  await session(directory, "one", "two");
  await session(directory, "three");
  expect((await entriesOf(directory)).map(([type]) => type)).not.toContain("anchor_rewritten");
});

test("a key of the evidence that is removed is not made anew until a person accepts that", async () => {
  const { place, opened } = placeOfKernels();
  await opened();
  await opened(); // the control: with its key it starts again
  await rm(join(place.state, "evidence.key"));
  await expect(opened()).rejects.toMatchObject({
    code: "STORE_CORRUPT",
    message: expect.stringContaining("`evidence.key` was removed"),
  });
  expect(existsSync(join(place.state, "evidence.key"))).toBe(false);
  expect(await problemsOf(place.state)).toEqual(["0: `evidence.key` was removed from the state directory"]);
  await acceptLoss(place.state, act);
  expect((await entriesOf(place.state)).at(-1)).toEqual([
    "ledger_accepted",
    { ...act, keyLost: true, severity: "warning" },
  ]);
  expect(await problemsOf(place.state)).toEqual([]);
  await opened();
  expect(await problemsOf(place.state)).toEqual([]);
});

/** What is done to a ledger of four entries while no kernel runs; each leaves a chain that is consistent in itself. */
const EXCHANGES: readonly (readonly [string, string, (directory: string, older: string) => Promise<void>])[] = [
  [
    "an older copy is put in its place",
    "it ends at entry 2, but entry 4 stood in it",
    (directory, older) => copyFile(older, ledgerOf(directory)),
  ],
  [
    "its tail is cut off together with the head",
    "it ends at entry 3, but entry 4 stood in it",
    async (directory) => {
      const attacker = new Sqlite(ledgerOf(directory));
      attacker.exec("DELETE FROM entries WHERE seq = 4; DELETE FROM payloads WHERE seq = 4");
      attacker.exec("UPDATE head SET seq = 3, hash = (SELECT hash FROM entries WHERE seq = 3)");
      attacker.close();
    },
  ],
  [
    "another chain takes its place",
    "it is another chain than the one that is anchored at entry 4",
    async (directory) => {
      const other = await freshDirectory();
      await session(other, "a", "b", "c", "d", "e");
      await copyFile(ledgerOf(other), ledgerOf(directory));
    },
  ],
  [
    "its tail is another one",
    "entry 4 is not the one that is anchored",
    async (directory, older) => {
      const other = await freshDirectory();
      await copyFile(older, ledgerOf(other));
      const ledger = new Sqlite(ledgerOf(other));
      ledger.exec("UPDATE syncs SET anchored = 0");
      ledger.close();
      await session(other, "not three", "not four", "not five");
      await copyFile(ledgerOf(other), ledgerOf(directory));
    },
  ],
  ["its anchor is removed", "its anchor is missing", (directory) => rm(anchorOf(directory))],
  [
    "its anchor is overwritten",
    "`anchor` in the state directory cannot be read",
    (directory) => writeFile(anchorOf(directory), "rubbish"),
  ],
];

test.each(EXCHANGES)("%s: kernels refuse it, verify says so, and a person may accept it", async (_, words, change) => {
  const directory = await freshDirectory();
  await session(directory, "one", "two");
  const older = join(await freshDirectory(), "older");
  await copyFile(ledgerOf(directory), older);
  await session(directory, "three", "four");
  await change(directory, older);
  expect(await problemsOf(directory)).toEqual([expect.stringContaining(words)]);
  const before = (await entriesOf(directory)).length;

  const ledger = startLedgerThread({ stateDirectory: directory, instanceId: "ins_b" });
  await expect(ledger.ready()).rejects.toMatchObject({
    code: "STORE_CORRUPT",
    message: expect.stringContaining("handrail ledger accept"),
  });
  await expect(ledger.record(sampleEvent("effect"), "durable")).rejects.toMatchObject({ code: "LEDGER_UNAVAILABLE" });
  await expect(ledger.record(sampleEvent("read"), "buffered")).rejects.toMatchObject({ code: "LEDGER_UNAVAILABLE" });
  await ledger.close();
  expect(await entriesOf(directory)).toHaveLength(before);

  expect(await acceptLoss(directory, act)).toBe(before + 2);
  expect((await entriesOf(directory)).slice(before).map(([type]) => type)).toEqual([
    "ledger_restarted",
    "ledger_accepted",
  ]);
  await session(directory, "after");
  expect(await problemsOf(directory)).toEqual([]);
});

test("sessions and freezes that were removed are not begun anew in silence: a freeze does not end so", async () => {
  const directory = await freshDirectory();
  await session(directory, "one");
  for (const suffix of ["", "-wal", "-shm"]) await rm(join(directory, `state.db${suffix}`), { force: true });
  await expect(openStateStores(directory)).rejects.toMatchObject({
    code: "STORE_CORRUPT",
    message: expect.stringContaining("`state.db`"),
  });
  expect(await acceptLoss(directory, act)).toBe(2);
  expect((await entriesOf(directory)).at(-1)).toEqual([
    "ledger_accepted",
    { ...act, stateLost: true, severity: "warning" },
  ]);
  await session(directory, "two");
  expect(await problemsOf(directory)).toEqual([]);
});

test("a ledger that never had an anchor gets one", async () => {
  const directory = await freshDirectory();
  await session(directory, "one");
  const ledger = new Sqlite(ledgerOf(directory));
  ledger.exec("UPDATE syncs SET anchored = 0");
  ledger.close();
  await rm(anchorOf(directory));
  await session(directory, "two");
  expect(openAnchorStore(directory).read()?.sequence).toBe(2);
  expect(await problemsOf(directory)).toEqual([]);
});

test("an anchor moves forward only, also where several processes move it at once, and outlives a write that broke off", async () => {
  const directory = await freshDirectory();
  const anchors = openAnchorStore(directory);
  const chain = Buffer.alloc(32, 1);
  const at = (sequence: number) => ({ chain, sequence, hash: Buffer.alloc(32, 2) });
  for (const sequence of [5, 7, 6]) anchors.advance(at(sequence));
  expect(anchors.read()?.sequence).toBe(7);
  expect(() => anchors.advance({ ...at(9), chain: Buffer.alloc(32, 3) })).toThrow("names another chain");

  const script = `
    import { openAnchorStore } from ${JSON.stringify(new URL("../../../../src/stores/embedded/ledger/anchor-store.ts", import.meta.url).href)};
    const anchors = openAnchorStore(${JSON.stringify(directory)});
    const chain = Buffer.alloc(32, 1);
    for (let round = 0; round < 40; round++) {
      const sequence = 10 + ((round * 17 + Number(process.argv[1])) % 100);
      const before = anchors.read().sequence;
      anchors.advance({ chain, sequence, hash: Buffer.alloc(32, 2) });
      if (anchors.read().sequence < Math.max(before, sequence)) throw new Error("it went back");
    }`;
  const run = promisify(execFile);
  await Promise.all(["1", "2", "3"].map((name) => run(process.execPath, ["--input-type=module", "-e", script, name])));
  const last = anchors.read()?.sequence ?? 0;
  expect(last).toBeGreaterThan(100);

  const lines = (await readFile(anchorOf(directory), "latin1")).match(/[^\n]+\n/g) ?? [];
  const newest = lines.findIndex((line) => line.split(" ")[1] === String(last));
  lines[newest] = `${"x".repeat(255)}\n`;
  await writeFile(anchorOf(directory), lines.join(""));
  expect(anchors.read()?.sequence).toBeLessThanOrEqual(last);
  expect(anchors.read()?.chain).toEqual(chain);
  await writeFile(anchorOf(directory), "x".repeat(512));
  expect(() => anchors.read()).toThrow("cannot be read");
});
