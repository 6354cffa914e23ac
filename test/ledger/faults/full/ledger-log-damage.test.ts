/** The log of a ledger is damaged under a running kernel: nothing is written on, nor written back, nor begun on it. */
import { existsSync } from "node:fs";
import { appendFile, open, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import Sqlite from "better-sqlite3";
import { expect, onTestFinished, test, vi } from "vitest";
import { systemRandom } from "../../../../src/base/ids.ts";
import { pendingEntry } from "../../../../src/ledger/chain.ts";
import { appendBatch } from "../../../../src/ledger/ledger.ts";
import type { VerifyReport } from "../../../../src/ledger/verify.ts";
import { withLedgerReader } from "../../../../src/server/ledger/ledger-reader.ts";
import { startLedgerThread } from "../../../../src/server/ledger/ledger-thread.ts";
import { openLedgerStore } from "../../../../src/stores/embedded/ledger/ledger-store.ts";
import { sampleEvent } from "../../../stores/contract.ts";
import { type Child, startChild } from "../../../support/children/run.ts";
import { freshDirectory } from "../../../support/store-place.ts";
import { SOON } from "../../../support/waiting.ts";

const FRAME_BYTES = 4_120;
const WAIT_MS = 60_000;
const ADVICE = /damaged .*nothing was deleted: stop every kernel.*restore a backup/;

interface Damage {
  /** Counted from the end when it is negative. */
  readonly from: number;
  readonly bytes: number;
}

/** Overwrites bytes of the log in place. @returns how it was, and how it is */
async function overwrite(path: string, { from, bytes }: Damage): Promise<{ readonly before: Buffer; at: number }> {
  const before = await readFile(path);
  const at = from < 0 ? before.length + from : from;
  const file = await open(path, "r+");
  await file.write(Buffer.alloc(bytes, 0x41), 0, bytes, at);
  await file.close();
  return { before, at };
}

async function writing(): Promise<{ readonly child: Child; readonly directory: string; readonly log: string }> {
  const directory = await freshDirectory();
  const child = startChild("keep-recording", [directory]);
  await child.printed("ready");
  await child.printed("recorded");
  return { child, directory, log: join(directory, "ledger.db-wal") };
}

function verified(directory: string): Promise<VerifyReport> {
  return withLedgerReader(directory, (reader) => reader.verify());
}

/** Starts on the ledger as the next kernel does, and records one event. */
async function next(directory: string): Promise<number> {
  const ledger = startLedgerThread({ stateDirectory: directory, instanceId: "ins_b" });
  try {
    await ledger.ready();
    return await ledger.record(sampleEvent("next"), "durable");
  } finally {
    await ledger.close().catch(() => undefined);
  }
}

test.each<[string, "ends" | "is killed", Damage]>([
  ["half a kilobyte of its last frame", "ends", { from: -2_000, bytes: 512 }],
  ["half a kilobyte of its last frame", "is killed", { from: -2_000, bytes: 512 }],
  ["a few bytes near its end", "is killed", { from: -400, bytes: 4 }],
  ["a byte in its middle", "ends", { from: 20_000, bytes: 1 }],
])("%s: everything is refused until the kernel %s, and the next one refuses to start", async (_, end, damage) => {
  const { child, directory, log } = await writing();
  await overwrite(log, damage);
  await child.printed("refused");
  await sleep(3_500); // longer than any pause after which something is tried again
  const lines = child.lines().slice(child.lines().findIndex((line) => line.startsWith("refused")));
  expect(lines.length).toBeGreaterThan(5);
  for (const line of lines) expect(line).toMatch(ADVICE);
  const [kept, database] = await Promise.all([log, join(directory, "ledger.db")].map((path) => readFile(path)));
  if (end === "ends") child.process.stdin?.end();
  else child.process.kill("SIGKILL");
  await child.ended;
  for (let start = 0; start < 2; start++)
    await expect(next(directory)).rejects.toMatchObject({
      code: "STORE_CORRUPT",
      message: expect.stringMatching(ADVICE),
    });
  // of a log that is damaged early not even the tables are left
  const report = verified(directory).then(({ problems }) => Promise.reject(new Error(problems[0]?.problem)));
  await expect(report).rejects.toThrow(/stood in it|was damaged or cut/);
  expect(await readFile(log)).toEqual(kept);
  expect(await readFile(join(directory, "ledger.db"))).toEqual(database);
});

test("control: SQLite alone writes a damaged log back, and the ledger is damaged for good", async () => {
  const { child, directory, log } = await writing();
  child.process.kill("SIGSTOP");
  const path = join(directory, "ledger.db");
  const unaware = new Sqlite(path);
  await overwrite(log, { from: -2_000, bytes: 512 });
  unaware.pragma("wal_checkpoint(PASSIVE)");
  unaware.close();
  child.process.kill("SIGKILL");
  await child.ended;
  expect((await readFile(path)).includes(Buffer.alloc(512, 0x41))).toBe(true);
});

test("a damaged log whose bytes are put back is taken up again by the same kernel, and nothing is lost", async () => {
  const { child, directory, log } = await writing();
  const { before, at } = await overwrite(log, { from: -2_000, bytes: 512 });
  await child.printed("refused");
  expect(existsSync(join(directory, "ledger.damaged"))).toBe(true);
  const file = await open(log, "r+");
  await file.write(before.subarray(at, at + 512), 0, 512, at);
  await file.close();
  const refused = child.lines().length;
  const again = (): boolean => child.lines().some((line, index) => index >= refused && line.startsWith("recorded"));
  await vi.waitFor(() => expect(again()).toBe(true), { timeout: WAIT_MS });
  child.process.stdin?.end();
  expect(await child.ended).toBe("0");
  expect(child.lines().at(-1)).toBe("closed");
  expect(existsSync(join(directory, "ledger.damaged"))).toBe(false);
  const { ok, entries } = await verified(directory);
  expect([ok, entries]).toEqual([true, 120 + child.lines().filter((line) => line.startsWith("recorded")).length]);
});

test("a page of the store that a kernel found damaged is not begun on by the next one, either", async () => {
  const { child, directory } = await writing();
  const path = join(directory, "ledger.db");
  const database = new Sqlite(path);
  const hash = database.prepare<[], Buffer>("SELECT hash FROM entries WHERE seq = 60").pluck().get() ?? Buffer.alloc(0);
  expect(hash.length).toBeGreaterThan(8);
  let at = -1;
  await vi.waitFor(async () => {
    database.pragma("wal_checkpoint(PASSIVE)"); // as much of the log as nobody needs any more
    at = (await readFile(path)).indexOf(hash);
    expect(at).toBeGreaterThan(0);
  }, SOON);
  database.close();
  await overwrite(path, { from: at, bytes: 8 });
  await child.printed("refused");
  child.process.kill("SIGKILL");
  await child.ended;
  await expect(next(directory)).rejects.toThrow(ADVICE);
  const file = await open(path, "r+");
  await file.write(hash, 0, 8, at);
  await file.close();
  expect(await next(directory)).toBeGreaterThan(120);
  expect((await verified(directory)).ok).toBe(true);
});

test("a kernel that ends writes its log back, and the next one goes on", async () => {
  const { child, directory, log } = await writing();
  child.process.stdin?.end();
  expect(await child.ended).toBe("0");
  expect(existsSync(log)).toBe(false);
  expect(await next(directory)).toBeGreaterThan(120);
  expect((await verified(directory)).ok).toBe(true);
});

test("a frame that a killed kernel had not written to its end is no damage", async () => {
  const { child, directory, log } = await writing();
  child.process.kill("SIGKILL");
  await child.ended;
  const recorded = child.lines().filter((line) => line.startsWith("recorded")).length;
  const frames = await readFile(log);
  const torn = frames.subarray(32, 32 + FRAME_BYTES - 1_000); // with the salts of this log
  await appendFile(log, torn);
  expect(await next(directory)).toBeGreaterThan(120 + recorded);
  expect((await verified(directory)).ok).toBe(true);
});

test("a log that became long is written back once its sums were checked, and stays as it is where they are not", async () => {
  const directory = await freshDirectory();
  const path = join(directory, "ledger.db");
  const store = await openLedgerStore(directory);
  onTestFinished(() => store.leave());
  const by = { instanceId: "ins_a", random: systemRandom };
  const append = (name: string) => appendBatch(store, [pendingEntry(sampleEvent(name), "buffered")], by);
  for (let index = 0; index < 1_200; index++) await append(`r${index}`);
  const written = (await stat(path)).size;
  expect(written).toBeGreaterThan(100_000);
  expect((await stat(`${path}-wal`)).size).toBeLessThan(1_100 * FRAME_BYTES);
  await overwrite(`${path}-wal`, { from: 9_000, bytes: 1 });
  const refused = async () => {
    for (let index = 0; index < 1_200; index++) await append(`s${index}`);
  };
  await expect(refused()).rejects.toMatchObject({ code: "STORE_CORRUPT" });
  await expect(store.close()).rejects.toMatchObject({ code: "STORE_CORRUPT" });
  expect((await stat(path)).size).toBe(written);
  expect(existsSync(`${path}-wal`)).toBe(true);
});
