/** Files that a disk, and not a forger, damaged: nothing is repaired or deleted, and the message says what to do. */
import { chown, mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { geteuid } from "node:process";
import Sqlite from "better-sqlite3";
import { expect, test } from "vitest";
import { systemRandom } from "../../../src/base/ids.ts";
import { pendingEntry } from "../../../src/ledger/chain.ts";
import { appendBatch } from "../../../src/ledger/ledger.ts";
import { openLedgerReader } from "../../../src/server/ledger/ledger-reader.ts";
import { startLedgerThread } from "../../../src/server/ledger/ledger-thread.ts";
import { openLedgerStore } from "../../../src/stores/embedded/ledger/ledger-store.ts";
import { openStateStores } from "../../../src/stores/embedded/sessions/state-stores.ts";
import { checkStateDirectory } from "../../../src/stores/embedded/state/state-directory.ts";
import { sampleEvent } from "../../stores/contract.ts";
import { freshDirectory } from "../../support/store-place.ts";

const ENTRIES = 400;

async function ledgerFile(): Promise<{ readonly directory: string; readonly path: string }> {
  const directory = await freshDirectory();
  const store = await openLedgerStore(directory);
  const events = Array.from({ length: ENTRIES }, (_, index) => pendingEntry(sampleEvent(`r${index + 1}`), "durable"));
  await appendBatch(store, events, { instanceId: "ins_a", random: systemRandom });
  await store.close();
  return { directory, path: join(directory, "ledger.db") };
}

test("pages that SQLite cannot read become named problems, and the entries of other pages are still verified", async () => {
  const { directory, path } = await ledgerFile();
  const database = new Sqlite(path);
  const pageBytes = Number(database.pragma("page_size", { simple: true }));
  const marker =
    database.prepare<[], Buffer>("SELECT hash FROM entries WHERE seq = 200").pluck().get() ?? Buffer.alloc(0);
  database.close();
  const bytes = await readFile(path);
  const page = Math.floor(bytes.indexOf(marker) / pageBytes);
  bytes.fill(0xff, page * pageBytes, (page + 1) * pageBytes);
  await writeFile(path, bytes);
  const reader = await openLedgerReader(directory);
  const report = await reader.verify();
  await reader.close();
  const named = report.problems.map(({ sequence }) => sequence);
  expect(report.ok).toBe(false);
  expect(named).toContain(0);
  expect(named).toContain(200);
  expect(report.problems.find(({ sequence }) => sequence === 200)?.problem).toContain(
    "it cannot be read: `ledger.db` in the state directory is damaged",
  );
  expect(named).not.toContain(1);
  expect(report.entries).toBeGreaterThan(ENTRIES / 2);
  expect(report.entries + named.filter((sequence) => sequence > 0).length).toBe(ENTRIES);
});

test.each(["ledger.db", "state.db"])(
  "a %s that is no database is refused with advice and kept byte for byte",
  async (name) => {
    const directory = await freshDirectory();
    const rubbish = Buffer.alloc(8192, "rubbish ");
    await writeFile(join(directory, name), rubbish, { mode: 0o600 });
    const opened = name === "ledger.db" ? openLedgerStore(directory) : openStateStores(directory);
    await expect(opened).rejects.toMatchObject({
      code: "STORE_CORRUPT",
      message: expect.stringMatching(new RegExp(`\`${name}\`.*nothing was deleted.*restore a backup`)),
    });
    expect(await readFile(join(directory, name))).toEqual(rubbish);
  },
);

test("a ledger whose tables are gone was damaged or cut, and is not taken for one of an older handrail", async () => {
  const { directory, path } = await ledgerFile();
  await writeFile(path, new Uint8Array());
  await expect(openLedgerReader(directory)).rejects.toThrow(/damaged or cut.*nothing was deleted.*restore a backup/);
});

test("the thread over a damaged ledger says so when it starts, and refuses every event", async () => {
  const directory = await freshDirectory();
  await writeFile(join(directory, "ledger.db"), Buffer.alloc(8192, "rubbish "), { mode: 0o600 });
  const ledger = startLedgerThread({ stateDirectory: directory, instanceId: "ins_a" });
  await expect(ledger.ready()).rejects.toMatchObject({ code: "STORE_CORRUPT" });
  await expect(ledger.record(sampleEvent("one"), "durable")).rejects.toMatchObject({ code: "LEDGER_UNAVAILABLE" });
  expect(ledger.health()).toEqual({ writable: false, problem: expect.stringContaining("is damaged"), waiting: 0 });
  await ledger.close();
});

test("reading where no kernel ever ran says so", async () => {
  const directory = await freshDirectory();
  await expect(openLedgerReader(directory)).rejects.toMatchObject({ code: "LEDGER_UNAVAILABLE" });
  await expect(openLedgerReader(join(directory, "none"))).rejects.toThrow("there is no state directory");
});

test("a state directory of another user is refused", async () => {
  const parent = await freshDirectory();
  const ours = join(parent, "state");
  await mkdir(ours, { mode: 0o700 });
  // Root can make a directory that belongs to somebody else; anybody else finds one in the root directory.
  if (geteuid?.() === 0) await chown(ours, 12_345, 12_345);
  const foreign = geteuid?.() === 0 ? ours : "/";
  expect((await stat(foreign)).uid).not.toBe(geteuid?.());
  await expect(checkStateDirectory(foreign)).rejects.toThrow("belongs to another user; run this as its owner");
  await expect(openLedgerReader(foreign)).rejects.toThrow("belongs to another user");
});
