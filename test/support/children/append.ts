/**
 * A kernel that appends until its standard input ends: 16 events in flight, durable and buffered ones in turn. Prints
 * each sequence after it was acknowledged.
 */
import { startLedgerThread } from "../../../src/server/ledger/ledger-thread.ts";

const [stateDirectory = "", name = ""] = process.argv.slice(2);
const ledger = startLedgerThread({ stateDirectory, instanceId: `ins_${name}` }, { spool: false });
let stopping = false;
process.stdin.resume().on("end", () => {
  stopping = true;
});

async function work(worker: number): Promise<void> {
  for (let count = 0; !stopping && count < 20_000; count++) {
    const requestId = `${name}-${worker}-${count}`;
    const durability = count % 2 === 0 ? "durable" : "buffered";
    const event = {
      type: "tool_executed",
      sessionId: "ses_a",
      actor: name,
      requestId,
      timeMs: Date.now(),
      payload: { count },
    } as const;
    const sequence = await ledger.record(event, durability);
    await new Promise((resolve) => process.stdout.write(`acknowledged ${sequence} ${requestId}\n`, resolve));
  }
}

await Promise.all(Array.from({ length: 16 }, (_, worker) => work(worker)));
await ledger.close();
