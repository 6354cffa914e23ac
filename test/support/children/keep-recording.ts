/**
 * A kernel's ledger that gets 120 events, then one every 50 ms until standard input ends. Prints `ready`, then what
 * became of each event, and at last how the ledger was closed.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { startLedgerThread } from "../../../src/server/ledger/ledger-thread.ts";

const [stateDirectory = ""] = process.argv.slice(2);
const ledger = startLedgerThread({ stateDirectory, instanceId: "ins_a" });
let stopping = false;
process.stdin.resume().on("end", () => {
  stopping = true;
});

async function say(words: string): Promise<void> {
  await new Promise((resolve) => process.stdout.write(`${words}\n`, resolve));
}

async function record(count: number): Promise<string> {
  const caller = { sessionId: "ses_a", actor: "a", requestId: `r${count}` };
  const event = { type: "tool_executed", ...caller, timeMs: Date.now(), payload: { count } } as const;
  return ledger.record(event, "durable").then(
    (sequence) => `recorded ${sequence}`,
    (error: Error) => `refused ${error.message}`,
  );
}

for (let count = 0; count < 120; count++) await record(count);
await say("ready");
for (let count = 120; !stopping; count++) {
  await say(await record(count));
  await sleep(50);
}
await ledger.close().then(
  () => say("closed"),
  (error: Error) => say(`not closed: ${error.message}`),
);
