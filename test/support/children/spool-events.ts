/**
 * A kernel that records buffered events until it is killed, 16 at a time, and prints each after it was acknowledged, in
 * a write of its own, so that nothing that was printed waits in this process.
 */
import { writeSync } from "node:fs";
import { systemRandom } from "../../../src/base/ids.ts";
import { startLedgerThread } from "../../../src/server/ledger/ledger-thread.ts";
import { openInstanceStore } from "../../../src/stores/embedded/ledger/instance-store.ts";

const [stateDirectory = "", name = ""] = process.argv.slice(2);
const instance = await (await openInstanceStore(stateDirectory, systemRandom)).claim();
const ledger = startLedgerThread({ stateDirectory, instanceId: instance.id });
await ledger.ready();
for (let count = 0; count < 20_000; count += 16) {
  const names = Array.from({ length: 16 }, (_, index) => `${name}-${count + index}`);
  await Promise.all(
    names.map((requestId) =>
      ledger.record(
        { type: "tool_executed", sessionId: "ses_a", actor: name, requestId, timeMs: Date.now(), payload: { name } },
        "buffered",
      ),
    ),
  );
  writeSync(1, names.map((requestId) => `acknowledged ${requestId}\n`).join(""));
  // Timers and the worker's answers get their turn now and then.
  if (count % 256 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
}
