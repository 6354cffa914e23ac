/**
 * A kernel whose disk fills up. Runs in a mount namespace of its own, mounts a small tmpfs at the directory it is
 * given, appends until the disk is full, makes room, appends again, and prints what happened as JSON.
 */
import { execFileSync } from "node:child_process";
import { appendFileSync, chmodSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { KernelError } from "../../../src/base/errors.ts";
import { openLedgerReader } from "../../../src/server/ledger/ledger-reader.ts";
import { startLedgerThread } from "../../../src/server/ledger/ledger-thread.ts";

const [mountPoint = ""] = process.argv.slice(2);
execFileSync("mount", ["-t", "tmpfs", "-o", "size=2m,mode=0700", "tmpfs", mountPoint]);
const stateDirectory = join(mountPoint, "state");
mkdirSync(stateDirectory, { mode: 0o700 });
chmodSync(stateDirectory, 0o700);
const ballast = join(mountPoint, "ballast");
appendFileSync(ballast, Buffer.alloc(600 * 1024));
const ledger = startLedgerThread({ stateDirectory, instanceId: "ins_full" });
const acknowledged: number[] = [];
const refusals = new Set<string>();

async function append(requestId: string): Promise<void> {
  const payload = { filler: "x".repeat(4000) };
  try {
    acknowledged.push(
      await ledger.record(
        { type: "tool_executed", sessionId: "", actor: "a", requestId, timeMs: Date.now(), payload },
        "durable",
      ),
    );
  } catch (error) {
    if (!(error instanceof KernelError)) throw error;
    refusals.add(error.code);
  }
}

for (let count = 0; count < 1000 && refusals.size === 0; count++) await append(`before-${count}`);
const before = acknowledged.length;
const unhealthy = ledger.health();
await append("while-full");
rmSync(ballast);
for (let count = 0; count < 20; count++) await append(`after-${count}`);
const healthy = ledger.health();
await ledger.close();
const reader = await openLedgerReader(stateDirectory);
const report = await reader.verify();
const found = (await Promise.all(acknowledged.map((sequence) => reader.show(sequence)))).filter(
  (record) => record !== undefined,
).length;
const facts = {
  before,
  after: acknowledged.length - before,
  refusals: [...refusals],
  unhealthy,
  healthy,
  report,
  lost: acknowledged.length - found,
};
process.stdout.write(`${JSON.stringify(facts)}\n`);
await reader.close();
