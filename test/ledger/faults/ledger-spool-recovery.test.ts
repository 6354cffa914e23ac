/** What a killed kernel had spooled: the next one takes it into the chain, each event exactly once. */
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { systemRandom } from "../../../src/base/ids.ts";
import { pendingEntry } from "../../../src/ledger/chain.ts";
import { appendSpooled, ledgerRecord } from "../../../src/ledger/ledger.ts";
import { FrameWriter, frameBody } from "../../../src/ledger/spool.ts";
import { recoverSpools, type SpoolRecovery, spoolDamage } from "../../../src/ledger/spool-recovery.ts";
import { openLedgerReader } from "../../../src/server/ledger/ledger-reader.ts";
import { startLedgerThread } from "../../../src/server/ledger/ledger-thread.ts";
import { openInstanceStore } from "../../../src/stores/embedded/ledger/instance-store.ts";
import { openLedgerStore } from "../../../src/stores/embedded/ledger/ledger-store.ts";
import { sampleEvent } from "../../stores/contract.ts";
import { startChild } from "../../support/children/run.ts";
import { freshDirectory } from "../../support/store-place.ts";

const DEAD = `ins_${"d".repeat(22)}`;

const pending = (name: string) => pendingEntry(sampleEvent(name), "buffered");
const frames = (...names: readonly string[]): readonly string[] => names.map((name, index) => frame(index + 1, name));

function frame(counter: number, name: string): string {
  const writer = new FrameWriter();
  writer.add(frameBody(counter, pending(name)));
  return Buffer.from(writer.take()).toString();
}

/** A state directory in which a dead instance left a spool. */
async function left(spool: string | Buffer): Promise<{ readonly directory: string; readonly file: string }> {
  const directory = await freshDirectory();
  await mkdir(join(directory, "spool"), { mode: 0o700 });
  const file = join(directory, "spool", DEAD);
  await writeFile(file, spool, { mode: 0o600 });
  return { directory, file };
}

/** A kernel that starts, recovers and ends. */
async function recover(directory: string): Promise<readonly SpoolRecovery[]> {
  const instances = await openInstanceStore(directory, systemRandom);
  const instance = await instances.claim();
  const ledger = startLedgerThread({ stateDirectory: directory, instanceId: instance.id });
  const recoveries = await recoverSpools(ledger, instances, 5000);
  await ledger.close();
  await instance.release();
  return recoveries;
}

/** What the chain says, after checking that it is sound. */
async function recorded(directory: string): Promise<readonly (readonly [string, string, string])[]> {
  const reader = await openLedgerReader(directory);
  const { entries, problems } = await reader.verify();
  expect(problems).toEqual([]);
  const all: (readonly [string, string, string])[] = [];
  for (let from = 1; from <= entries; from += 256) {
    for (const { entry } of await reader.range(from, 256))
      all.push([entry.eventType, entry.requestId, entry.instanceId]);
  }
  await reader.close();
  return all;
}

async function marks(directory: string): Promise<readonly unknown[]> {
  const store = await openLedgerStore(directory);
  const found = await store.spools(10);
  await store.close();
  return found;
}

const executed = (...names: readonly string[]) => names.map((name) => ["tool_executed", name, DEAD]);

test("all that a killed kernel had acknowledged is in the chain exactly once after the next start", async () => {
  const directory = await freshDirectory();
  const acknowledged: string[] = [];
  for (let round = 0; round < 6; round++) {
    const child = startChild("spool-events", [directory, `k${round}`]);
    await child.printed(`acknowledged k${round}-200`);
    await sleep(round * 23);
    child.process.kill("SIGKILL");
    expect(await child.ended).toBe("SIGKILL");
    acknowledged.push(...child.lines().map((line) => line.slice("acknowledged ".length)));
    await recover(directory);
    expect(await readdir(join(directory, "spool"))).toEqual([]);
  }
  const ids = (await recorded(directory)).map(([, requestId]) => requestId);
  const known = new Set(ids);
  expect(acknowledged.length).toBeGreaterThan(1000);
  expect(acknowledged.filter((requestId) => !known.has(requestId))).toEqual([]);
  expect(known.size).toBe(ids.length);
  for (let round = 0; round < 6; round++) {
    const own = ids.filter((id) => id.startsWith(`k${round}-`));
    expect(own).toEqual(own.map((_, index) => `k${round}-${index}`));
  }
});

test("without recovery what a killed kernel had spooled is missing from the chain (control)", async () => {
  const { directory } = await left(frames("one", "two").join(""));
  const store = await openLedgerStore(directory);
  expect((await store.head()).sequence).toBe(0);
  await store.close();
});

test("spooled events get the dead instance's id, and file and mark are gone afterwards", async () => {
  const { directory } = await left(frames("one", "two").join(""));
  expect(await recover(directory)).toEqual([{ instanceId: DEAD, recovered: 2, damaged: 0 }]);
  expect(await recorded(directory)).toEqual(executed("one", "two"));
  expect(await readdir(join(directory, "spool"))).toEqual([]);
  expect(await marks(directory)).toEqual([]);
  expect(await recover(directory)).toEqual([]);
});

test("what was committed before the kernel died is not appended again", async () => {
  const { directory } = await left(frames("one", "two", "three").join(""));
  const store = await openLedgerStore(directory);
  const events = [1, 2].map((counter) => ({ counter, entry: pending(counter === 1 ? "one" : "two") }));
  await appendSpooled(store, { events, mark: { instanceId: DEAD, through: 2 } }, systemRandom);
  await store.close();
  expect(await recover(directory)).toEqual([{ instanceId: DEAD, recovered: 1, damaged: 0 }]);
  expect(await recorded(directory)).toEqual(executed("one", "two", "three"));
});

test("a mark whose spool was removed already is forgotten", async () => {
  const directory = await freshDirectory();
  const store = await openLedgerStore(directory);
  await appendSpooled(
    store,
    { events: [{ counter: 1, entry: pending("one") }], mark: { instanceId: DEAD, through: 1 } },
    systemRandom,
  );
  await store.close();
  expect(await marks(directory)).toEqual([{ instanceId: DEAD, through: 1 }]);
  expect(await recover(directory)).toEqual([]);
  expect(await marks(directory)).toEqual([]);
  expect(await recorded(directory)).toEqual(executed("one"));
});

test("the rest of a write that never returned is dropped, wherever it was cut", async () => {
  const [one = "", two = ""] = frames("one", "two");
  for (const cut of [1, 9, Math.floor(two.length / 2), two.length - 1]) {
    const { directory } = await left(one + two.slice(0, cut));
    expect(await recover(directory)).toEqual([{ instanceId: DEAD, recovered: 1, damaged: 0 }]);
    expect(await recorded(directory)).toEqual(executed("one"));
  }
});

test("a damaged frame is recorded and reported, the others are recovered, and the file is kept byte for byte", async () => {
  const [one = "", two = "", three = ""] = frames("one", "two", "three");
  const damaged = Buffer.from(one + two + three);
  damaged[one.length + 20] = (damaged[one.length + 20] ?? 0) ^ 1;
  const { directory, file } = await left(damaged);
  const [recovery, ...others] = await recover(directory);
  expect([recovery, others]).toEqual([{ instanceId: DEAD, recovered: 2, damaged: 1, keptAs: `${DEAD}.damaged` }, []]);
  expect(recovery && spoolDamage(recovery)).toMatchObject({
    code: "STORE_CORRUPT",
    message: expect.stringContaining(`spool/${DEAD}.damaged`),
  });
  expect((await recorded(directory)).map(([type, id]) => [type, id])).toEqual([
    ["tool_executed", "one"],
    ["tool_executed", "three"],
    ["spool_damaged", ""],
  ]);
  const store = await openLedgerStore(directory);
  const last = (await store.read(3, 1)).map(ledgerRecord)[0];
  await store.close();
  expect(last?.entry.durability).toBe("durable");
  expect(JSON.parse(Buffer.from(last?.payload ?? []).toString())).toEqual({
    instance_id: DEAD,
    recovered: 2,
    damaged: 1,
    severity: "critical",
  });
  expect(await readFile(`${file}.damaged`)).toEqual(damaged);
  expect(await recover(directory)).toEqual([]);
  expect((await recorded(directory)).length).toBe(3);
});

test("a spool whose damage was recorded, but which was not set aside, is not recorded again", async () => {
  const { directory, file } = await left(`${frames("one").join("")}rubbish\n`);
  const bytes = await readFile(file);
  await recover(directory);
  const store = await openLedgerStore(directory);
  await appendSpooled(
    store,
    { events: [], mark: { instanceId: DEAD, through: Number.MAX_SAFE_INTEGER } },
    systemRandom,
  );
  await store.close();
  await writeFile(file, bytes, { mode: 0o600 });
  expect((await recover(directory)).map(({ recovered }) => recovered)).toEqual([0]);
  expect((await recorded(directory)).map(([type]) => type)).toEqual(["tool_executed", "spool_damaged"]);
});

test("four kernels that start at once recover each event once between them", async () => {
  const names = Array.from({ length: 3000 }, (_, index) => `r${index}`);
  const { directory } = await left(frames(...names).join(""));
  const starting = Array.from({ length: 4 }, () => startChild("recover-spools", [directory]));
  await Promise.all(starting.map((child) => child.printed("ready")));
  for (const child of starting) child.process.stdin?.end();
  const counts = await Promise.all(
    starting.map(async (child) => Number((await child.printed("recovered")).split(" ")[1])),
  );
  expect(await Promise.all(starting.map(({ ended }) => ended))).toEqual(["0", "0", "0", "0"]);
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(names.length);
  expect(await recorded(directory)).toEqual(executed(...names));
  expect(await marks(directory)).toEqual([]);
});

test("the spool of a living kernel is left alone", async () => {
  const directory = await freshDirectory();
  const instances = await openInstanceStore(directory, systemRandom);
  const living = await instances.claim();
  await mkdir(join(directory, "spool"), { mode: 0o700 });
  await writeFile(join(directory, "spool", living.id), frames("one").join(""), { mode: 0o600 });
  expect(await recover(directory)).toEqual([]);
  expect(await readdir(join(directory, "spool"))).toEqual([living.id]);
  await living.release();
  expect((await recover(directory)).map(({ recovered }) => recovered)).toEqual([1]);
});
