/**
 * A kernel whose disk fills up with buffered events. Runs in a mount namespace of its own, mounts a small tmpfs at the
 * directory it is given, makes room once events are refused, and prints what happened as JSON.
 */
import { execFileSync } from "node:child_process";
import { appendFileSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { KernelError } from "../../../src/base/errors.ts";
import { openLedgerReader } from "../../../src/server/ledger/ledger-reader.ts";
import { startLedgerThread } from "../../../src/server/ledger/ledger-thread.ts";

const [mountPoint = ""] = process.argv.slice(2);
execFileSync("mount", ["-t", "tmpfs", "-o", "size=16m,mode=0700", "tmpfs", mountPoint]);
const stateDirectory = join(mountPoint, "state");
mkdirSync(stateDirectory, { mode: 0o700 });
const ballast = join(mountPoint, "ballast");
const ledger = startLedgerThread({ stateDirectory, instanceId: "ins_full" });
await ledger.ready();
appendFileSync(ballast, Buffer.alloc(10 * 1024 * 1024));
const acknowledged: string[] = [];
const refusals = new Set<string>();

async function append(requestId: string): Promise<void> {
  const payload = { filler: "x".repeat(4000) };
  try {
    await ledger.record(
      { type: "tool_executed", sessionId: "", actor: "a", requestId, timeMs: Date.now(), payload },
      "buffered",
    );
    acknowledged.push(requestId);
  } catch (error) {
    if (!(error instanceof KernelError)) throw error;
    refusals.add(error.code);
  }
}

for (let count = 0; count < 20_000 && refusals.size === 0; count++) await append(`before-${count}`);
const before = acknowledged.length;
rmSync(ballast);
const deadline = performance.now() + 20_000;
while (!ledger.health().writable && performance.now() < deadline)
  await new Promise((resolve) => setTimeout(resolve, 20));
for (let count = 0; count < 20; count++) await append(`after-${count}`);
const healthy = ledger.health().writable;
await ledger.close();
const reader = await openLedgerReader(stateDirectory);
const { ok, entries } = await reader.verify();
const recorded: string[] = [];
for (let from = 1; from <= entries; from += 256)
  recorded.push(...(await reader.range(from, 256)).map(({ entry }) => entry.requestId));
const lost = acknowledged.filter((requestId) => !recorded.includes(requestId)).length;
const twice = recorded.length - new Set(recorded).size;
const facts = { before, after: acknowledged.length - before, refusals: [...refusals], healthy, ok, lost, twice };
process.stdout.write(`${JSON.stringify(facts)}\n`);
await reader.close();
