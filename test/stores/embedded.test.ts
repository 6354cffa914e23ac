/** The embedded stores keep the contract; and what is particular to a state directory of files. */

import { once } from "node:events";
import { chmod, mkdir, readdir, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import Sqlite from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { systemRandom } from "../../src/base/ids.ts";
import { openApprovalStore } from "../../src/stores/embedded/approvals/approval-store.ts";
import { openBudgetStores } from "../../src/stores/embedded/budgets/budget-stores.ts";
import { openDedupeStore } from "../../src/stores/embedded/dedupe-store.ts";
import { openInstanceStore } from "../../src/stores/embedded/ledger/instance-store.ts";
import { openLedgerStore } from "../../src/stores/embedded/ledger/ledger-store.ts";
import { openLockStore } from "../../src/stores/embedded/lock-store.ts";
import { openStateStores } from "../../src/stores/embedded/sessions/state-stores.ts";
import { openViolationStore } from "../../src/stores/embedded/sessions/violation-store.ts";
import { openDatabase } from "../../src/stores/embedded/state/database.ts";
import { DEDUPE_SCHEMA } from "../../src/stores/embedded/state/schema.ts";
import { freshDirectory } from "../support/store-place.ts";
import { SAMPLE_LEASE, SAMPLE_SESSION, type Stores, storeContract } from "./contract.ts";

async function open(directory: string): Promise<Stores> {
  const ledger = await openLedgerStore(directory);
  const { sessions, marks, armings, freezes } = await openStateStores(directory);
  const violations = openViolationStore(directory);
  const locks = await openLockStore(directory);
  const dedupe = openDedupeStore(directory);
  const approvals = openApprovalStore(directory);
  const { budgets, rates } = openBudgetStores(directory);
  onTestFinished(async () => {
    await Promise.all([
      ledger.close(),
      sessions.close(),
      violations.close(),
      locks.close(),
      dedupe.close(),
      approvals.close(),
      budgets.close(),
    ]);
  });
  return {
    ledger,
    sessions,
    marks,
    armings,
    freezes,
    violations,
    locks,
    dedupe,
    approvals,
    budgets,
    rates,
    instances: await openInstanceStore(directory, systemRandom),
  };
}

storeContract({
  name: "embedded",
  freshPlace: async () => {
    const directory = join(await freshDirectory(), "state");
    return { open: () => open(directory) };
  },
});

test("a new state directory and its files are the owner's alone", async () => {
  const directory = join(await freshDirectory(), "state");
  const { ledger, instances } = await open(directory);
  await instances.claim();
  await ledger.sync();
  const modes = await Promise.all(
    (await readdir(directory, { recursive: true })).map(
      async (name) => [name, ((await stat(join(directory, name))).mode & 0o077) === 0] as const,
    ),
  );
  expect((await stat(directory)).mode & 0o777).toBe(0o700);
  expect(modes.length).toBeGreaterThan(4);
  expect(modes.filter(([, closed]) => !closed)).toEqual([]);
});

test("an empty directory that others may look into is closed before it is used", async () => {
  const directory = await freshDirectory();
  await chmod(directory, 0o755);
  await (await openStateStores(directory)).sessions.close();
  expect((await stat(directory)).mode & 0o777).toBe(0o700);
});

test.each([0o770, 0o707, 0o750, 0o701])(
  "a state directory of mode %o that holds something is refused and left as it is",
  async (mode) => {
    const directory = await freshDirectory();
    await writeFile(join(directory, "something"), "");
    await chmod(directory, mode);
    await expect(openStateStores(directory)).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
      message: expect.stringContaining("chmod 700"),
    });
    expect((await stat(directory)).mode & 0o777).toBe(mode);
    expect(await readdir(directory)).toEqual(["something"]);
  },
);

test("an empty directory that others can write is refused and left as it is", async () => {
  const directory = await freshDirectory();
  await chmod(directory, 0o777);
  await expect(openStateStores(directory)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  expect((await stat(directory)).mode & 0o777).toBe(0o777);
});

test("a state directory that is a link or a file is refused", async () => {
  const directory = await freshDirectory();
  await mkdir(join(directory, "real"), { mode: 0o700 });
  await symlink("real", join(directory, "link"));
  await writeFile(join(directory, "file"), "");
  await expect(openStateStores(join(directory, "link"))).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  await expect(openStateStores(join(directory, "file"))).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
});

test.each(["ledger.db", "state.db", "locks.db"])("a newer %s is refused and stays as it is", async (name) => {
  const directory = await freshDirectory();
  const stores = await open(directory);
  await Promise.all([stores.ledger.close(), stores.sessions.close(), stores.locks.close()]);
  const database = new Sqlite(join(directory, name));
  database.pragma("user_version = 99");
  database.close();
  await expect(open(directory)).rejects.toThrow("made by a newer handrail");
  const again = new Sqlite(join(directory, name), { readonly: true });
  expect(again.pragma("user_version", { simple: true })).toBe(99);
  again.close();
});

test("a database of another program is refused", async () => {
  const directory = await freshDirectory();
  const database = new Sqlite(join(directory, "state.db"));
  database.exec("CREATE TABLE theirs (x)");
  database.pragma("user_version = 1");
  database.close();
  await expect(openStateStores(directory)).rejects.toThrow("not a database of handrail");
});

test("a lease whose scope lost a dimension is refused instead of widened", async () => {
  const directory = await freshDirectory();
  const { sessions } = await open(directory);
  await sessions.insertSession(SAMPLE_SESSION);
  await sessions.insertLease(SAMPLE_LEASE);
  const database = new Sqlite(join(directory, "state.db"));
  database.prepare("UPDATE leases SET scope = ?").run('{"tools":[]}');
  database.close();
  await expect(sessions.findLease("lea_one")).rejects.toMatchObject({ code: "STORE_CORRUPT" });
});

test("a claim removes the lock files of dead instances and leaves living ones", async () => {
  const directory = await freshDirectory();
  const store = await openInstanceStore(directory, systemRandom);
  const alive = await store.claim();
  await writeFile(join(directory, "instances", `ins_${"d".repeat(22)}.lock`), "");
  const second = await store.claim();
  expect((await readdir(join(directory, "instances"))).sort()).toEqual(
    [`${alive.id}.lock`, `${second.id}.lock`].sort(),
  );
  await alive.release();
  await second.release();
});

test("a write waits for another process's write lock", async () => {
  const directory = await freshDirectory();
  const { sessions, ledger } = await open(directory);
  const holder = new Worker(
    `const { parentPort, workerData } = require("node:worker_threads");
     const Sqlite = require("better-sqlite3");
     const held = ["state.db", "ledger.db"].map((name) => new Sqlite(workerData + "/" + name));
     for (const database of held) database.exec("BEGIN IMMEDIATE");
     parentPort.postMessage("held");
     setTimeout(() => { for (const database of held) { database.exec("COMMIT"); database.close(); } }, 200);`,
    { eval: true, workerData: directory },
  );
  const ended = once(holder, "exit");
  await once(holder, "message");
  await sessions.insertSession(SAMPLE_SESSION);
  await sessions.insertLease(SAMPLE_LEASE);
  await ledger.sync();
  await ended;
  expect([await sessions.findSession("ses_one"), await sessions.findLease("lea_one")]).toEqual([
    SAMPLE_SESSION,
    SAMPLE_LEASE,
  ]);
});

const CLAIM = {
  sessionId: "ses_one",
  dedupeKey: "once",
  call: new Uint8Array(32),
  holder: "ins_a",
  nowMs: 1,
  forgetBeforeMs: 0,
};

test("dedupe.db is made with the first call that has a key, for the owner alone", async () => {
  const directory = await freshDirectory();
  const store = openDedupeStore(directory);
  onTestFinished(() => store.close());
  expect(await readdir(directory)).toEqual([]);
  await store.claim(CLAIM);
  for (const name of ["dedupe.db", "dedupe.db-wal"]) expect((await stat(join(directory, name))).mode & 0o077).toBe(0);
});

test("a dedupe.db that cannot be opened is tried again", async () => {
  const directory = join(await freshDirectory(), "state");
  await writeFile(directory, "in the way");
  const store = openDedupeStore(directory);
  onTestFinished(() => store.close());
  await expect(store.claim(CLAIM)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  await rm(directory);
  expect(await store.claim(CLAIM)).toEqual({ kind: "claimed" });
});

test("a full dedupe.db takes no claim, still keeps the answers of those it took, and takes claims again after a purge", async () => {
  const store = openDedupeStore(await freshDirectory(), 256 * 1024);
  onTestFinished(() => store.close());
  const claims = [1, 2, 3, 4].map((index) => ({ ...CLAIM, dedupeKey: `${index}` }));
  for (const claim of claims) await store.claim(claim);
  const record = { text: "{}", bytes: new Uint8Array(100_000) };
  for (const claim of claims) expect(await store.keep(claim, "ins_a", { ...record, nowMs: 1 })).toBe(true);
  const full = { code: "STORE_UNAVAILABLE", message: expect.stringContaining("as many answers as it may") };
  await expect(store.claim({ ...CLAIM, dedupeKey: "new" })).rejects.toMatchObject(full);
  expect((await store.claim({ ...CLAIM, dedupeKey: "1" })).kind).toBe("kept");
  expect(await store.purge(2, 10)).toBe(4);
  expect((await store.claim({ ...CLAIM, dedupeKey: "new" })).kind).toBe("claimed");
});

/** A store of 1 MiB, and how a session has one more answer of 100 kB kept in it. */
async function smallDedupe() {
  const store = openDedupeStore(await freshDirectory(), 1024 * 1024);
  onTestFinished(() => store.close());
  const keepOne = async (sessionId: string, dedupeKey: string) => {
    const claim = { ...CLAIM, sessionId, dedupeKey };
    const { kind } = await store.claim(claim);
    if (kind === "claimed") await store.keep(claim, "ins_a", { text: "{}", bytes: new Uint8Array(100_000), nowMs: 1 });
    return kind;
  };
  return { store, keepOne };
}

test("a session that keeps answer after answer leaves half of dedupe.db to others, and goes on when there is room again", async () => {
  const { store, keepOne } = await smallDedupe();
  const kinds: string[] = [];
  for (let index = 0; index < 10; index += 1) kinds.push(await keepOne("ses_greedy", `${index}`));
  expect(kinds).toEqual([...Array(5).fill("claimed"), ...Array(5).fill("full")]); // alone, it may use half of it
  expect((await store.claim({ ...CLAIM, sessionId: "ses_greedy", dedupeKey: "0" })).kind).toBe("kept");
  expect([await keepOne("ses_modest", "0"), await keepOne("ses_modest", "1")]).toEqual(["claimed", "full"]);
  expect(await keepOne("ses_third", "0")).toBe("claimed");
  expect(await keepOne("ses_greedy", "new")).toBe("full");
  await store.purge(2, 9);
  expect(await keepOne("ses_greedy", "new")).toBe("claimed");
});

test("what a session takes is counted through every way of a row, and nothing of it stays behind", async () => {
  const directory = await freshDirectory();
  const store = openDedupeStore(directory);
  onTestFinished(() => store.close());
  const record = { text: "{}", bytes: new Uint8Array(1000) };
  await store.claim(CLAIM);
  const look = new Sqlite(join(directory, "dedupe.db"), { readonly: true });
  onTestFinished(() => void look.close());
  const taken = () => look.prepare("SELECT session_id, size FROM taken ORDER BY session_id").raw().all();
  expect(taken()).toEqual([["ses_one", 512]]);
  await store.keep(CLAIM, "ins_a", { ...record, nowMs: 1 });
  await store.claim({ ...CLAIM, sessionId: "ses_two" });
  expect(taken()).toEqual([
    ["ses_one", 1514],
    ["ses_two", 512],
  ]);
  await store.supersede(CLAIM);
  await store.release({ ...CLAIM, sessionId: "ses_two" }, "ins_a");
  expect(taken()).toEqual([["ses_one", 512]]);
  await store.keep(CLAIM, "ins_a", { ...record, nowMs: 1 });
  await store.claim({ ...CLAIM, nowMs: 9, forgetBeforeMs: 5 }); // in place of an answer that counts as gone
  expect(taken()).toEqual([["ses_one", 512]]);
  await store.release(CLAIM, "ins_a");
  expect(taken()).toEqual([]);
});

test("a dedupe.db of before counts what was kept in it", async () => {
  const directory = await freshDirectory();
  const path = join(directory, "dedupe.db");
  const before = await openDatabase(
    path,
    { ...DEDUPE_SCHEMA, migrations: DEDUPE_SCHEMA.migrations.slice(0, 1) },
    "STORE_UNAVAILABLE",
  );
  const insert = before.prepare(
    "INSERT INTO calls (session_id, dedupe_key, call, begun, at_ms, answer, bytes) VALUES ('ses_one', ?, x'00', 0, 1, '{}', ?)",
  );
  for (let index = 0; index < 6; index += 1) insert.run(`${index}`, new Uint8Array(100_000));
  before.close();
  const store = openDedupeStore(directory, 1024 * 1024);
  onTestFinished(() => store.close());
  expect((await store.claim({ ...CLAIM, dedupeKey: "new" })).kind).toBe("full");
  expect((await store.claim({ ...CLAIM, sessionId: "ses_two" })).kind).toBe("claimed");
});
