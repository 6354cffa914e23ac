/**
 * Durable ledger entries with 64 in flight, against committing rows one by one with the same store and the same
 * promise.
 */
import { join } from "node:path";
import Database from "better-sqlite3";
import { systemRandom } from "../../src/base/ids.ts";
import type { LedgerEvent } from "../../src/model/outcome/event.ts";
import { startLedgerThread } from "../../src/server/ledger/ledger-thread.ts";
import { openInstanceStore } from "../../src/stores/embedded/ledger/instance-store.ts";
import { prepareStateDirectory } from "../../src/stores/embedded/state/state-directory.ts";
import { interleave, type Row } from "../measure.ts";
import type { Effort } from "../options.ts";
import type { Playground } from "../playground.ts";

const IN_FLIGHT = 64;

/** The figure. */
export async function measureLedger(playground: Playground, effort: Effort): Promise<readonly Row[]> {
  const stateDirectory = playground.directory("state-ledger");
  await prepareStateDirectory(stateDirectory);
  const instance = await (await openInstanceStore(stateDirectory, systemRandom)).claim();
  const ledger = startLedgerThread({ stateDirectory, instanceId: instance.id });
  await ledger.ready();
  const rows = new Database(join(playground.directory("state-rows"), "rows.sqlite"));
  try {
    rows.pragma("journal_mode = WAL");
    rows.pragma("synchronous = FULL");
    rows.exec("CREATE TABLE entries (sequence INTEGER PRIMARY KEY, payload TEXT NOT NULL)");
    const insert = rows.prepare("INSERT INTO entries (payload) VALUES (?)");
    const payload = JSON.stringify(event(0).payload);
    const ours = async (): Promise<number> => {
      const started = performance.now();
      const end = started + effort.turnMs;
      let recorded = 0;
      const one = async (): Promise<void> => {
        for (; performance.now() < end; recorded += 1) await ledger.record(event(recorded), "durable");
      };
      await Promise.all(Array.from({ length: IN_FLIGHT }, one));
      return (recorded * 1000) / (performance.now() - started);
    };
    const theirs = (): number => {
      const started = performance.now();
      let committed = 0;
      for (; performance.now() < started + effort.turnMs; committed += 1) insert.run(payload);
      return (committed * 1000) / (performance.now() - started);
    };
    const subject = {
      id: "ledger-durable",
      what: `durable ledger entries, ${IN_FLIGHT} in flight`,
      peer: "single-row SQLite commits, WAL, synchronous=FULL",
      unit: "entries/s",
      better: "higher",
    } as const;
    await ours();
    theirs();
    return [await interleave(subject, effort.rounds, ours, theirs)];
  } finally {
    rows.close();
    await ledger.close();
    await instance.release();
  }
}

/** An entry as a call leaves it. */
function event(index: number): LedgerEvent {
  const payload = {
    tool: "read_file",
    role: "dev",
    preset: "dev",
    accesses: [{ kind: "file", effect: "read", path: `part0/file${index % 200}.ts` }],
    rules: ["dev.read-files"],
    policy: `blake3:${"0".repeat(64)}`,
    args: { path: `part0/file${index % 200}.ts` },
    success: true,
    outputBytes: 4200,
  };
  return {
    type: "tool_executed",
    sessionId: "ses_0000000000000000000000",
    actor: "bench/bench",
    requestId: `req_${index}`,
    timeMs: Date.now(),
    payload,
  };
}
