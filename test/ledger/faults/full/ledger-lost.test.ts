/** The files of the ledger go away under a running kernel: nothing is acknowledged that no file at its place holds. */
import { cpSync, renameSync, rmSync } from "node:fs";
import { cp, mkdir, open, readFile, rename, rm, stat, truncate } from "node:fs/promises";
import { dirname, join } from "node:path";
import Sqlite from "better-sqlite3";
import { expect, onTestFinished, test, vi } from "vitest";
import { systemRandom } from "../../../../src/base/ids.ts";
import type { LedgerThread } from "../../../../src/server/ledger/ledger-messages.ts";
import { ledgerOf } from "../../../../src/server/ledger/ledger-messages.ts";
import { openLedgerReader } from "../../../../src/server/ledger/ledger-reader.ts";
import { startLedgerThread } from "../../../../src/server/ledger/ledger-thread.ts";
import { openInstanceStore } from "../../../../src/stores/embedded/ledger/instance-store.ts";
import { sampleEvent } from "../../../stores/contract.ts";
import { freshDirectory } from "../../../support/store-place.ts";
import { SOON } from "../../../support/waiting.ts";

interface Running {
  readonly ledger: LedgerThread;
  readonly directory: string;
  readonly path: string;
}

/** A kernel's ledger with `count` durable entries in the directory `state` of a fresh one, still open. */
async function running(count = 8): Promise<Running> {
  const directory = join(await freshDirectory(), "state");
  await mkdir(directory, { mode: 0o700 });
  const ledger = startLedgerThread({ stateDirectory: directory, instanceId: "ins_a" });
  for (let index = 0; index < count; index++) await ledger.record(sampleEvent(`r${index}`), "durable");
  onTestFinished(() => ledger.close().catch(() => undefined));
  return { ledger, directory, path: join(directory, "ledger.db") };
}

const REFUSED = { code: "LEDGER_UNAVAILABLE" };

/** What a person or a program does to the files, and the words that name what is wrong. */
const LOSSES: readonly (readonly [string, (running: Running) => Promise<void>])[] = [
  ["the database is removed", ({ path }) => rm(path)],
  ["the database and its log are removed", ({ path }) => removeAll(path)],
  ["the database is moved away", ({ path }) => rename(path, `${path}.away`)],
  [
    "another copy of the database takes its place",
    async ({ path }) => {
      await cp(path, `${path}.copy`);
      await rename(`${path}.copy`, path);
    },
  ],
  ["the whole directory is moved away", ({ directory }) => rename(directory, `${directory}.away`)],
  ["the database is cut to nothing", ({ path }) => truncate(path, 0)],
  [
    "the database is cut to nothing after its log was written back, and the newest pages stand in the log again",
    async ({ ledger, path }) => {
      compact(path);
      await ledger.record(sampleEvent("newest"), "durable");
      await truncate(path, 0);
    },
  ],
];

/** Moves what stands in the log into the database, as tools that make backups do. */
function compact(path: string): void {
  const database = new Sqlite(path);
  database.pragma("wal_checkpoint(TRUNCATE)");
  database.close();
}

async function removeAll(path: string): Promise<void> {
  for (const suffix of ["", "-wal", "-shm"]) await rm(path + suffix, { force: true });
}

test.each(LOSSES)(
  "%s under a running kernel: durable events are refused from then on, and the reason is said",
  async (_, lose) => {
    const place = await running();
    compact(place.path); // what stands in the log alone could be rescued
    await place.ledger.record(sampleEvent("before"), "durable");
    await lose(place);
    for (const name of ["first", "second", "third"]) {
      await expect(place.ledger.record(sampleEvent(name, { intent: true }), "durable")).rejects.toMatchObject(REFUSED);
    }
    expect(place.ledger.health()).toMatchObject({ writable: false, problem: expect.stringContaining("ledger.db") });
  },
);

test("what SQLite's own tools do to the log does not stop the kernel", async () => {
  const place = await running();
  compact(place.path);
  expect(await place.ledger.record(sampleEvent("after"), "durable")).toBe(9);
});

test.each(["-wal", "-shm"])("the removal of ledger.db%s alone loses nothing", async (suffix) => {
  const place = await running();
  await rm(place.path + suffix);
  const answers = await Promise.allSettled(
    ["a", "b", "c"].map((name) => place.ledger.record(sampleEvent(name), "durable")),
  );
  await place.ledger.close();
  const reader = await openLedgerReader(place.directory);
  const report = await reader.verify();
  const ids = (await reader.tail(20)).map(({ entry }) => entry.requestId);
  await reader.close();
  expect(report.problems).toEqual([]);
  for (const [index, { status }] of answers.entries())
    if (status === "fulfilled") expect(ids).toContain(["a", "b", "c"][index]);
  expect(ids.slice(0, 8)).toEqual(Array.from({ length: 8 }, (_, index) => `r${index}`));
});

test("a ledger that was moved back is taken up again", async () => {
  const place = await running();
  await rename(place.path, `${place.path}.away`);
  await expect(place.ledger.record(sampleEvent("away"), "durable")).rejects.toMatchObject(REFUSED);
  await rename(`${place.path}.away`, place.path);
  expect(await place.ledger.record(sampleEvent("back"), "durable")).toBe(9);
});

test("a thread that rested does not begin another ledger in the place of the one that it closed", async () => {
  const directory = await freshDirectory();
  const ledger = startLedgerThread({ stateDirectory: directory, instanceId: "ins_a" }, { restarts: true });
  await ledger.record(sampleEvent("one"), "durable");
  await ledger.rest();
  await removeAll(join(directory, "ledger.db"));
  await expect(ledger.record(sampleEvent("two"), "durable")).rejects.toMatchObject(REFUSED);
  await ledger.close().catch(() => undefined);
});

test("a chain that is exchanged inside the same file is refused by the kernel that wrote it", async () => {
  const place = await running();
  const attacker = new Sqlite(place.path);
  attacker.exec("DELETE FROM entries WHERE seq > 5; DELETE FROM payloads WHERE seq > 5");
  attacker.exec("UPDATE head SET seq = 5, hash = (SELECT hash FROM entries WHERE seq = 5)");
  attacker.close();
  await expect(place.ledger.record(sampleEvent("after"), "durable")).rejects.toMatchObject(REFUSED);
  await expect(place.ledger.record(sampleEvent("later"), "durable")).rejects.toMatchObject(REFUSED);
});

test("a kernel whose lock file was removed records no more effects: others take it for dead", async () => {
  const directory = await freshDirectory();
  const instances = await openInstanceStore(directory, systemRandom);
  const instance = await instances.claim();
  const ledger = startLedgerThread(ledgerOf(directory, instance));
  await ledger.record(sampleEvent("one"), "durable");
  await rm(instance.claim?.path ?? "");
  expect(await instances.isAlive(instance.id)).toBe(false);
  await expect(ledger.record(sampleEvent("two"), "durable")).rejects.toThrow("restart the kernel");
  await ledger.close();
  await instance.release();
});

const SPOOL_LOSSES: readonly (readonly [string, (path: string) => void])[] = [
  ["removed", (path) => rmSync(path)],
  ["removed with its directory", (path) => rmSync(dirname(path), { recursive: true })],
  [
    "replaced by a copy",
    (path) => {
      cpSync(path, `${path}.copy`);
      renameSync(`${path}.copy`, path);
    },
  ],
];

test.each(SPOOL_LOSSES)("once the spool was %s, what is recorded waits for the chain itself", async (_, lose) => {
  const place = await running(1);
  const spool = join(place.directory, "spool", "ins_a");
  expect(await place.ledger.record(sampleEvent("spooled"), "buffered")).toBeUndefined();
  await vi.waitFor(async () => expect((await stat(spool)).size).toBe(0), SOON);
  lose(spool);
  expect(await place.ledger.record(sampleEvent("read"), "buffered")).toBe(3);
  expect(await place.ledger.record(sampleEvent("read again"), "buffered")).toBe(4);
  expect(await place.ledger.record(sampleEvent("effect"), "durable")).toBe(5);
});

test.each(SPOOL_LOSSES.slice(0, 2))(
  "once what was spooled was %s, all is refused, and the chain says what is lost",
  async (...row) => {
    const [, lose] = row;
    const place = await running(1);
    await place.ledger.record(sampleEvent("lost"), "buffered");
    lose(join(place.directory, "spool", "ins_a")); // the worker has not been told yet
    await place.ledger.record(sampleEvent("read"), "buffered").catch(() => undefined);
    await vi.waitFor(() => expect(place.ledger.health().writable).toBe(false), SOON);
    await expect(place.ledger.record(sampleEvent("read"), "buffered")).rejects.toMatchObject(REFUSED);
    await expect(place.ledger.record(sampleEvent("effect"), "durable")).rejects.toMatchObject(REFUSED);
    const reader = await openLedgerReader(place.directory);
    const last = (await reader.tail(1))[0];
    await reader.close();
    expect(last?.entry.eventType).toBe("spool_damaged");
    expect(JSON.parse(Buffer.from(last?.payload ?? []).toString())).toMatchObject({
      instance_id: "ins_a",
      severity: "critical",
    });
  },
);

test("a payload without an entry stops nothing, and verification finds it", async () => {
  const place = await running(3);
  const attacker = new Sqlite(place.path);
  attacker.exec("INSERT INTO payloads VALUES (4, x'00', x'00'), (77, x'00', x'00')");
  attacker.close();
  expect(await place.ledger.record(sampleEvent("four"), "durable")).toBe(4);
  const reader = await openLedgerReader(place.directory);
  const problem = "there is a payload, but no entry that it belongs to";
  expect((await reader.verify()).problems).toEqual([{ sequence: 77, problem }]);
  await reader.close();
});

/**
 * Overwrites `count` pages of the database from page `first` on, as a disk or another program may; the file stays as
 * long as it was.
 */
async function overwrite(
  path: string,
  fill: number,
  pages?: { readonly first: number; readonly count: number },
): Promise<void> {
  const { size } = await stat(path);
  const { first, count } = pages ?? { first: 0, count: size / PAGE_BYTES };
  const file = await open(path, "r+");
  await file.write(Buffer.alloc(count * PAGE_BYTES, fill), 0, count * PAGE_BYTES, first * PAGE_BYTES);
  await file.close();
  expect((await stat(path)).size).toBe(size);
}

const PAGE_BYTES = 4096;
/** Five times what a busy machine takes. */
const WAIT_MS = 30_000;

/** The page on which the entry `sequence` stands. */
async function pageOf(path: string, sequence: number): Promise<number> {
  const database = new Sqlite(path, { readonly: true });
  const hash =
    database.prepare<[number], Buffer>("SELECT hash FROM entries WHERE seq = ?").pluck().get(sequence) ??
    Buffer.alloc(0);
  expect(database.pragma("page_size", { simple: true })).toBe(PAGE_BYTES);
  database.close();
  return Math.floor((await readFile(path)).indexOf(hash) / PAGE_BYTES);
}

test.each<[string, (path: string) => Promise<void>]>([
  ["all of it is zeroed", (path) => overwrite(path, 0)],
  ["all of it is filled", (path) => overwrite(path, 0xff)],
  [
    "all but its first page is zeroed",
    async (path) => overwrite(path, 0, { first: 1, count: (await stat(path)).size / PAGE_BYTES - 1 }),
  ],
  ["one page in its middle is zeroed", async (path) => overwrite(path, 0, { first: await pageOf(path, 60), count: 1 })],
  [
    "one page in its middle is filled",
    async (path) => overwrite(path, 0xff, { first: await pageOf(path, 60), count: 1 }),
  ],
])("a ledger that is damaged in place under a running kernel is refused soon, and stays so: %s", async (_, damage) => {
  const place = await running(120);
  compact(place.path);
  await place.ledger.record(sampleEvent("before"), "durable");
  await damage(place.path);
  const refused = () =>
    expect(place.ledger.record(sampleEvent("after", { intent: true }), "durable")).rejects.toMatchObject(REFUSED);
  await vi.waitFor(refused, { timeout: WAIT_MS, interval: 20 });
  for (let index = 0; index < 5; index++) await refused();
  expect(place.ledger.health()).toMatchObject({
    writable: false,
    problem: expect.stringMatching(/`ledger.db`.*damaged/),
  });
  await new Promise((done) => setTimeout(done, 1_500)); // longer than the pause between two tries
  await refused();
});

test.each([
  ["zeroed", 0, { from: 0 }],
  ["filled", 0xff, { from: 0 }],
  ["without a header", 0, { from: 0, bytes: 32 }],
  ["damaged in its first frame", 0x41, { from: 40, bytes: 512 }],
  ["damaged in its second frame", 0x41, { from: 4_152, bytes: 512 }],
  ["damaged in a page", 0x41, { from: 8_192, bytes: 512 }],
  ["damaged in a byte", 0x41, { from: 20_000, bytes: 1 }],
  ["damaged near its end", 0x41, { from: -2_000, bytes: 512 }],
])(
  "a log that is %s under a running kernel is refused soon",
  async (_, fill, damage: { from: number; bytes?: number }) => {
    const { from, bytes } = damage;
    const place = await running(120);
    await place.ledger.record(sampleEvent("before"), "durable");
    const log = `${place.path}-wal`;
    const { size } = await stat(log);
    const file = await open(log, "r+");
    const at = from < 0 ? size + from : from;
    await file.write(Buffer.alloc(bytes ?? size, fill), 0, bytes ?? size, at);
    await file.close();
    // fewer than make SQLite write the log back, which would notice it, too
    const outcomes = [];
    for (let index = 0; index < 40 && outcomes.at(-1) !== "refused"; index++) {
      await new Promise((done) => setTimeout(done, 100));
      outcomes.push(
        await place.ledger.record(sampleEvent(`after${index}`), "durable").then(
          () => "done",
          () => "refused",
        ),
      );
    }
    expect(outcomes.at(-1)).toBe("refused");
    await expect(place.ledger.record(sampleEvent("later"), "durable")).rejects.toMatchObject(REFUSED);
  },
);

test("damage that comes while the thread rests is noticed once it writes again", async () => {
  const directory = await freshDirectory();
  const path = join(directory, "ledger.db");
  const ledger = startLedgerThread({ stateDirectory: directory, instanceId: "ins_a" }, { restarts: true });
  onTestFinished(() => ledger.close().catch(() => undefined));
  for (let index = 0; index < 120; index++) await ledger.record(sampleEvent(`r${index}`), "durable");
  await ledger.rest();
  await overwrite(path, 0, { first: await pageOf(path, 60), count: 1 });
  await vi.waitFor(() => expect(ledger.record(sampleEvent("after"), "durable")).rejects.toMatchObject(REFUSED), {
    timeout: WAIT_MS,
  });
});

test("a ledger that was damaged in place and put back is taken up again", async () => {
  const place = await running(120);
  compact(place.path);
  const sound = await readFile(place.path);
  const page = await pageOf(place.path, 60);
  await overwrite(place.path, 0, { first: page, count: 1 });
  await vi.waitFor(() => expect(place.ledger.record(sampleEvent("after"), "durable")).rejects.toMatchObject(REFUSED), {
    timeout: WAIT_MS,
  });
  // That page alone: events may have been recorded before the damage was found, and an older file is another ledger.
  const file = await open(place.path, "r+");
  await file.write(sound, page * PAGE_BYTES, PAGE_BYTES, page * PAGE_BYTES);
  await file.close();
  await vi.waitFor(async () => expect(await place.ledger.record(sampleEvent("again"), "durable")).toBeGreaterThan(0), {
    timeout: WAIT_MS,
  });
});

test("control: a ledger whose log is written back over and over is not taken for damaged", async () => {
  const place = await running(20);
  for (let round = 0; round < 4; round++) {
    compact(place.path);
    expect(await place.ledger.record(sampleEvent(`r${round}`), "durable")).toBeGreaterThan(20);
    await new Promise((done) => setTimeout(done, 400));
  }
});

test("control: while its files stay in place, the same kernel goes on", async () => {
  const place = await running();
  await place.ledger.record(sampleEvent("one more"), "durable");
  const reader = await openLedgerReader(place.directory);
  expect((await reader.verify()).ok).toBe(true);
  await reader.close();
});
