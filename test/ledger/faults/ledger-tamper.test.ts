/** Somebody with the rights of the owner changes the ledger behind the kernel's back: verification names the entry. */
import { join } from "node:path";
import Sqlite, { type Database } from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { blake3Digest } from "../../../src/base/hash.ts";
import { systemRandom } from "../../../src/base/ids.ts";
import { pendingEntry } from "../../../src/ledger/chain.ts";
import { decodeEntry, encodeEntry } from "../../../src/ledger/entry.ts";
import { appendBatch } from "../../../src/ledger/ledger.ts";
import { type LedgerReader, openLedgerReader } from "../../../src/server/ledger/ledger-reader.ts";
import { openLedgerStore } from "../../../src/stores/embedded/ledger/ledger-store.ts";
import { sampleEvent } from "../../stores/contract.ts";
import { freshDirectory } from "../../support/store-place.ts";

const ENTRIES = 6;

/** A closed ledger of six entries: an intent and its outcome, an open intent, and three others. */
async function smallLedger(): Promise<{
  readonly attacker: Database;
  readonly reader: LedgerReader;
  readonly directory: string;
}> {
  const directory = await freshDirectory();
  const store = await openLedgerStore(directory);
  const changes = [
    {},
    { intent: true },
    { closes: 2 },
    { payload: {} },
    { intent: true, sessionId: "" },
    { actor: "ö" },
  ];
  for (const [index, change] of changes.entries()) {
    await appendBatch(
      store,
      [pendingEntry(sampleEvent(`r${index + 1}`, change), index % 2 === 0 ? "durable" : "buffered")],
      { instanceId: "ins_a", random: systemRandom },
    );
  }
  await store.close();
  const attacker = new Sqlite(join(directory, "ledger.db"));
  attacker.pragma("journal_mode = WAL");
  attacker.pragma("synchronous = OFF");
  const reader = await openLedgerReader(directory);
  onTestFinished(async () => {
    attacker.close();
    await reader.close();
  });
  return { attacker, reader, directory };
}

const problemsOf = async (reader: LedgerReader): Promise<readonly (readonly [number, string])[]> =>
  (await reader.verify()).problems.map(({ sequence, problem }) => [sequence, problem]);
const blamed = async (reader: LedgerReader): Promise<readonly number[]> => [
  ...new Set((await reader.verify()).problems.map(({ sequence }) => sequence)),
];

test("an untouched ledger verifies", async () => {
  const { reader } = await smallLedger();
  expect(await reader.verify()).toEqual({ ok: true, entries: ENTRIES, pruned: 0, problems: [], truncated: false });
});

test("without verification a changed payload is shown as if it were true (control)", async () => {
  const { attacker, reader } = await smallLedger();
  attacker.prepare("UPDATE payloads SET payload = ? WHERE seq = 1").run(Buffer.from('{"name":"r9"}'));
  expect(Buffer.from((await reader.show(1))?.payload ?? []).toString()).toBe('{"name":"r9"}');
  expect(await problemsOf(reader)).toEqual([[1, "its payload or salt is not what was digested"]]);
});

test.each([
  ["entries", "entry"],
  ["entries", "hash"],
  ["payloads", "salt"],
  ["payloads", "payload"],
  ["head", "hash"],
])("every flipped byte of %s.%s is found, and exactly its entry is named", async (table, column) => {
  const { attacker, reader } = await smallLedger();
  const rows = attacker.prepare<[], { seq: number; blob: Buffer }>(`SELECT seq, ${column} AS blob FROM ${table}`).all();
  const update = attacker.prepare(`UPDATE ${table} SET ${column} = ? WHERE seq = ?`);
  const missed: (readonly [number, number, number, readonly number[]])[] = [];
  let flips = 0;
  for (const { seq, blob } of rows) {
    for (const [at, byte] of blob.entries()) {
      for (const mask of [0x01, 0x80, 0xff]) {
        const flipped = Buffer.from(blob);
        flipped[at] = byte ^ mask;
        update.run(flipped, seq);
        const named = await blamed(reader);
        if (named.length !== 1 || named[0] !== seq) missed.push([seq, at, mask, named]);
        flips += 1;
      }
    }
    update.run(blob, seq);
  }
  expect(missed).toEqual([]);
  expect(flips).toBe(rows.reduce((sum, { blob }) => sum + blob.byteLength * 3, 0));
  expect(flips).toBeGreaterThan(0);
  expect((await reader.verify()).ok).toBe(true);
});

test("a shortened or lengthened blob is found", async () => {
  const { attacker, reader } = await smallLedger();
  for (const [table, column] of [
    ["entries", "entry"],
    ["entries", "hash"],
    ["payloads", "salt"],
    ["payloads", "payload"],
  ]) {
    const blob =
      attacker.prepare<[], Buffer>(`SELECT ${column} FROM ${table} WHERE seq = 3`).pluck().get() ?? Buffer.alloc(0);
    for (const changed of [
      blob.subarray(1),
      blob.subarray(0, -1),
      Buffer.concat([blob, Buffer.alloc(1)]),
      Buffer.alloc(0),
    ]) {
      attacker.prepare(`UPDATE ${table} SET ${column} = ? WHERE seq = 3`).run(changed);
      expect([table, column, await blamed(reader)]).toEqual([table, column, [3]]);
    }
    attacker.prepare(`UPDATE ${table} SET ${column} = ? WHERE seq = 3`).run(blob);
  }
  expect((await reader.verify()).ok).toBe(true);
});

test("an entry rewritten together with its hash breaks the link of the next one, the last one that of the head", async () => {
  const { attacker, reader } = await smallLedger();
  const rewrite = (sequence: number): void => {
    const bytes = attacker.prepare<[number], Buffer>("SELECT entry FROM entries WHERE seq = ?").pluck().get(sequence);
    const decoded = decodeEntry(bytes ?? new Uint8Array());
    if (decoded.kind === "malformed") throw new Error(decoded.problem);
    const forged = encodeEntry({ ...decoded.entry, actor: "somebody else" });
    attacker
      .prepare("UPDATE entries SET entry = ?, hash = ? WHERE seq = ?")
      .run(forged, blake3Digest(forged), sequence);
  };
  rewrite(4);
  expect(await problemsOf(reader)).toEqual([[5, "it does not follow from the entry before it"]]);
  rewrite(6);
  expect(await problemsOf(reader)).toEqual([
    [5, "it does not follow from the entry before it"],
    [6, "the head names another hash than its own"],
  ]);
});

test.each([1, 2, 3, 4, 5, 6])("removed entry %i is reported as missing", async (sequence) => {
  const { attacker, reader } = await smallLedger();
  attacker.prepare("DELETE FROM entries WHERE seq = ?").run(sequence);
  expect(await problemsOf(reader)).toEqual([[sequence, "it is missing"]]);
});

test("a removed stretch is reported as one, and a cut tail by what the head says", async () => {
  const { attacker, reader } = await smallLedger();
  attacker.exec("DELETE FROM entries WHERE seq IN (2, 3)");
  expect(await problemsOf(reader)).toEqual([[2, "the entries 2 to 3 are missing"]]);
  attacker.exec("DELETE FROM entries WHERE seq >= 5");
  expect(await problemsOf(reader)).toEqual([
    [2, "the entries 2 to 3 are missing"],
    [5, "the entries 5 to 6 are missing"],
  ]);
  attacker.exec("DELETE FROM entries");
  expect(await problemsOf(reader)).toEqual([[1, "the entries 1 to 6 are missing"]]);
});

test("a kernel does not continue a ledger whose tail was cut", async () => {
  const { attacker, directory } = await smallLedger();
  attacker.exec("DELETE FROM entries WHERE seq = 6");
  await expect(openLedgerStore(directory)).rejects.toMatchObject({ code: "STORE_CORRUPT" });
});

test("exchanged entries are both named", async () => {
  const { attacker, reader } = await smallLedger();
  attacker.exec(
    "UPDATE entries SET seq = -1 WHERE seq = 3; UPDATE entries SET seq = 3 WHERE seq = 4; UPDATE entries SET seq = 4 WHERE seq = -1",
  );
  expect(await blamed(reader)).toEqual([3, 4, 5]);
});

test("a duplicated entry is named, wherever it is put", async () => {
  const { attacker, reader } = await smallLedger();
  attacker.exec("INSERT INTO entries SELECT 7, entry, hash FROM entries WHERE seq = 6");
  expect(await problemsOf(reader)).toEqual([[7, "it lies beyond the head of the ledger"]]);
  attacker.exec("UPDATE head SET seq = 7");
  expect(await problemsOf(reader)).toContainEqual([7, "it says that it is entry 6"]);
  attacker.exec("UPDATE entries SET seq = 0 WHERE seq = 7; UPDATE head SET seq = 6");
  expect(await problemsOf(reader)).toEqual([[0, "no entry has such a sequence"]]);
});

test("a changed list of open intents is found", async () => {
  const { attacker, reader } = await smallLedger();
  attacker.exec("DELETE FROM open_intents; INSERT INTO open_intents VALUES (2, 'ins_a')");
  expect(await problemsOf(reader)).toEqual([
    [5, "its intent is open but not listed as open"],
    [2, "it is listed as an open intent but is none"],
  ]);
});

test("a head that is gone is a problem of the ledger as a whole", async () => {
  const { attacker, reader } = await smallLedger();
  attacker.exec("DELETE FROM head");
  expect(await blamed(reader)).toEqual([0]);
  expect((await reader.verify()).entries).toBe(ENTRIES);
});
